"""One call for notebooks and scripts: verdicts as data, nothing printed, nothing stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cachecheck
from cachecheck import check_decoder
from cachecheck.errors import CachecheckError, InputError
from cachecheck.laws import LAWS
from cachecheck.verdict import Answer, Verdict
from tests.decoders_for_tests import Faint, ForgetsOffset, RaisesOnThird, Sums
from tests.test_cli_process import environment


def answers(decoder: Any, **options: Any) -> dict[str, str]:
    """By law, what a short check says."""
    return {one.law: one.answer.value for one in check_decoder(decoder, examples=10, **options)}


class OddError(BaseException):
    """What no program should raise."""


class Misbehaves(Sums):
    """Raises it."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        if len(tokens) == 2:
            raise OddError("odd")
        return super().extend(tokens, cache)


def made() -> Sums:
    """A factory without a seed."""
    return Sums()


def test_there_is_a_verdict_for_each_law_and_it_is_data() -> None:
    verdicts = check_decoder(ForgetsOffset, examples=10)
    assert type(verdicts) is list
    assert [one.law for one in verdicts] == list(LAWS)
    assert all(isinstance(one, Verdict) for one in verdicts)
    (schedule,) = [one for one in verdicts if one.law == "schedule"]
    assert schedule.answer == "VIOLATED"
    assert (schedule.schedule, schedule.tokens) == ("1+2", (0, 0, 0))
    assert {one.answer.value for one in verdicts} == {"HOLDS", "VIOLATED", "UNSUPPORTED"}


def test_laws_come_in_the_order_given_each_once() -> None:
    assert list(answers(Sums, laws=["schedule", "prefix", "schedule"])) == ["schedule", "prefix"]
    assert list(answers(Sums, laws=("crop",))) == ["crop"]
    assert answers(Sums, laws=[]) == {}


@pytest.mark.parametrize("decoder", [Sums, Sums(), made, f"{Sums.__module__}:Sums"])
def test_a_decoder_a_factory_and_a_name_will_do(decoder: Any) -> None:
    assert answers(decoder, laws=["prefix"]) == {"prefix": "HOLDS"}


def test_the_same_arguments_give_the_same_cases_and_others_others() -> None:
    def difference(**options: Any) -> float | None:
        (one,) = check_decoder(Sums, laws=["schedule"], **options)
        assert one.examples == options["examples"]
        return one.largest_difference

    assert difference(examples=5, seed=3) == difference(examples=5, seed=3)
    assert difference(examples=5, seed=3) != difference(examples=5, seed=4)
    short = check_decoder(RaisesOnThird, laws=["schedule"], examples=5, max_length=2)
    assert [one.answer for one in short] == [Answer.HOLDS]


@pytest.mark.parametrize(
    ("decoder", "said"),
    [
        (RaisesOnThird, "RuntimeError: out of memory at 3 tokens"),
        (Misbehaves, "OddError"),
        (lambda: 3, "lacks vocab_size"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (type("Empty", (), {"extend": None}), "lacks"),
    ],
)
def test_whatever_the_decoder_does_is_a_verdict(decoder: Any, said: str) -> None:
    (verdict,) = check_decoder(decoder, laws=["schedule"], examples=20)
    assert verdict.answer is Answer.ERROR
    assert said in verdict.message
    assert "\n" not in verdict.message


def test_our_own_mistakes_are_a_verdict_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("cachecheck.search.check.search", broken)
    (verdict,) = check_decoder(Sums, laws=["schedule"])
    assert verdict.answer is Answer.ERROR
    assert verdict.message.startswith("cachecheck itself failed: ZeroDivisionError: division by")


def test_ctrl_c_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cachecheck.search.check.search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check_decoder(Sums, laws=["schedule"])


def test_what_shows_nothing_is_inconclusive() -> None:
    assert answers(Faint, laws=["sensitivity"]) == {"sensitivity": "INCONCLUSIVE"}


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "law": (Sums, {"laws": ["gravity"]}, r"^unknown law 'gravity'; known: causality, prefix,"),
    "a text": (Sums, {"laws": "crop"}, r"^laws is a list of ids, like \['crop'\]; got the text"),
    "examples": (Sums, {"examples": 0}, r"^examples must be an integer >= 1; got 0$"),
    "half": (Sums, {"examples": 1.5}, r"^examples must be an integer >= 1; got 1.5$"),
    "true": (Sums, {"examples": True}, r"^examples must be an integer >= 1; got True$"),
    "seed": (Sums, {"seed": -1}, r"^seed must be an integer >= 0; got -1$"),
    "length": (Sums, {"max_length": 1}, r"^max_length must be an integer >= 2; got 1$"),
    "number": (3, {}, r"^builtins:int is int; expected a factory that takes a seed, or a decoder$"),
    "no target": ("gone.py:make", {}, r"^no file gone.py; a file target is path/file.py:factory$"),
    "no name": ("nonsense", {}, r"^unknown target 'nonsense'; expected reference,"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_make_no_sense_are_refused_in_one_line(name: str) -> None:
    decoder, options, said = REFUSED[name]
    with pytest.raises(InputError, match=said) as caught:
        check_decoder(decoder, **options)
    assert "\n" not in str(caught.value)


def test_it_prints_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """In a process of its own, without pytest in sight, on a decoder from a file."""
    (tmp_path / "mine.py").write_text("from tests.decoders_for_tests import *\n")
    calls = (
        "import sys, cachecheck\n"
        "assert 'numpy' not in sys.modules\n"
        "import mine\n"
        "laws = ['schedule', 'programs']\n"
        "found = [cachecheck.check_decoder(decoder, laws=laws, examples=5)\n"
        "         for decoder in (mine.ForgetsOffset, mine.RaisesOnThird, 'reference:paged')]\n"
        "assert 'pytest' not in sys.modules and 'rich' not in sys.modules\n"
        "assert {str(one.answer) for verdicts in found for one in verdicts} >= {'VIOLATED'}\n"
    )
    ran = subprocess.run(
        [sys.executable, "-B", "-c", calls],
        cwd=tmp_path,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_it_is_offered_at_the_top_beside_the_error_for_refusals() -> None:
    assert cachecheck.check_decoder is check_decoder
    assert set(cachecheck.__all__) >= {"check_decoder", "parametrize_with_laws"}
    assert all(hasattr(cachecheck, name) for name in cachecheck.__all__)
    assert issubclass(InputError, CachecheckError)
    with pytest.raises(AttributeError, match="no attribute 'check_decoders'"):
        _ = cachecheck.check_decoders
