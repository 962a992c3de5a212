"""The five pictures as PNG bytes. Imports matplotlib, so imported only when they are asked for.

Draws on `Figure` objects, never through pyplot: no global state, no window, no user settings.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from cachecheck.experiment import curves
from cachecheck.experiment.folder import FIGURE_FILES
from cachecheck.experiment.protocol import (
    LENGTH,
    SEEDS,
    WRONG_MASK_CHUNK,
    WRONG_MASK_PAST,
    Array,
    array_name,
)


def draw(arrays: curves.Arrays, results: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """PNG bytes of each figure by its path in the folder.

    Args:
        arrays: an audited folder's, by name in the archive.
        results: the same folder's, one mapping a seed.
    """
    with mpl.rc_context():
        mpl.rcdefaults()  # a user's matplotlibrc would change the bytes
        figures = (
            _attention(arrays),
            curves.later_tokens(arrays),
            curves.payload(arrays, results),
            curves.window_errors(arrays),
            _offset_mask(arrays),
        )
        return {name: _png(one) for name, one in zip(FIGURE_FILES, figures, strict=True)}


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    # Without a software tag: the version would change the bytes where the picture stays.
    figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return buffer.getvalue()


def _attention(arrays: curves.Arrays) -> Figure:
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    axes = figure.subplots(1, len(SEEDS), sharey=True)
    # Most probabilities are small: on a linear scale all but the first rows would look alike.
    scale = ScalarMappable(PowerNorm(0.5, vmin=0, vmax=1), "viridis")
    hidden = np.triu(np.ones((LENGTH, LENGTH), bool), 1)  # (24, 24)
    for ax, seed in zip(axes, SEEDS, strict=True):
        shown = np.ma.masked_where(hidden, arrays[array_name(seed, "attention")])
        ax.imshow(shown, cmap=scale.cmap, norm=scale.norm)
        ax.set_facecolor(curves.LIGHT)
        ax.set_title(f"seed {seed}")
        ax.set_xlabel("key position")
        ax.xaxis.set_major_locator(MultipleLocator(4))
        ax.yaxis.set_major_locator(MultipleLocator(4))
    axes[0].set_ylabel("query position")
    bar = figure.colorbar(scale, ax=axes, ticks=[0, 0.02, 0.1, 0.25, 0.5, 1], pad=0.01)
    bar.set_label("attention probability (square-root scale)")
    figure.suptitle("Attention of the first layer under the causal mask (pale: masked, exactly 0)")
    return figure


def _offset_mask(arrays: curves.Arrays) -> Figure:
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=(1.1, 1.1, 1))
    stop = WRONG_MASK_PAST + WRONG_MASK_CHUNK
    rows, keys = np.arange(WRONG_MASK_PAST, stop), np.arange(stop)  # (3,), (8,)
    numbered = {"right": rows, "wrong": np.arange(WRONG_MASK_CHUNK)}
    for ax, (name, queries) in zip(axes, numbered.items(), strict=False):
        _mask(ax, keys[None, :] <= queries[:, None], rows)  # (3, 8)
        ax.set_title(f"{name}: rows numbered {', '.join(map(str, queries))}")
    for place, seed in enumerate(SEEDS, -1):
        good, wrong = arrays[array_name(seed, "good")], arrays[array_name(seed, "wrong")]
        heights = np.abs(good - wrong).max(axis=1)  # (3,)
        look = {"color": curves.SEED_STYLES[seed]["color"], "hatch": ("", "//", "..")[place + 1]}
        bars = {"width": 0.24, "edgecolor": "white", "linewidth": 0, **look}
        axes[2].bar(rows + 0.26 * place, heights, label=f"seed {seed}", **bars)
    axes[2].set_xticks(rows)
    axes[2].set_xlabel("query position")
    axes[2].set_ylabel("largest |difference|")
    axes[2].set_title("how far the rows move")
    axes[2].spines[["top", "right"]].set_visible(False)
    axes[2].set_ylim(0, axes[2].get_ylim()[1] * 1.2)
    axes[2].legend(frameon=False, ncols=3, loc="upper center", columnspacing=1, handlelength=1.2)
    figure.suptitle(
        f"The offset mask of {WRONG_MASK_CHUNK} new tokens after {WRONG_MASK_PAST} cached ones "
        "(blue: the row may see the key; right of the line: the new tokens)"
    )
    return figure


def _mask(ax: Any, mask: Array, rows: Array) -> None:
    colors = ListedColormap([curves.LIGHT, curves.BLUE])
    # Edges in white, so that cells can be counted.
    ax.pcolormesh(mask, cmap=colors, vmin=0, vmax=1, edgecolors="white", linewidth=1.5)
    ax.invert_yaxis()
    ax.axvline(WRONG_MASK_PAST, color="black", linewidth=3)
    ax.set_xticks(np.arange(mask.shape[1]) + 0.5, range(mask.shape[1]))
    ax.set_yticks(np.arange(len(rows)) + 0.5, [str(row) for row in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("key position")
    ax.set_ylabel("query position")
