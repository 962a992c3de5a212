"""Verdicts as data, and as text: what a user reads, word for word."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cachecheck.errors import InputError
from cachecheck.files import Stored
from cachecheck.report.failure import failure_block, number
from cachecheck.report.renderers import renderer_for, suffixes
from cachecheck.report.summary import summarised
from cachecheck.report.terminal import conclusion_lines, law_table, print_report
from cachecheck.verdict import Answer, Code, Reason, Verdict, Violation, exit_code
from cachecheck.verdict.sentences import sentence


def raised(words: str) -> Reason:
    """What a decoder raised."""
    return Reason(Code.RAISED, quoted=words)


ROWS = Violation(
    law="schedule",
    kind="rows",
    position=1,
    difference=0.5912,
    tolerance=1e-12,
    message="decoding in these chunks gives other rows than one full pass",
    call=2,
    row=0,
)
VIOLATED = Verdict(
    law="schedule",
    answer=Answer.VIOLATED,
    examples=4,
    seconds=0.4806,
    largest_difference=0.5912,
    tolerance=1e-12,
    schedule="1+1",
    tokens=(0, 7),
    decoder_seed=3,
    violation=ROWS,
    shrunk=True,
    covered=(("1|2-7|none", 2),),
)
ERROR = Verdict(
    law="frame",
    answer=Answer.ERROR,
    examples=20,
    seconds=1.25,
    schedule="5",
    tokens=(0,),
    decoder_seed=0,
    reasons=(raised("full(5 tokens) returned nan in row 4, column 0; rows must be finite"),),
    shrunk=True,
)
HOLDS = Verdict("prefix", Answer.HOLDS, 200, 0.04, 0.0, 1.3e-12)
FAINT = (Reason(Code.TOO_FAINT, value=2e-14, bound=3e-12),)
INCONCLUSIVE = Verdict("sensitivity", Answer.INCONCLUSIVE, 200, 12.0, 2e-14, 3e-12, reasons=FAINT)
UNSUPPORTED = Verdict(
    "causality", Answer.UNSUPPORTED, reasons=(Reason(Code.REFUSED, quoted="full refused: no"),)
)
NOT_OFFERED = Verdict(
    "crop", Answer.UNSUPPORTED, reasons=(Reason(Code.NOT_OFFERED, quoted="crop(cache, length)"),)
)
ALL = (HOLDS, VIOLATED, INCONCLUSIVE, UNSUPPORTED, ERROR)

COMBINATIONS = [some for size in range(1, 6) for some in combinations(ALL, size)]


def code_by_hand(answers: set[Answer]) -> int:
    """The README's table."""
    if Answer.VIOLATED in answers:
        return 1
    if Answer.ERROR in answers or answers <= {Answer.UNSUPPORTED}:
        return 2
    return 3 if Answer.INCONCLUSIVE in answers else 0


@pytest.mark.parametrize("verdicts", [(), *COMBINATIONS])
def test_the_exit_code_follows_from_the_answers(verdicts: tuple[Verdict, ...]) -> None:
    answers = {verdict.answer for verdict in verdicts}
    assert exit_code(list(verdicts)) == code_by_hand(answers)
    assert exit_code(list(reversed(verdicts)) * 2) == code_by_hand(answers)


STORED = Stored("verdict", 1, Verdict)


@pytest.mark.parametrize("verdict", ALL)
def test_a_verdict_survives_the_trip_from_a_worker(verdict: Verdict) -> None:
    back = STORED.decode(STORED.encode(verdict), "it")
    assert back == verdict
    assert hash(back) == hash(verdict)


@pytest.mark.parametrize("verdict", ALL)
def test_json_has_these_keys_and_no_others(verdict: Verdict) -> None:
    assert set(json.loads(json.dumps(verdict.to_json(), allow_nan=False))) == {
        "law",
        "verdict",
        "examples",
        "seconds",
        "largest_difference",
        "tolerance",
        "schedule",
        "tokens",
        "decoder_seed",
        "covered",
        "margin",
        "first_wrong_position",
        "violation",
        "reasons",
        "shrunk",
        "repeatable",
        "known_before",
        "message",
    }


def test_json_of_a_violation() -> None:
    assert VIOLATED.to_json() == {
        "law": "schedule",
        "verdict": "VIOLATED",
        "examples": 4,
        "seconds": 0.481,
        "largest_difference": 0.5912,
        "tolerance": 1e-12,
        "schedule": "1+1",
        "tokens": [0, 7],
        "decoder_seed": 3,
        "covered": {"1|2-7|none": 2},
        "margin": None,
        "first_wrong_position": 1,
        "violation": {
            "law": "schedule",
            "kind": "rows",
            "position": 1,
            "difference": 0.5912,
            "tolerance": 1e-12,
            "message": "decoding in these chunks gives other rows than one full pass",
            "call": 2,
            "row": 0,
            "sequence": None,
        },
        "reasons": [],
        "shrunk": True,
        "repeatable": True,
        "known_before": False,
        "message": "decoding in these chunks gives other rows than one full pass",
    }


UNMOVED = replace(
    VIOLATED,
    law="sensitivity",
    violation=replace(
        ROWS,
        law="sensitivity",
        difference=0.0,
        call=2,
        row=0,
        message="changing a cached token changes no later row: the cache is not used",
    ),
)
FULL_PASS = replace(VIOLATED, law="prefix", violation=replace(ROWS, call=None, row=None))
BYTES = replace(VIOLATED, law="frame", violation=replace(ROWS, position=None, difference=None))
STEP = replace(
    VIOLATED, law="branch", schedule="1 b=a b:1", violation=replace(ROWS, law="branch", call=3)
)
BATCH = replace(
    VIOLATED,
    law="batch",
    schedule="b=new*2 b:1/1 b:1/2",
    tokens=(5, 6, 7, 8, 9),
    violation=replace(ROWS, law="batch", position=2, call=3, row=1, sequence=1),
)
FULL_BATCH = replace(BATCH, violation=replace(ROWS, law="batch", call=None, row=None, sequence=0))
LONG = replace(VIOLATED, schedule="1+16", tokens=tuple(range(17)), decoder_seed=None)

# A verdict, whether it was stored, and its block.
BLOCKS: dict[str, tuple[Verdict, bool, str]] = {
    "violated": (
        VIOLATED,
        True,
        """\
VIOLATED  schedule   my.py:make   seed 3
  smallest schedule   1+1            2 tokens [0, 7]
  first wrong row     position 1     chunk 2, row 0   |difference| 5.9e-01   tolerance 1.0e-12
  what                decoding in these chunks gives other rows than one full pass
  replay              cachecheck replay evidence/regressions/a.json""",
    ),
    "error": (
        ERROR,
        False,
        """\
ERROR  frame   my.py:make   seed 0
  smallest schedule   5              1 token [0]
  what                full(5 tokens) returned nan in row 4, column 0; rows must be finite""",
    ),
    "unmoved row": (
        UNMOVED,
        False,
        """\
VIOLATED  sensitivity   my.py:make   seed 3
  smallest schedule   1+1            2 tokens [0, 7]
  unmoved row         position 1     chunk 2, row 0   |difference| 0   tolerance 1.0e-12
  what                changing a cached token changes no later row: the cache is not used""",
    ),
    "full pass": (
        FULL_PASS,
        False,
        """\
VIOLATED  prefix   my.py:make   seed 3
  smallest schedule   1+1            2 tokens [0, 7]
  first wrong row     position 1     full pass   |difference| 5.9e-01   tolerance 1.0e-12
  what                decoding in these chunks gives other rows than one full pass""",
    ),
    "bytes": (
        BYTES,
        False,
        """\
VIOLATED  frame   my.py:make   seed 3
  smallest schedule   1+1            2 tokens [0, 7]
  first seen          chunk 2, row 0
  what                decoding in these chunks gives other rows than one full pass""",
    ),
    "step": (
        STEP,
        False,
        """\
VIOLATED  branch   my.py:make   seed 3
  smallest schedule   1 b=a b:1      2 tokens [0, 7]
  first wrong row     position 1     step 3 (b:1), row 0   |difference| 5.9e-01   tolerance 1.0e-12
  what                decoding in these chunks gives other rows than one full pass""",
    ),
    "a sequence of a batch, with the tokens that it holds": (
        BATCH,
        False,
        """\
VIOLATED  batch   my.py:make   seed 3
  smallest schedule   b=new*2 b:1/1 b:1/2   5 tokens [5, 6, 7, 8, 9]
  first wrong row     position 2     step 3 (b:1/2), sequence 1, row 1   |difference| 5.9e-01   \
tolerance 1.0e-12
  its tokens          [6, 8, 9]
  what                decoding in these chunks gives other rows than one full pass""",
    ),
    "a sequence of a full batch": (
        FULL_BATCH,
        False,
        """\
VIOLATED  batch   my.py:make   seed 3
  smallest schedule   b=new*2 b:1/1 b:1/2   5 tokens [5, 6, 7, 8, 9]
  first wrong row     position 1     full_batch, sequence 0   |difference| 5.9e-01   \
tolerance 1.0e-12
  what                decoding in these chunks gives other rows than one full pass""",
    ),
    "more than 16 tokens": (
        LONG,
        False,
        """\
VIOLATED  schedule   my.py:make
  smallest schedule   1+16           17 tokens [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, \
15, ...]
  first wrong row     position 1     chunk 2, row 0   |difference| 5.9e-01   tolerance 1.0e-12
  what                decoding in these chunks gives other rows than one full pass""",
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_the_block_of_a_failure(name: str) -> None:
    verdict, stored, expected = BLOCKS[name]
    saved = "evidence/regressions/a.json" if stored else None
    assert failure_block(verdict, "my.py:make", saved) == expected


HOLD = (
    "{} laws hold. A fault that shows in {} of such cases or more would have been\n"
    "found with a probability of 95% or more, law by law."
)
FOLLOWS = """\
Begin with schedule. These laws cannot hold until it does:
  branch        implies schedule: a schedule without a fork is one of its cases
  crop          implies schedule: a schedule without a rollback is one of its cases
  save          implies schedule: a schedule without saving is one of its cases
  reset         implies schedule: a schedule without a reset is one of its cases
  programs      implies schedule: its schedules are among these"""
SUMMARIES: list[tuple[tuple[Verdict, ...], str]] = [
    ((HOLDS, replace(HOLDS, law="frame", examples=20)), HOLD.format("2 of 2", "14.0%")),
    ((HOLDS, UNSUPPORTED), HOLD.format("1 of 2", "1.5%")),
    ((HOLDS, NOT_OFFERED), HOLD.format("1 of 1", "1.5%")),
    ((UNSUPPORTED,), "nothing could be checked"),
    ((), "nothing could be checked"),
    ((HOLDS, replace(VIOLATED, law="frame")), "1 of 2 laws violated: frame"),
    ((HOLDS, VIOLATED), f"1 of 2 laws violated: schedule\n{FOLLOWS}"),
    ((ERROR,), "1 of 1 laws could not be checked: frame"),
    (
        (VIOLATED, UNMOVED, ERROR, INCONCLUSIVE),
        "2 of 4 laws violated: schedule, sensitivity; 1 of 4 laws could not be checked: frame\n"
        + FOLLOWS.replace("with schedule", "with schedule and sensitivity").replace(
            "it does", "they do"
        ),
    ),
    ((HOLDS, INCONCLUSIVE), "no law is broken, but nothing can be concluded from sensitivity"),
]


@pytest.mark.parametrize(("verdicts", "expected"), SUMMARIES)
def test_what_the_verdicts_amount_to(verdicts: tuple[Verdict, ...], expected: str) -> None:
    assert conclusion_lines(summarised(verdicts, "my.py:make")) == expected


@pytest.mark.parametrize("verdicts", COMBINATIONS)
def test_the_summary_agrees_with_the_exit_code(verdicts: tuple[Verdict, ...]) -> None:
    said = conclusion_lines(summarised(verdicts, "my.py:make"))
    code = exit_code(list(verdicts))
    assert ("laws hold." in said) == (code == 0)
    assert ("violated" in said) == (code == 1)
    assert ("nothing can be concluded" in said) == (code == 3)
    if code == 2:
        assert "could not be checked" in said or said == "nothing could be checked"


def printed(renderable: Any, width: int = 80) -> str:
    """What appears in a pipe."""
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    if isinstance(renderable, list):
        print_report(console, summarised(renderable, "my.py:make"))
    else:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def test_the_law_table_fits_80_columns() -> None:
    assert (
        printed(law_table(ALL))
        == """\
law           verdict        examples   largest difference   tolerance   seconds
prefix        HOLDS               200                    0     1.3e-12       0.0
schedule      VIOLATED              4              5.9e-01     1.0e-12       0.5
sensitivity   INCONCLUSIVE        200              2.0e-14     3.0e-12      12.0
causality     UNSUPPORTED           0                    -           -       0.0
frame         ERROR                20                    -           -       1.2"""
    )


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.0, "0"), (0.5912, "5.9e-01"), (1e-300, "1.0e-300")]
)
def test_numbers_are_short_and_an_exact_zero_is_told_from_a_small_one(
    value: float | None, text: str
) -> None:
    assert number(value) == text


def test_a_message_that_several_laws_share_is_told_once() -> None:
    same = replace(ERROR, schedule=None, tokens=None, reasons=(raised("Half lacks full"),))
    refused = replace(UNSUPPORTED, reasons=(raised("no rows"),))
    text = printed([same, replace(same, law="prefix"), refused])
    assert text.count("Half lacks full") == 1
    assert (
        "\nERROR  frame, prefix   Half lacks full\n\n"
        "UNSUPPORTED  causality   no rows\n\n2 of 3 laws" in text
    )


NASTY = "x[bold]y[/bold] :100: [red] \\[a] tail\\"  # markup, a picture's name, back slashes


@pytest.mark.parametrize("verdict", [VIOLATED, ERROR, replace(ERROR, schedule=None, tokens=None)])
def test_markup_in_a_message_comes_out_as_it_is(verdict: Verdict) -> None:
    text = printed([replace(verdict, violation=None, reasons=(raised(NASTY),))])
    assert any(line.endswith(f"  {NASTY}") for line in text.splitlines())


def test_a_long_message_stays_on_one_line_for_grep() -> None:
    assert "w " * 100 + "end" in printed(
        [replace(ERROR, reasons=(raised("w " * 100 + "end"),))], width=40
    )


def test_a_law_that_is_not_offered_is_told_by_a_flag_and_not_by_words() -> None:
    quoting = replace(NOT_OFFERED, reasons=(Reason(Code.REFUSED, quoted="not offered: crop"),))
    assert NOT_OFFERED.not_offered
    assert not quoting.not_offered
    assert NOT_OFFERED.message == "not offered: crop(cache, length)"


@pytest.mark.parametrize("code", Code)
def test_every_reason_has_a_sentence(code: Code) -> None:
    said = sentence(
        Reason(code, quoted="its words", count=3, of=7, value=1e-3, bound=1e-6, precision="float32")
    )
    assert said
    assert "None" not in said
    assert not said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("suffix", suffixes())
@pytest.mark.parametrize("verdicts", COMBINATIONS[::3])
def test_every_renderer_names_each_law_and_its_answer(
    suffix: str, verdicts: tuple[Verdict, ...]
) -> None:
    text = renderer_for(Path(f"report{suffix}"))(summarised(verdicts, "my.py:make", amount="some"))
    assert "my.py:make" in text
    for verdict in verdicts:
        assert verdict.law in text or len(verdicts) == 1  # where all say the same, none is named
        assert verdict.answer.value in text or verdict.not_offered


def test_a_format_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"report\.docx: expected a name that ends in"):
        renderer_for(Path("report.docx"))
