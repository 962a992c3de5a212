"""The pictures that are curves over positions: moved rows, payloads, errors of short cuts.

Colours are Okabe and Ito's, told apart by all common kinds of colour vision; seeds differ in
their marker too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from cachecheck.experiment.protocol import (
    BYTES_A_TOKEN,
    CHANGED_FROM,
    LENGTH,
    SEEDS,
    WINDOW,
    Array,
    array_name,
)

Arrays = Mapping[str, Array]
"""An audited folder's arrays, by name in the archive."""

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
DARK, LIGHT = "#555555", "#eeeeee"
SEED_STYLES = {
    seed: {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.2}
    for seed, color, marker in zip(SEEDS, (BLUE, VERMILION, GREEN), "os^", strict=True)
}
POSITIONS = np.arange(LENGTH)


def later_tokens(arrays: Arrays) -> Figure:
    """Each row's change when the later half of the tokens changes, with and without the mask."""
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    panels = (
        ("with the causal mask", "full", "masked"),
        ("without any mask", "unmasked", "perturbed_unmasked"),
    )
    top = 0.0
    for ax, (title, before, after) in zip(axes, panels, strict=True):
        moved = _by_position(ax, arrays, before, after)  # (3, 24)
        earlier, top = float(moved[:, :CHANGED_FROM].max()), max(top, float(moved.max()))
        extent = f"move by up to {earlier:.2g}" if earlier else "do not move at all"
        ax.set_title(f"{title}: rows 0 to {CHANGED_FROM - 1} {extent}")
        ax.axvspan(CHANGED_FROM - 0.5, LENGTH - 0.5, color=LIGHT, zorder=0)
        where = {"transform": ax.get_xaxis_transform(), "va": "top"}
        ax.text(CHANGED_FROM - 0.2, 0.98, "changed tokens", color=DARK, **where)
    axes[0].set_ylabel("largest |difference| in the row")
    axes[0].legend(loc="upper left", frameon=False)
    axes[0].set_ylim(-0.03 * top, 1.12 * top)
    figure.suptitle(f"Which rows move when only tokens {CHANGED_FROM} to {LENGTH - 1} change")
    return figure


def _by_position(ax: Any, arrays: Arrays, left: str, right: str) -> Array:
    """One line a seed of each row's difference; returns them, (seeds, 24)."""
    lines = []
    for seed in SEEDS:
        one, other = arrays[array_name(seed, left)], arrays[array_name(seed, right)]
        lines.append(np.abs(one - other).max(axis=1))  # (24,)
        ax.plot(POSITIONS, lines[-1], label=f"seed {seed}", clip_on=False, **SEED_STYLES[seed])
    ax.set_xlim(-0.5, LENGTH - 0.5)
    ax.set_xlabel("position")
    ax.xaxis.set_major_locator(MultipleLocator(4))
    ax.spines[["top", "right"]].set_visible(False)
    return np.stack(lines)


def payload(arrays: Arrays, results: Sequence[Mapping[str, Any]]) -> Figure:
    """Bytes of keys and values after each token, without and with the window."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    ax = figure.subplots()
    tokens, full = arrays[array_name(SEEDS[0], "cache_bytes")].T  # (24,) each, alike for all seeds
    windowed = np.minimum(tokens, WINDOW) * BYTES_A_TOKEN  # (24,)
    curves = (
        ("full cache, as recorded", full, BLUE, "o", "full_kv_bytes"),
        (f"window {WINDOW}, closed form", windowed, VERMILION, "s", "window_kv_bytes"),
    )
    for text, heights, color, marker, key in curves:
        # Hollow markers: both curves stay visible where they coincide.
        size = {"o": 4, "s": 7}[marker]
        ax.plot(tokens, heights, color=color, marker=marker, markersize=size, fillstyle="none")
        label = f"{text}\n{results[0][key]} bytes counted"
        ax.text(LENGTH + 0.6, heights[-1], label, color=color, va="center")
        ax.hlines(heights[-1], 0, LENGTH, color="#dddddd", linewidth=0.8, zorder=0)
    ax.set_xlim(0, LENGTH + 8)
    ax.set_ylim(0, 1.08 * full[-1])
    ax.set_xticks(range(0, LENGTH + 1, 4))
    ax.yaxis.set_major_locator(MultipleLocator(2048))
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("tokens decoded")
    ax.set_ylabel("bytes of retained keys and values")
    ax.set_title("Payload of the cache, the same for all seeds")
    return figure


def window_errors(arrays: Arrays) -> Figure:
    """The two short cuts' distance from the sliding pass, by position."""
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    panels = (
        ("reset: every new token's input at position 0", "reset"),
        (f"cropped: the last {WINDOW} raw tokens computed afresh", "cropped"),
    )
    for ax, (title, name) in zip(axes, panels, strict=True):
        _by_position(ax, arrays, name, "sliding")
        ax.set_title(title)
        ax.grid(axis="y", color="#dddddd", linewidth=0.7)
    axes[0].set_ylabel("largest |difference| from the sliding pass")
    axes[1].legend(loc="upper right")
    axes[0].set_ylim(-0.05, None)
    figure.suptitle(f"Window {WINDOW}: two short cuts that are not the windowed pass")
    return figure
