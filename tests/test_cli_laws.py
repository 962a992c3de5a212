"""``cachecheck laws`` and ``cachecheck faults``: the lists, the pages, and what is refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

import pytest

from cachecheck.faults import FAULTS, KINDS, Fault
from cachecheck.laws import LAWS, Law
from cachecheck.members import CAPABILITIES
from cachecheck.reference.caches import CACHE_KINDS
from cachecheck.report.faults import symptom
from cachecheck.report.laws import law_page, needs
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import load_target
from cachecheck.verdict import Answer
from tests import test_cli
from tests.test_cli import Ran

cachecheck = test_cli.cachecheck  # the fixture: a command line, run in an empty folder
Run = Callable[..., Ran]

by_law = pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
by_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
ONE_A_HOST = list({fault.host: fault for fault in FAULTS.values()}.values())


def words(text: str) -> str:
    """``text`` on one line: pages are wrapped."""
    return " ".join(text.split())


def parts(page: str) -> dict[str, str]:
    """The entries of a page by their labels; the first paragraph under its own first word."""
    found: dict[str, str] = {}
    label = ""
    for line in page.splitlines()[1:]:
        if re.match(r"  \S", line):
            label, line = line[2:17].strip(), line[17:]  # noqa: PLW2901 - the label is taken off
        found[label] = words(f"{found.get(label, '')} {line}")
    return found


# The list.


def test_laws_are_listed_each_with_what_must_hold_and_how_to_see_more(cachecheck: Run) -> None:
    ran = cachecheck("laws")
    assert (ran.code, ran.err) == (0, "")
    listed = ran.out[: ran.out.index(f"\n{len(LAWS)} laws.")]
    said = {one.split()[0]: words(one) for one in re.split(r"\n(?=\S)", listed)}
    assert said == {law.id: words(f"{law.id} {law.statement}") for law in LAWS.values()}
    assert "cachecheck laws NAME" in ran.out
    assert "cachecheck laws --members" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 100


def test_members_are_listed_each_with_its_meaning(cachecheck: Run) -> None:
    ran = cachecheck("laws", "--members")
    assert ran.code == 0
    for one in CAPABILITIES.values():
        assert f"\n  {one.members}\n" in ran.out
        assert words(one.meaning) in words(ran.out)
    assert max(map(len, ran.out.splitlines())) <= 100


# A page on one law.


@by_law
def test_the_page_on_a_law_tells_all_that_is_known_of_it(law: Law, cachecheck: Run) -> None:
    ran = cachecheck("laws", law.id)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == law.id
    told = parts(ran.out)
    assert words(law.statement) in words(ran.out)
    assert told["why"] == words(law.reason)
    assert told["not claimed"] == words(law.not_claimed)
    assert told["needs"] == words(needs(law) or "nothing beyond the three functions")
    assert_reasons(told.get("what follows", ""), list(law.implies.items()))
    stronger = [(one.id, one.implies[law.id]) for one in LAWS.values() if law.id in one.implies]
    assert_reasons(told.get("follows from", ""), stronger)
    plain = [line for line in ran.out.splitlines() if " b=new" not in line]  # long schedules
    assert max(map(len, plain)) <= 100


def assert_reasons(told: str, expected: Sequence[tuple[str, str]]) -> None:
    """Every law with its reason, in order, and no other."""
    assert told == words(" ".join(f"{name}: {reason}" for name, reason in expected))


@by_law
def test_the_page_on_a_law_has_its_faults_with_their_schedules_and_reports(
    law: Law, cachecheck: Run
) -> None:
    told = parts(cachecheck("laws", law.id).out)
    named = [fault for fault in FAULTS.values() if fault.law == law.id]
    for fault in FAULTS.values():
        shown = f" {fault.smallest} {fault.id}" in re.sub(r"$", " ", told["faults"])
        assert shown == (fault in named), fault.id
    kinds = {fault.kind for fault in named}
    assert {name for name in KINDS if f"{name}, " in told.get("reports", "")} == kinds


def test_a_page_for_each_of_several_laws(cachecheck: Run) -> None:
    both = cachecheck("laws", "crop", "save").out
    assert both == cachecheck("laws", "crop").out + cachecheck("laws", "save").out


@by_law
def test_the_command_on_the_page_shows_the_law_broken(law: Law) -> None:
    if not law_page(law).faults:
        assert law.id == "padding"  # its faults are named for `batch`, from which it follows
        assert law_page(law).example == ""
        return
    program, command, target, *options = shlex.split(law_page(law).example)
    assert (program, command, target) == ("cachecheck", "fuzz", "reference")
    assert (options[0], options[2:]) == ("--fault", ["--law", law.id])
    broken = load_target(f"fault:{options[1]}")
    assert search(law, broken, Effort(examples=200))[0].answer is Answer.VIOLATED


# A page on one fault.


@pytest.mark.parametrize("fault", ONE_A_HOST, ids=[fault.id for fault in ONE_A_HOST])
def test_the_page_on_a_fault_tells_all_that_is_known_of_it(fault: Fault, cachecheck: Run) -> None:
    ran = cachecheck("faults", fault.id)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == fault.id
    told = parts(ran.out)
    kind = KINDS[fault.kind]
    assert told["symptom"] == words(symptom(fault))
    assert told["mechanism"].startswith(f"{fault.mechanism}, of reference:{fault.host}: ")
    assert words(CACHE_KINDS[fault.host]) in told["mechanism"]
    assert told["kind"] == words(f"{kind.id}: {kind.mistake}")
    assert all(report in told["reports"] for report in fault.reports)
    assert told["law"] == words(f"{fault.law}: {LAWS[fault.law].statement}")
    assert told["smallest"].split("   ")[0].startswith(fault.smallest)
    assert told["see it found"] == f"cachecheck fuzz reference --fault {fault.id}"
    for other in FAULTS.values():
        same = other.kind == fault.kind and other is not fault
        assert (other.id in re.split("[, ]+", told["of its kind"])) == same, other.id


def run_the_case(fault: Fault, cachecheck: Run) -> Ran:
    """The command of the page that tries the smallest schedule."""
    program, *arguments = shlex.split(parts(cachecheck("faults", fault.id).out)["this case"])
    assert program == "cachecheck"
    return cachecheck(*arguments)


@pytest.mark.parametrize("fault", ONE_A_HOST, ids=[fault.id for fault in ONE_A_HOST])
def test_the_smallest_case_on_the_page_fails(fault: Fault, cachecheck: Run) -> None:
    ran = run_the_case(fault, cachecheck)
    assert (ran.code, ran.out.split()[:2]) == (1, ["VIOLATED", fault.law])


@pytest.mark.slow
@by_fault
def test_the_smallest_case_of_every_fault_fails(fault: Fault, cachecheck: Run) -> None:
    ran = run_the_case(fault, cachecheck)
    assert (ran.code, ran.out.split()[:2]) == (1, ["VIOLATED", fault.law])


def test_the_decoder_without_the_fault_keeps_the_law(cachecheck: Run) -> None:
    fault = ONE_A_HOST[0]
    command = parts(cachecheck("faults", fault.id).out)["the right one"]
    ran = cachecheck(*shlex.split(command)[1:], "--examples", "10")
    assert (ran.code, fault.law in ran.out) == (0, True)


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("laws", "shedule"), "unknown law 'shedule'; did you mean schedule?"),
        (("laws", "crop", "reoder"), "did you mean reorder?"),
        (("laws", "zebra"), "unknown law 'zebra' (cachecheck laws lists them)"),
        (("laws", "crop", "--members"), "give it without names of laws"),
        (("faults", "copying-mask-mising"), "did you mean copying-mask-missing"),
        (("faults", "--law", "shedule"), "did you mean schedule?"),
        (("faults", "--host", "pagged"), "did you mean paged?"),
        (("faults", "--host", "zebra"), "expected one of copying, "),
        (("faults", "--kinds", "--law", "crop"), "each lists something else"),
        (("faults", "copying-blind", "--host", "paged"), "each lists something else"),
    ],
)
def test_what_is_unknown_or_contradicts_itself_gets_one_line(
    arguments: tuple[str, ...], said: str, cachecheck: Run
) -> None:
    ran = cachecheck(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("cachecheck: ")
    assert said in ran.err


def test_a_law_that_no_fault_names_lists_none(cachecheck: Run) -> None:
    ran = cachecheck("faults", "--law", "padding")
    assert (ran.code, ran.out.split()[:3]) == (2, ["0", "of", str(len(FAULTS))])
