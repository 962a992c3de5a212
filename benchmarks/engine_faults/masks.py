"""Wrong masks, and layers that keep another window than their mask has.

A mask function is given the positions of all rows and keys of a call. Rows that begin at 0 are a
full pass or a first call, which stay right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.engine_faults.fault import FEW, WINDOWED, EngineFault, Wrong

_CAUSAL = "masking_utils:causal_mask_function"
_WINDOW = "masking_utils:sliding_window_overlay"
_KEPT = "cache_utils:DynamicSlidingWindowLayer.__init__"
_LATE, _BEYOND = 8, 16


def _causal(
    highest: Callable[[Any], Any], when: Callable[[int, int], bool] = lambda _past, _chunk: True
) -> Wrong:
    """A row sees the keys up to ``highest`` of the rows' positions, where ``when`` holds."""

    def replace(original: Any) -> Any:
        def causal_mask_function(batch: Any, head: Any, rows: Any, keys: Any) -> Any:
            past = int(rows.min())
            if past and when(past, rows.numel()):
                return keys <= highest(rows)
            return original(batch, head, rows, keys)

        return causal_mask_function

    return replace


def _window(
    lowest: Callable[[Any, int], Any], when: Callable[[int, int], bool] = lambda _past, _wide: True
) -> Wrong:
    """A row sees the keys behind ``lowest`` of the rows' positions and the window."""

    def replace(original: Any) -> Any:
        def sliding_window_overlay(wide: int) -> Any:
            right = original(wide)

            def inner_mask(batch: Any, head: Any, rows: Any, keys: Any) -> Any:
                past = int(rows.min())
                if past and when(past, wide):
                    return keys > lowest(rows, wide)
                return right(batch, head, rows, keys)

            return inner_mask

        return sliding_window_overlay

    return replace


def _kept(more: int) -> Wrong:
    def replace(original: Any) -> Any:
        def init(self: Any, sliding_window: int, **rest: Any) -> None:
            original(self, sliding_window + more, **rest)

        return init

    return replace


def _narrow_everywhere(original: Any) -> Any:
    return lambda wide: original(wide - 1)


FAULTS = (
    EngineFault(
        "mask-top-left",
        "the causal triangle of a chunk forgets the history's length",
        "mask-topleft-alignment",
        _CAUSAL,
        _causal(lambda rows: rows - rows.min()),
    ),
    EngineFault(
        "mask-missing",
        "no mask within a chunk that goes onto a history",
        "mask-omitted-when-cache-present",
        _CAUSAL,
        _causal(lambda rows: rows.max()),
    ),
    EngineFault(
        "mask-one-far-late",
        f"a row sees one key ahead, in chunks onto {_LATE} tokens or more",
        "mask-topleft-alignment",
        _CAUSAL,
        _causal(lambda rows: rows + 1, lambda past, _chunk: past >= _LATE),
    ),
    EngineFault(
        "mask-one-far-exact",
        f"a row sees one key ahead, in chunks of 3 onto exactly {_LATE} tokens",
        "mask-topleft-alignment",
        _CAUSAL,
        _causal(lambda rows: rows + 1, lambda past, chunk: (past, chunk) == (_LATE, 3)),
        architectures=FEW,
        law="schedule",
        missed="few schedules have such a call: 4 cases of an architecture need not, nor do those "
        "of the others with this mask",
    ),
    EngineFault(
        "mask-one-far-beyond",
        f"a row sees one key ahead, in chunks onto {_BEYOND} tokens or more",
        "mask-topleft-alignment",
        _CAUSAL,
        _causal(lambda rows: rows + 1, lambda past, _chunk: past >= _BEYOND),
        architectures=FEW,
        missed="the survey's sequences hardly go so far: 4 cases of an architecture need not, and "
        "those of another do",
    ),
    EngineFault(
        "window-one-wide",
        "a row of a call onto a history sees one key more than the window",
        "window-off-by-one",
        _WINDOW,
        _window(lambda rows, wide: rows - wide - 1),
        architectures=(*WINDOWED, "llama"),
    ),
    EngineFault(
        "window-of-last-row",
        "all rows of a call onto a history share the window of the last",
        "sliding-mask-not-absolute",
        _WINDOW,
        _window(lambda rows, wide: rows.max() - wide),
        architectures=(*WINDOWED, "llama"),
    ),
    EngineFault(
        "window-narrow-when-full",
        "the window is one key short in the call onto exactly as many tokens as it holds",
        "window-off-by-one",
        _WINDOW,
        _window(lambda rows, wide: rows - wide + 1, lambda past, wide: past == wide),
        architectures=(*WINDOWED, "llama"),
    ),
    EngineFault(
        "window-narrow-everywhere",
        "the mask's window is one key short in every pass, the full one included",
        "uncached-path-wrong",
        _WINDOW,
        _narrow_everywhere,
        architectures=("mistral",),
        missed="the full pass, with which every law compares, is wrong in the same way: it would "
        "take another implementation to judge by",
    ),
    EngineFault(
        "window-keeps-one-few",
        "the cache drops a key while the mask still shows it",
        "window-off-by-one",
        _KEPT,
        _kept(-1),
        variants=("dynamic", "recording"),
        architectures=(*WINDOWED, "llama"),
    ),
    EngineFault(
        "window-keeps-one-many",
        "the cache keeps a key that the mask hides",
        "window-off-by-one",
        _KEPT,
        _kept(1),
        variants=("dynamic", "recording"),
        architectures=WINDOWED,
    ),
)
