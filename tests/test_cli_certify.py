"""``cachecheck certify``: what is printed, and the exit codes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck.certify import certify
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference import reference
from cachecheck.verdict import Answer
from tests import test_cli
from tests.decoders_for_tests import Listing, Sums
from tests.test_cli import TESTS, Ran

cachecheck = test_cli.cachecheck  # the fixture: a command line, run in an empty folder
Run = Callable[..., Ran]

OPERATIONS = [law.id for law in LAWS.values() if law.operations]


def factory(expression: str) -> str:
    """The target of a file whose ``make(seed)`` gives this."""
    Path("mine.py").write_text(f"from {TESTS} import *\ndef make(seed): return {expression}\n")
    return "mine.py:make"


def words(ran: Ran) -> str:
    """What was printed, on one line."""
    return " ".join(ran.out.split())


# Properties.


@settings(max_examples=6)
@given(length=st.integers(1, 8), seed=st.integers(0, 1000))
def test_a_right_decoder_holds_on_all_partitions_of_any_sequence(length: int, seed: int) -> None:
    for decoder in (Sums(seed), Listing(seed)):
        found = certify(Guarded(decoder), length, seed=seed)
        assert (found.answer, found.covered) == (Answer.HOLDS, 2 ** (length - 1))


def test_8388608_partitions_of_the_reference_are_certified_with_few_calls() -> None:
    """In under a second on an idle machine: benchmarks/certifying.py has the time."""
    found = certify(Guarded(reference(0)), 24)
    assert (found.answer, found.covered) == (Answer.HOLDS, 8_388_608)
    assert 24 * 25 // 2 <= found.calls < 1500


# The five answers.


def test_what_holds_is_printed_with_what_it_covers_and_proves(cachecheck: Run) -> None:
    ran = cachecheck("certify", "reference", "--length", "24")
    assert (ran.code, ran.err) == (0, "")
    first, covered, difference, calls, proves, *_ = ran.out.splitlines()
    assert first == "HOLDS  schedule   reference   seed 0"
    assert covered == (
        "  covered             8,388,608 partitions, by induction over transitions between states"
    )
    assert re.fullmatch(
        r"  largest difference  \d\.\de-1\d, a token a call \d\.\de-1\d", difference
    )
    assert re.fullmatch(r"  decoder calls       [\d,]+ in \d+\.\d\d s", calls)
    assert proves.startswith("  proves              Each of the 300 calls from the state after i")
    assert "It is assumed that state(cache) shows all that extend depends on." in words(ran)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("method", ["tree", "induction", None])
def test_a_violation_is_printed_with_the_smallest_schedule(
    cachecheck: Run, method: str | None
) -> None:
    Path("mine.py").write_text(
        f"from {TESTS} import *\n"
        "class Forgets(Listing):\n"
        "    def extend(self, tokens, cache):\n"
        "        rows, after = super().extend(tokens, cache)\n"
        "        return rows + (len(cache) > 1 and len(tokens) > 2), after\n"
        "make = Forgets\n"
    )
    ran = cachecheck(
        *("certify", "mine.py:make", "--length", "9", "--seed", "3"),
        *(("--method", method) if method else ()),
    )
    assert (ran.code, ran.err) == (1, "")
    first, smallest, wrong, what, calls, proves, *_ = ran.out.splitlines()
    assert first == "VIOLATED  schedule   mine.py:make   seed 3"
    assert re.fullmatch(r"  smallest schedule   2\+3   tokens \[\d, \d, \d, \d, \d\]", smallest)
    assert re.fullmatch(
        r"  first wrong row     position 2   \|difference\| 1.0e\+00   tolerance \d.\de-1\d", wrong
    )
    assert what == (
        "  what                decoding in these chunks gives other rows than one full pass"
    )
    assert calls.startswith("  decoder calls       ")
    assert proves.startswith("  proves              ")
    assert "no schedule of fewer tokens fails, and none of as many tokens in" in words(ran).lower()


@pytest.mark.parametrize("options", [(), ("--law", "branch", "--steps", "3")])
def test_doubtful_differences_are_inconclusive(cachecheck: Run, options: tuple[str, ...]) -> None:
    ran = cachecheck("certify", f"{TESTS}:Doubtful", "--length", "4", *options)
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.startswith(f"INCONCLUSIVE  {options[1] if options else 'schedule'}   {TESTS}:Do")
    assert "  largest difference  1.0e-06\n" in ran.out
    assert "  because             rows differ by about 1.0e-06 in " in ran.out
    assert words(ran).endswith("else float64, which makes this a violation")


def test_what_is_not_offered_or_refused_is_unsupported(cachecheck: Run) -> None:
    lacking = cachecheck("certify", f"{TESTS}:Sums", "--length", "3", "--law", "crop")
    assert (lacking.code, lacking.err) == (2, "")
    assert lacking.out == "UNSUPPORTED  crop   not offered: crop(cache, length)\n"
    Path("mine.py").write_text(
        f"from {TESTS} import *\n"
        "class Refuses(Sums):\n"
        "    def extend(self, tokens, cache):\n"
        "        if cache[1] > 2: raise NotImplementedError('no room')\n"
        "        return super().extend(tokens, cache)\n"
    )
    refused = cachecheck("certify", "mine.py:Refuses", "--length", "6")
    assert (refused.code, refused.err) == (2, "")
    assert refused.out == "UNSUPPORTED  schedule   extend refused: no room\n"


def test_a_decoder_that_raises_is_an_error(cachecheck: Run) -> None:
    ran = cachecheck("certify", f"{TESTS}:RaisesOnThird", "--length", "5")
    assert (ran.code, ran.err) == (2, "")
    assert re.fullmatch(
        r"ERROR  schedule   extend\(\d tokens?, cache\) raised RuntimeError: out of memory at 3 "
        r"tokens \(decoders_for_tests.py:\d+\)\n",
        ran.out,
    )
    named = cachecheck(
        "certify", f"{TESTS}:RaisesOnThird", "--length", "3", "--law", "branch", "--steps", "2"
    )
    assert (named.code, named.err, named.out.count("\n")) == (2, "", 1)
    assert named.out.startswith("ERROR  branch   on ")


def test_a_decoder_that_is_none_is_refused_in_one_line(cachecheck: Run) -> None:
    ran = cachecheck("certify", f"{TESTS}:Nobody", "--length", "5")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"cachecheck: {TESTS} has no 'Nobody'")


# Programs.


@pytest.mark.parametrize("law", OPERATIONS)
def test_every_law_with_operations_is_certified_by_running_its_programs(
    cachecheck: Run, law: str
) -> None:
    steps = "2" if law == "programs" else "3"
    ran = cachecheck(
        *("certify", f"{TESTS}:Listing", "--length", "2", "--steps", steps, "--law", law)
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"HOLDS  {law}   {TESTS}:Listing   seed 0\n")
    covered = re.search(r"^  covered +([\d,]+) programs, by enumeration$", ran.out, re.MULTILINE)
    assert covered is not None
    assert f" proves Each of the {covered[1]} programs of " in words(ran)


BROKEN = {
    "crop": ("Listing(seed, crop=lambda cache, n: Held(cache[:n + 1]))", "2 crop1 1"),
    "branch": ("ListingInPlace(seed, fork=lambda cache: cache)", "b=a 1 b:1"),
    "save": ("Listing(seed, save=lambda cache: bytes(cache[1:]))", "1 save 1"),
    "reset": ("Listing(seed, reset=lambda cache: cache)", "1 reset 1"),
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_broken_operation_is_printed_with_the_smallest_program(cachecheck: Run, law: str) -> None:
    expression, smallest = BROKEN[law]
    ran = cachecheck("certify", factory(expression), "--length", "3", "--law", law)
    assert (ran.code, ran.err) == (1, "")
    assert f"\n  smallest schedule   {smallest}   tokens [1, 2" in ran.out
    assert re.search(r" proves None of the \d+ smaller programs fails\.", words(ran))


def test_the_number_of_steps_is_five_unless_said_otherwise(cachecheck: Run) -> None:
    for options, steps in (((), 5), (("--steps", "3"), 3)):
        ran = cachecheck("certify", f"{TESTS}:Sums", "--length", "1", "--law", "branch", *options)
        assert f"with at most 1 tokens and {steps} steps was run." in words(ran)


# A command line that cannot run, and the one line on the error stream.
REFUSED: dict[str, tuple[str, str, str]] = {
    "too long for a tree": (
        "Sums(seed)",
        "--length 24",
        "a prefix tree over 24 tokens takes 16,777,215 calls: give --length 16 or less",
    ),
    "no state": (
        "Sums(seed)",
        "--length 5 --method induction",
        "no induction: no state(cache) is offered; leave out --method, or give tree",
    ),
    "tree too long": ("Listing(seed)", "--length 17 --method tree", "give --length 16 or less"),
    "no room": ("Listing(seed, max_length=5)", "--length 6", "length must be 1 to 5; got 6"),
    "unknown law": (
        "Sums(seed)",
        "--length 5 --law gravity",
        "unknown law 'gravity'; known: causality, prefix,",
    ),
    "a law of calls": (
        "Sums(seed)",
        "--length 5 --law prefix",
        "prefix is about calls alone; give --law schedule",
    ),
    "method of programs": (
        "Sums(seed)",
        "--length 3 --law branch --method tree",
        "--method is for partitions; programs are enumerated",
    ),
    "method": ("Sums(seed)", "--length 3 --method magic", "invalid choice: 'magic'"),
    "no length": ("Sums(seed)", "", "the following arguments are required: --length"),
    "no tokens": ("Sums(seed)", "--length 0", "--length: expected an integer >= 1, got '0'"),
    "no steps": ("Sums(seed)", "--length 3 --steps 0", "--steps: expected an integer >= 1, got"),
    "seed": ("Sums(seed)", "--length 3 --seed -1", "--seed: expected an integer >= 0, got '-1'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_certified_is_refused_in_one_line(cachecheck: Run, name: str) -> None:
    expression, options, part = REFUSED[name]
    ran = cachecheck("certify", factory(expression), *options.split())
    assert (ran.code, ran.out) == (2, "")
    *usage, last = ran.err.splitlines()
    assert last.startswith(("cachecheck: ", "cachecheck certify: error: "))
    assert part in last
    assert usage == [] or usage[0].startswith("usage: ")  # argparse says how it is called
