"""One codec for stored files: what is written is read back, and nothing else is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck.errors import InputError
from cachecheck.files import Stored, write_whole


class Colour(StrEnum):
    RED = "RED"
    BLUE = "BLUE"


@dataclass(frozen=True)
class Inner:
    value: float | None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thing:
    colour: Colour
    tokens: tuple[int, ...]
    inner: Inner | None = None


THING = Stored("thing", 3, Thing)
inners = st.builds(
    Inner, st.none() | st.floats(allow_nan=False, allow_infinity=False), st.tuples(st.text())
)
things = st.builds(
    Thing, st.sampled_from(Colour), st.tuples(st.integers(0, 2**31)), st.none() | inners
)


@given(things, st.sampled_from([0, 1, 2]), st.sampled_from([None, 0, 1, 2, 9]))
def test_what_is_written_is_read_back(thing: Thing, indent: int, depth: int | None) -> None:
    assert THING.decode(THING.encode(thing, indent=indent, depth=depth), "it") == thing


def test_a_table_has_a_line_for_each_item_of_the_first_levels() -> None:
    text = THING.encode(Thing(Colour.RED, (1, 2), Inner(0.5, ("a", "b"))), indent=1, depth=2)
    assert text.splitlines() == [
        "{",
        ' "cachecheck": "thing",',
        ' "version": 3,',
        ' "colour": "RED",',
        ' "tokens": [',
        "  1,",
        "  2",
        " ],",
        ' "inner": {',
        '  "value": 0.5,',
        '  "names": ["a","b"]',
        " }",
        "}",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "it is not a stored thing"),
        ("[" * 200_000, "it is not a stored thing"),
        ("{}", "missing required field `cachecheck`"),
        ('{"cachecheck": "other", "version": 3}', "a stored other; expected a thing"),
        ('{"cachecheck": "thing", "version": 2}', "version 2; this release reads version 3"),
        ('{"cachecheck": "thing", "version": 3, "colour": "GREEN", "tokens": []}', "GREEN"),
        ('{"cachecheck": "thing", "version": 3, "colour": "RED", "tokens": [true]}', "tokens"),
        ('{"cachecheck": "thing", "version": 3, "colour": "RED", "tokens": [1.5]}', "tokens"),
        (
            '{"cachecheck": "thing", "version": 3, "colour": "RED", "tokens": ['
            + "9" * 5000
            + "]}",
            "out of range",
        ),
    ],
)
def test_anything_else_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match="it ") as caught:
        THING.decode(text, "it")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        THING.read(tmp_path / "nothing.json")


def test_a_file_cut_in_half_is_refused(tmp_path: Path) -> None:
    text = THING.encode(Thing(Colour.RED, (1, 2)))
    write_whole(tmp_path / "half.json", text[: len(text) // 2])
    with pytest.raises(InputError, match="is not a stored thing"):
        THING.read(tmp_path / "half.json")
