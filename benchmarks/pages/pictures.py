"""The pictures of the documents, drawn from real runs: a failure as a terminal shows it, and masks.

SVG that brings all it needs: its own background, no fonts and no scripts from elsewhere.
"""

from __future__ import annotations

import io
import runpy
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from rich.text import Text

from benchmarks.pages.outputs import COLUMNS, ROOT, ran

FAILURE = "cachecheck fuzz examples/forgotten_offset.py:MyDecoder"

_FONTS = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'

# The fields in braces are those that rich fills in; its own frame names fonts on other servers.
_TERMINAL = f"""\
<svg viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg">
<style>
.{{unique_id}}-matrix {{{{
font-family: {_FONTS}; font-size: {{char_height}}px; line-height: {{line_height}}px;
}}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}"/>
</clipPath>
{{lines}}
</defs>
<rect width="{{width}}" height="{{height}}" rx="8" fill="#ffffff" stroke="#d0d7de"/>
<g transform="translate({{terminal_x}}, {{terminal_y}})"
clip-path="url(#{{unique_id}}-clip-terminal)">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""


def failure() -> str:
    """The report of `FAILURE`, in the colours of a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text("$ " + FAILURE, style="bold"))
    console.print(Text.from_ansi(ran(FAILURE, colour=True)))
    return console.export_svg(
        theme=DEFAULT_TERMINAL_THEME, code_format=_TERMINAL, unique_id="failure"
    )


# Masks.

_PAST, _CHUNK = 3, 2
_CELL, _LEFT, _TOP, _BETWEEN = 44, 84, 100, 130
_SEES, _WRONG, _INK, _FRAME = "#2f6fbd", "#c62828", "#1f2328", "#afb8c1"


def mask_of(example: str) -> NDArray[np.bool_]:
    """(chunk, keys) which keys the rows of a chunk see in an example, two tokens onto three."""
    decoder: Any = runpy.run_path(str(ROOT / "examples" / example))["MyDecoder"](0)
    _, cache = decoder.extend(np.arange(_PAST), decoder.new_cache())
    attend, noted = decoder.attend, []

    def noting(x: Any, keys: Any, values: Any, mask: Any) -> Any:
        noted.append(mask)
        return attend(x, keys, values, mask)

    decoder.attend = noting
    decoder.extend(np.arange(_PAST, _PAST + _CHUNK), cache)
    return np.asarray(noted[0], dtype=bool)


def masks() -> str:
    """Which key each new row sees, right and wrong, as the two examples have it."""
    right, wrong = mask_of("my_decoder.py"), mask_of("forgotten_offset.py")
    across = (_PAST + _CHUNK) * _CELL
    width, height = _LEFT + 2 * across + _BETWEEN + 40, _TOP + _CHUNK * _CELL + 52
    second = _LEFT + across + _BETWEEN
    parts = [
        f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">',
        f"<style>text {{ font: 14px {_FONTS}; fill: {_INK}; }}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff" stroke="{_FRAME}"/>',
        *_grid("right: the offset mask", right, right, _LEFT),
        *_grid("wrong: the offset forgotten", wrong, right, second),
        _text(_LEFT, height - 20, "filled: the row sees this key"),
        _text(second, height - 20, "crossed: hidden by mistake"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(title: str, mask: NDArray[np.bool_], right: NDArray[np.bool_], left: int) -> list[str]:
    """A row for each new token, a column for each key; crossed where ``mask`` is not ``right``."""
    parts = [_text(left, 30, title)]
    for name, first, last in (("cached keys", 0, _PAST), ("new keys", _PAST, _PAST + _CHUNK)):
        parts.append(_text(left + (first + last) * _CELL // 2, 62, name, "middle"))
        parts += [
            _text(left + key * _CELL + _CELL // 2, 84, str(key), "middle")
            for key in range(first, last)
        ]
    for row in range(_CHUNK):
        top = _TOP + row * _CELL
        parts.append(_text(left - 10, top + 27, f"row {_PAST + row}", "end"))
        for key in range(_PAST + _CHUNK):
            sees, should = bool(mask[row, key]), bool(right[row, key])
            parts += _cell(left + key * _CELL, top, sees=sees, should=should)
    return parts


def _cell(left: int, top: int, *, sees: bool, should: bool) -> list[str]:
    """One key of one row."""
    frame, fill = (_FRAME if sees == should else _WRONG), (_SEES if sees else "#ffffff")
    square = f'x="{left + 3}" y="{top + 3}" width="{_CELL - 6}" height="{_CELL - 6}" rx="4"'
    parts = [f'<rect {square} fill="{fill}" stroke="{frame}" stroke-width="2"/>']
    if sees != should:
        near, far = 14, _CELL - 14
        down = f"M{left + near} {top + near} L{left + far} {top + far}"
        up = f"M{left + near} {top + far} L{left + far} {top + near}"
        parts.append(f'<path d="{down} {up}" stroke="{_WRONG}" stroke-width="3"/>')
    return parts


def _text(x: int, y: int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


PICTURES = {"failure.svg": failure, "masks.svg": masks}
"""What makes each file in ``docs/images``."""
