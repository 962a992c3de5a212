"""``cachecheck shrink``: a failing schedule that somebody has becomes the smallest one there is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cachecheck.certify import certify
from cachecheck.cli import main
from cachecheck.commands.shrink import Reduction, Request
from cachecheck.laws import LAWS
from cachecheck.reference import WRONG_MASKS
from cachecheck.schedule import Case, Schedule
from cachecheck.shrink import size_of
from cachecheck.target import load_target
from cachecheck.verdict import Answer
from tests import test_cli
from tests.decoders_for_tests import CtrlC
from tests.test_cli import TESTS, Ran

pytestmark = pytest.mark.slow

cachecheck = test_cli.cachecheck  # the fixture: a command line, run in an empty folder
Run = Callable[..., Ran]

MASKS = """\
from cachecheck.reference import WRONG_MASKS, Config, ReferenceDecoder

WINDOWED = Config(positions="rotary", window=4, sinks=1)  # with a sink no row is ever blind

def of(name, config):
    return lambda seed: ReferenceDecoder(config, seed=seed, mask_rule=WRONG_MASKS[name].rule)

for name in WRONG_MASKS:
    globals()[name.replace("-", "_")] = of(name, Config())
    globals()["windowed_" + name.replace("-", "_")] = of(name, WINDOWED)
"""


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A file with a factory for each wrong mask, named as in ``FILE:query_restart``."""
    path = tmp_path_factory.mktemp("masks") / "masks.py"
    path.write_text(MASKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", sys.path.copy())
        yield str(path)


def factory(lines: str) -> str:
    """The target of a file with these lines in the function ``make(seed)``."""
    Path("mine.py").write_text(f"from {TESTS} import *\n\ndef make(seed):\n{lines}\n")
    return "mine.py:make"


def shrunk(out: str) -> tuple[int, int, int]:
    """Tokens and steps at the start, and decoder calls, as printed."""
    line = re.search(
        r"^  shrunk +from ([\d,]+) tokens in ([\d,]+) steps: ([\d,]+) decoder calls, [\d.]+ s$",
        out,
        re.MULTILINE,
    )
    assert line is not None, out
    tokens, steps, calls = (int(number.replace(",", "")) for number in line.groups())
    return tokens, steps, calls


# Properties.

CHUNKS = st.lists(st.integers(1, 60), min_size=1, max_size=24).filter(lambda c: sum(c) <= 300)


@pytest.mark.parametrize("mask", [*WRONG_MASKS])
@settings(max_examples=2)
@example(chunks=[1] * 40, seed=1)
@example(chunks=[97, 1, 3, 150, 49], seed=2)
@given(chunks=CHUNKS, seed=st.integers(0, 1000))
def test_any_failing_schedule_of_a_wrong_mask_becomes_the_smallest_there_is(
    masks: str, mask: str, chunks: list[int], seed: int
) -> None:
    windowed = "windowed_" if mask == "window-from-last-row" else ""
    target = f"{masks}:{windowed}{mask.replace('-', '_')}"
    given_case = Schedule.of(chunks)
    reduction = Reduction(Request(target, str(given_case), token_seed=seed))
    begun = reduction.case
    kind = LAWS["schedule"].try_on(reduction.decoder, begun).violation
    verdict = reduction.run()
    if kind is None:
        assert (verdict.answer, verdict.violation) == (Answer.HOLDS, None)
        assert reduction.case == begun
        return
    assert (verdict.answer, verdict.law) == (Answer.VIOLATED, "schedule")
    assert verdict.schedule is not None
    assert verdict.tokens is not None
    case = Case(verdict.tokens, Schedule.parse(verdict.schedule))
    again = LAWS["schedule"].try_on(load_target(target).make(0), case).violation
    assert again is not None
    assert again == verdict.violation
    assert again.kind == kind.kind
    assert size_of(case) <= size_of(begun)
    assert verdict.schedule == certify(load_target(target).make(0), 8).schedule


PROGRAMS = {
    "a fork that is the same": ("branch", "return ListingInPlace(seed, fork=lambda c: c)"),
    "a rollback too short": ("crop", "return Listing(seed, crop=lambda c, n: Held(c[:n + 1]))"),
    "a saved token lost": ("save", "return Listing(seed, save=lambda c: bytes(c[1:]))"),
    "a reset that does nothing": ("reset", "return Listing(seed, reset=lambda c: c)"),
}
LONG_PROGRAMS = [
    ("a fork that is the same", "30 b=a 7 b:20+9 11", "b=a 1 b:1"),
    ("a fork that is the same", "9+9 b=a c=b c:20 b:1 16+1 a:3", "b=a 1 b:1"),
    ("a rollback too short", "64+32+16 crop70 24+8", "2 crop1 1"),
    ("a rollback too short", "5 crop2 3 crop1 90", "2 crop1 1"),
    ("a saved token lost", "50+50 save 40 save 3", "1 save 1"),
    ("a reset that does nothing", "90 reset 30+30 reset 7", "1 reset 1"),
]


@pytest.mark.parametrize(("fault", "schedule", "smallest"), LONG_PROGRAMS)
def test_a_long_program_becomes_what_the_enumeration_would_find_first(
    cachecheck: Run, fault: str, schedule: str, smallest: str
) -> None:
    law, lines = PROGRAMS[fault]
    ran = cachecheck("shrink", factory(f"    {lines}"), schedule, "--law", law)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith(f"VIOLATED  {law}   mine.py:make   seed 0\n")
    assert f"  smallest schedule   {smallest} " in ran.out
    parsed = Schedule.parse(schedule)
    assert shrunk(ran.out)[:2] == (parsed.length, len(parsed.steps))
    length = Schedule.parse(smallest).length
    certified = cachecheck("certify", "mine.py:make", "--length", str(length), "--law", law)
    assert f"  smallest schedule   {smallest}   tokens" in certified.out


def test_a_smaller_case_that_fails_in_another_way_does_not_count(cachecheck: Run) -> None:
    """A single token breaks the decoder's own invariants; the rows are wrong from three tokens."""
    target = factory(
        "    class Two(ListingInPlace):\n"
        "        def extend(self, tokens, cache):\n"
        "            wrong = len(cache) >= 3\n"
        "            rows, after = super().extend(tokens, cache)\n"
        "            return rows + wrong, after\n"
        "        def check_invariants(self, caches):\n"
        "            assert all(len(cache) != 1 for cache in caches), 'one'\n"
        "    return Two(seed)"
    )
    rows = cachecheck("shrink", target, "8+7+5", "--law", "programs")
    assert (rows.code, rows.err) == (1, "")
    assert "  smallest schedule   3+1 " in rows.out
    assert "  what                after these steps a branch gives other rows" in rows.out
    invariants = cachecheck("shrink", target, "1+7+5", "--law", "programs")
    assert "  smallest schedule   1 " in invariants.out
    assert "check_invariants fails after this step: one\n" in invariants.out


# The case from a server's log.


def test_a_thousand_tokens_in_many_uneven_calls_become_1_plus_1_in_few_calls(
    cachecheck: Run, masks: str
) -> None:
    """benchmarks/certifying.py has 4,096, for which a full pass alone takes a second."""
    chunks = [128, 1, 127, 3, 61, 64, 32, 32, 64, 128, 7, 121, 64, 64, 64, 63, 1]
    assert (sum(chunks), len(chunks)) == (1024, 17)
    ran = cachecheck("shrink", f"{masks}:query_restart", "+".join(map(str, chunks)))
    assert (ran.code, ran.err) == (1, "")
    assert "  smallest schedule   1+1            2 tokens [0, 0]\n" in ran.out
    tokens, steps, calls = shrunk(ran.out)
    assert (tokens, steps) == (1024, 17)
    assert calls < 200
    (stored,) = Path("evidence/regressions").iterdir()
    named = f"evidence/regressions/{stored.name} --target {masks}:query_restart"
    assert f"  replay              cachecheck replay {named}\n" in ran.out
    replayed = cachecheck("replay", *named.split())
    assert replayed.code == 1
    assert replayed.out.startswith(f"FAILED  schedule on {masks}:query_restart, schedule 1+1: ")


LATE = {
    "calls": "+".join([*["1"] * 300, "100"]),
    "forks": " ".join([*["7"] * 40, "b=a", *["b:3"] * 20, "b:90"]),
    "rollbacks": " ".join(["1+1+1 crop1"] * 40 + ["60"]),
}


@pytest.mark.parametrize("name", LATE)
def test_what_goes_wrong_after_many_calls_takes_few_tries_as_well(
    cachecheck: Run, name: str
) -> None:
    """Right for hundreds of calls of a token, wrong in the last one."""
    target = factory(
        "    class Late(Listing):\n"
        "        def extend(self, tokens, cache):\n"
        "            rows, after = super().extend(tokens, cache)\n"
        "            return rows + (len(cache) > 0 and len(tokens) > 7), after\n"
        "    return Late(seed)"
    )
    ran = cachecheck("shrink", target, LATE[name])
    assert (ran.code, ran.err) == (1, "")
    assert "  smallest schedule   1+8 " in ran.out
    assert shrunk(ran.out)[2] < 10_000  # each try of the whole makes hundreds


# Exit codes and what is said with them.


def test_what_holds_is_said_to_hold_and_not_shrunk(cachecheck: Run) -> None:
    ran = cachecheck("shrink", f"{TESTS}:Sums", "5+3+1")
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(
        r"HOLDS  schedule holds on this case: nothing to shrink; \d+ decoder calls\n", ran.out
    )
    assert list(Path().iterdir()) == []


def test_programs_in_notation_are_tried_on_the_law_of_programs(cachecheck: Run) -> None:
    holds = cachecheck("shrink", f"{TESTS}:Sums", "5 b=a b:3 2")
    assert (holds.code, holds.err) == (0, "")
    assert holds.out.startswith("HOLDS  programs holds on this case")
    broken = cachecheck("shrink", f"{TESTS}:ForgetsOffset", "5 b=a b:3 2")
    assert (broken.code, broken.err) == (1, "")
    assert broken.out.startswith("VIOLATED  programs   ")
    assert "  smallest schedule   1+2            3 tokens [0, 0, 0]\n" in broken.out
    assert shrunk(broken.out)[:2] == (10, 4)


def test_a_difference_that_may_be_rounding_is_inconclusive_and_stored_nowhere(
    cachecheck: Run,
) -> None:
    ran = cachecheck("shrink", f"{TESTS}:Doubtful", "4+4")
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.startswith("INCONCLUSIVE  schedule   ")
    assert not Path("evidence").exists()


def test_a_decoder_that_raises_is_an_error(cachecheck: Run) -> None:
    ran = cachecheck("shrink", f"{TESTS}:RaisesOnThird", "5+3")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith("ERROR  schedule   extend(5 tokens, cache) raised RuntimeError: out")
    assert ran.out.count("\n") == 1


def test_a_decoder_that_refuses_is_unsupported(cachecheck: Run) -> None:
    target = factory(
        "    def refuse(*_):\n        raise NotImplementedError('evicted')\n"
        "    return Listing(seed, crop=refuse)"
    )
    refused = cachecheck("shrink", target, "5 crop3 2", "--law", "crop")
    assert (refused.code, refused.err) == (2, "")
    assert refused.out == "UNSUPPORTED  crop   crop refused: evicted\n"
    lacking = cachecheck("shrink", f"{TESTS}:Sums", "5 crop3 2", "--law", "crop")
    assert (lacking.code, lacking.out.count("\n")) == (2, 1)
    assert lacking.out.startswith("UNSUPPORTED  crop   not offered: crop(cache, length)")


def test_a_program_that_is_refused_half_way_is_not_said_to_hold(cachecheck: Run) -> None:
    target = factory(
        "    def refuse(*_):\n        raise NotImplementedError('evicted')\n"
        "    return Listing(seed, crop=refuse)"
    )
    ran = cachecheck("shrink", target, "5 crop3 2")
    assert "crop refused: evicted" in ran.out
    assert ran.code == 2


def test_smaller_cases_that_raise_or_refuse_do_not_end_the_shrinking(cachecheck: Run) -> None:
    target = factory(
        "    class Picky(Sums):\n"
        "        def extend(self, tokens, cache):\n"
        "            rows, after = super().extend(tokens, cache)\n"
        "            if cache[1] == 0 and len(tokens) == 2: raise ValueError('not two')\n"
        "            if cache[1] == 0 and len(tokens) == 3: raise NotImplementedError('no')\n"
        "            return rows + (cache[1] > 1 and len(tokens) > 1), after\n"
        "    return Picky(seed)"
    )
    ran = cachecheck("shrink", target, "9+9")
    assert (ran.code, ran.err) == (1, "")
    assert "  smallest schedule   4+2 " in ran.out or "  smallest schedule   1+1+2 " in ran.out


def test_a_call_that_hangs_is_said_to_hang(cachecheck: Run) -> None:
    ran = cachecheck("shrink", f"{TESTS}:Loops", "3+5", "--call-timeout", "0.3s")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith(
        "ERROR  schedule   extend(5 tokens, cache) did not return within 0.3 s: the decoder hangs"
    )


def test_a_law_that_must_show_on_some_case_is_judged_as_replay_judges_it(cachecheck: Run) -> None:
    """`sensitivity` wants rows to move; where they do not, nothing "holds on this case"."""
    options = ("3+2", "--law", "sensitivity", "--tokens", "0,1,2,3,4")
    ran = cachecheck("shrink", f"{TESTS}:Unmoved", *options)
    case = {"schedule": "3+2", "tokens": [0, 1, 2, 3, 4], "law": "sensitivity"}
    stored = {"format": 1, "target": f"{TESTS}:Unmoved", "decoder_seed": 0, **case}
    Path("stored.json").write_text(json.dumps(stored))
    assert cachecheck("replay", "stored.json").code == 1
    assert "HOLDS" not in ran.out
    assert ran.code == 1


# Tokens.

GIVEN = {
    "commas": "1,2,3",
    "commas and blanks": " 1, 2 , 3",
    "a file with commas": "1,2,3\n",
    "a file with blanks": "1 2\n3\n",
    "a file with a JSON list": "[1, 2, 3]\n",
}


@pytest.mark.parametrize("form", GIVEN)
def test_tokens_are_taken_as_given_and_a_file_does_as_well(cachecheck: Run, form: str) -> None:
    target = factory(
        "    class Wants(Sums):\n"
        "        def extend(self, tokens, cache):\n"
        "            rows, after = super().extend(tokens, cache)\n"
        "            return rows + (tokens.tolist() == [2, 3]), after\n"
        "    return Wants(seed)"
    )
    tokens = GIVEN[form]
    if "file" in form:
        Path("ids").write_text(tokens)
        tokens = "ids"
    ran = cachecheck("shrink", target, "1+2", "--tokens", tokens)
    assert (ran.code, ran.err) == (1, "")
    assert "  smallest schedule   2              2 tokens [2, 3]\n" in ran.out
    other = cachecheck("shrink", target, "1+2", "--tokens", "1,3,2")
    assert other.code == 0


def test_the_token_seed_draws_the_tokens_and_the_seed_the_decoder(cachecheck: Run) -> None:
    target = factory(
        "    class Wants(Sums):\n"
        "        def extend(self, tokens, cache):\n"
        "            with open('seen', 'a') as seen: print(seed, tokens.tolist(), file=seen)\n"
        "            return super().extend(tokens, cache)\n"
        "    return Wants(seed)"
    )
    seen = []
    for options in ((), ("--token-seed", "0"), ("--token-seed", "1"), ("--seed", "7")):
        assert cachecheck("shrink", target, "6", *options).code == 0
        calls = [line.split(" ", 1) for line in Path("seen").read_text().splitlines()]
        # The first call of six tokens is the case's; later ones look at the decoder by itself.
        seed, tokens = next(one for one in calls if len(json.loads(one[1])) == 6)
        seen.append((int(seed), tuple(json.loads(tokens))))
        Path("seen").unlink()
    assert seen[0] == seen[1]
    assert seen[0][1] != seen[2][1]
    assert [seed for seed, _ in seen] == [0, 0, 0, 7]
    assert seen[3][1] == seen[0][1]


# A command line that cannot run, and the one line on the error stream.
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "too few tokens": (("2+2", "--tokens", "1,2,3"), "the schedule 2+2 is for 4 tokens; got 3"),
    "too many tokens": (("1+1", "--tokens", "1,2,3"), "the schedule 1+1 is for 2 tokens; got 3"),
    "vocabulary": (("1+1", "--tokens", "1,8"), "token 8 is outside the vocabulary of 8"),
    "no number": (("1+1", "--tokens", "1,x"), "numbers joined by commas, or a file of them; got"),
    "no tokens": (("1+1", "--tokens", ""), "tokens"),
    "empty file": (("1+1", "--tokens", "empty"), "empty: expected token IDs >= 0, separated by"),
    "negative": (("1+1", "--tokens", "negative"), "negative: expected token IDs >= 0, separated"),
    "a fraction": (("1+1", "--tokens", "fraction"), "fraction: expected token IDs >= 0"),
    "a folder": (("1+1", "--tokens", "."), "numbers joined by commas, or a file of them; got '.'"),
    "law": (("1+1", "--law", "gravity"), "unknown law 'gravity'; known: causality, prefix,"),
    "plain law": (("5 b=a b:3", "--law", "schedule"), "schedule is about calls on one branch; the"),
    "one call": (("5", "--law", "sensitivity"), "sensitivity needs 2 calls or more; got 5"),
    "nonsense": (("five",), "'five' is not a step of a schedule; expected something like 5+3"),
    "no size": (("5+0",), "'5+0' is not a step of a schedule"),
    "nothing": (("",), "a schedule needs at least one call with tokens"),
    "no such branch": (("5 b:3",), "step 2 of '5 b:3': branch b does not exist; live branches: a"),
    "rolled back too far": (("5 crop9 3",), "step 2 of '5 crop9 3': branch a holds 5 tokens; got"),
    "too long": (("3+3",), "the schedule comes to 6 tokens; max_length is 5"),
    "target": (("1+1",), "no file gone.py; a file target is path/file.py:factory"),
    "both tokens": (("1+1", "--tokens", "1,2", "--token-seed", "1"), "not allowed with argument"),
    "seed": (("1+1", "--seed", "-1"), "argument --seed: expected an integer >= 0, got '-1'"),
    "timeout": (("1+1", "--call-timeout", "soon"), "expected a time like 90s, 10m or 1h"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_tried_is_refused_in_one_line(cachecheck: Run, name: str) -> None:
    for file, text in (("empty", "\n"), ("negative", "1 -1"), ("fraction", "1 1.5")):
        Path(file).write_text(text)
    target = "gone.py:make" if name == "target" else factory("    return Listing(max_length=5)")
    options, part = REFUSED[name]
    ran = cachecheck("shrink", target, *options)
    assert (ran.code, ran.out) == (2, "")
    *usage, last = ran.err.splitlines()
    assert last.startswith(("cachecheck: ", "cachecheck shrink: error: "))
    assert part in last
    assert usage == [] or usage[0].startswith("usage: ")  # argparse says how it is called
    assert not Path("evidence").exists()


# Files and Ctrl-C.


def test_the_small_case_is_stored_where_asked_and_replays_until_it_is_mended(
    cachecheck: Run,
) -> None:
    target = factory("    return ForgetsOffset(seed)")
    assert cachecheck("shrink", target, "7+9+4", "--save", "my/cases").code == 1
    assert not Path("evidence").exists()
    (stored,) = Path("my/cases").iterdir()
    content = json.loads(stored.read_text())
    assert (content["target"], content["law"], content["schedule"]) == (target, "schedule", "1+2")
    failed = cachecheck("replay", str(stored))
    assert (failed.code, failed.out.split()[0]) == (1, "FAILED")
    factory("    return Sums(seed)")
    fixed = cachecheck("replay", str(stored))
    assert (fixed.code, fixed.out.split()[0]) == (0, "FIXED")


def calls_of(*arguments: str) -> int:
    """Calls of extend in a command that nobody interrupts."""
    CtrlC.calls, CtrlC.stop = 0, 0
    assert main(["shrink", f"{TESTS}:CtrlC", *arguments]) == 1
    return CtrlC.calls


def test_ctrl_c_at_any_call_prints_the_smallest_case_so_far(cachecheck: Run) -> None:
    first = 2 + 2  # two calls of the probe, and those of the schedule
    total = calls_of("9+9")
    assert total > first + 5
    loads = []
    for stop in [*range(1, first + 3), *range(first + 3, total, 4), total]:
        CtrlC.calls, CtrlC.stop = 0, stop
        ran = cachecheck("shrink", f"{TESTS}:CtrlC", "9+9", "--save", f"cases{stop}")
        assert ran.code == 130
        assert "Traceback" not in ran.out + ran.err
        if stop <= first:
            assert ran.err == "cachecheck: interrupted\n"
            assert not Path(f"cases{stop}").exists()
            continue
        assert ran.err == ""
        assert "  interrupted: a smaller schedule may exist\n" in ran.out
        (stored,) = Path(f"cases{stop}").iterdir()
        schedule = json.loads(stored.read_text())["schedule"]
        assert f"  schedule            {schedule} " in ran.out  # there may be smaller ones
        loads.append(Schedule.parse(schedule).length)
    assert loads == sorted(loads, reverse=True)
    assert (loads[0], loads[-1]) == (18, 3)
