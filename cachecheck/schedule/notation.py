"""The one-line notation of schedules: parsing and formatting.

``5+3`` is two calls on the first branch; ``3 b=a b:2 crop1 4`` appends three tokens, forks, appends
two to the fork, rolls the first branch back to one token and appends four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cachecheck.errors import InputError
from cachecheck.schedule.steps import (
    FIRST,
    Append,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Step,
)

NOTATION = """\
steps separated by spaces, on branch a or on the one named before a colon:
  5+3          append five tokens in one call, then three in another
  b:2          append two tokens to branch b
  b=a          b becomes a fork of a        b=new      a new empty cache
  crop4        roll back to four tokens     save       save it, continue from the loaded copy
  reset        empty it for reuse           release    this branch ends
  b=new*3      a batch of three rows        b:2/1/4    append to its rows in one call
  b:[2,0,0]    reorder its rows             c=b[1,2]   split off a copy of two rows
  d=b&c        the rows of b and c in one batch\
"""

_NAME = r"[a-z](?:[1-9][0-9]*)?"
_SIZE = r"[1-9][0-9]*"
_INDICES = r"\[[0-9]+(?:,[0-9]+)*\]"
_ACTION = re.compile(
    rf"(?:(?P<branch>{_NAME}):)?(?:"
    rf"(?P<sizes>{_SIZE}(?:[+/]{_SIZE})*)|crop(?P<length>[0-9]+)|(?P<word>save|reset|release)|"
    rf"(?P<rows>{_INDICES}))"
)
_SOURCE = re.compile(
    rf"(?P<branch>{_NAME})=(?:(?P<new>new)(?:\*(?P<count>{_SIZE}))?|"
    rf"(?P<left>{_NAME})&(?P<right>{_NAME})|(?P<source>{_NAME})(?P<rows>{_INDICES})?)"
)
_WORDS: dict[str, type[Save | Reset | Release]] = {"save": Save, "reset": Reset, "release": Release}


def parse_steps(text: str) -> tuple[Step, ...]:
    """The steps that ``text`` names. `Schedule` checks that they fit together.

    Raises:
        InputError: naming the first part that is not a step.
    """
    return tuple(step for part in text.split() for step in _parse_part(part))


def format_steps(steps: Sequence[Step]) -> str:
    """The notation of ``steps``; calls in a row on one branch are joined by plus signs."""
    parts: list[str] = []
    before: Step | None = None
    for step in steps:
        joined = isinstance(step, Append) and isinstance(before, Append)
        if joined and before is not None and before.branch == step.branch:
            parts[-1] += f"+{step.text()}"
        else:
            parts.append(_format_step(step))
        before = step
    return " ".join(parts)


def _format_step(step: Step) -> str:
    if isinstance(step, New | Fork | Merge):
        return f"{step.branch}={step.text()}"
    return step.text() if step.branch == FIRST else f"{step.branch}:{step.text()}"


def _parse_part(part: str) -> Iterator[Step]:
    """A part between spaces: one step, or several calls joined by plus signs."""
    if action := _ACTION.fullmatch(part):
        branch = action["branch"] or FIRST
        if action["sizes"]:
            for call in action["sizes"].split("+"):
                yield Append(branch, tuple(int(size) for size in call.split("/")))
        elif action["length"]:
            yield Crop(branch, int(action["length"]))
        elif action["word"]:
            yield _WORDS[action["word"]](branch)
        else:
            yield Reorder(branch, _indices(action["rows"]))
    elif source := _SOURCE.fullmatch(part):
        branch = source["branch"]
        if source["new"]:
            yield New(branch, int(source["count"]) if source["count"] else None)
        elif source["left"]:
            yield Merge(branch, (source["left"], source["right"]))
        else:
            rows = source["rows"]
            yield Fork(branch, source["source"], _indices(rows) if rows else None)
    else:
        raise InputError(
            f"{part!r} is not a step of a schedule; expected something like 5+3, b=a, "
            "b:2, crop4, save, reset, release, b=new*3, b:2/1/4, b:[2,0], d=b&c"
        )


def _indices(text: str) -> tuple[int, ...]:
    return tuple(int(index) for index in text.strip("[]").split(","))
