"""Wrong positions in a call's embeddings and rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.faults.configurations import (
    copying_fault,
    rotary,
    with_input_positions,
    with_window,
)
from cachecheck.reference.config import Config
from cachecheck.reference.mechanisms import CachedCall, Mechanisms
from cachecheck.reference.positions import Ints


class Restarting(Mechanisms):
    """Numbers every call from 0."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return np.arange(call.new)


class Behind(Mechanisms):
    """Is one position behind once there is history."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return call.positions - (call.past > 0)


class Ahead(Mechanisms):
    """Is one position ahead once there is history."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return call.positions + (call.past > 0)


class AdvancedTwice(Mechanisms):
    """Adds the length of the last call once more."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return call.positions + call.last_chunk


class OneForAll(Mechanisms):
    """Gives every token of a chunk the position of its first."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return np.full(call.new, call.past)


class AdvancedByFirstLayer(Mechanisms):
    """A counter that the first layer advances, and that the others read."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: D102
        return call.positions + (call.new if layer else 0)


class FromRetained(Mechanisms):
    """Counts the tokens that the window has kept."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return min(call.past, call.config.window or call.past) + np.arange(call.new)


def _windowed(seed: int, config: Config) -> dict[str, Any]:
    """A window, and positions that reach the inputs."""
    return with_input_positions(seed, config) | with_window(seed, config)


POSITIONS = (
    copying_fault(
        "positions-restart",
        "Every call numbers its tokens from 0.",
        Restarting,
        kind="position-restarts-at-zero",
        mechanism="positions",
        reports=(
            "huggingface/transformers#48289",
            "pytorch/executorch#2010",
            "Blaizzy/mlx-vlm#1983",
        ),
        smallest="1+1",
        changes=with_input_positions,
    ),
    copying_fault(
        "positions-behind",
        "Once there is history every token gets a position one too low.",
        Behind,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("tenstorrent/tt-metal#55088", "ggml-org/llama.cpp#23400"),
        smallest="1+1",
        changes=with_input_positions,
    ),
    copying_fault(
        "positions-ahead",
        "Once there is history every token gets a position one too high.",
        Ahead,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("pytorch/executorch#2689", "ggml-org/llama.cpp#26478"),
        smallest="1+1",
        changes=with_input_positions,
    ),
    copying_fault(
        "positions-twice",
        "The length of the last call is added to the position once more.",
        AdvancedTwice,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("skyzh/tiny-llm#46", "huggingface/transformers#30042"),
        smallest="1+1",
        changes=with_input_positions,
    ),
    copying_fault(
        "positions-one-for-all",
        "All tokens of a chunk get the position of its first one.",
        OneForAll,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("pytorch/torchchat#1462",),
        smallest="2",
        changes=with_input_positions,
    ),
    copying_fault(
        "positions-by-layer",
        "The first layer advances the counter that the later layers read.",
        AdvancedByFirstLayer,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("fla-org/flash-linear-attention#477", "fla-org/flash-linear-attention#747"),
        smallest="1+2",
        changes=rotary,
    ),
    copying_fault(
        "positions-of-retained",
        "Past the window positions stop growing: they are counted from the tokens that are kept.",
        FromRetained,
        kind="position-from-retained-length",
        mechanism="positions",
        reports=("huggingface/transformers#38156", "rajveer43/VeloxQuant-MLX#389"),
        smallest="5+1",
        changes=_windowed,
    ),
)
