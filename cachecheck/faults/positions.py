"""Positions by which a call embeds its tokens, and rotates queries and keys, wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.faults.configurations import of_copying, rotary, with_input_positions, with_window
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
    """Counts what the window has kept."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002, D102
        return min(call.past, call.config.window or call.past) + np.arange(call.new)


def _windowed(seed: int, config: Config) -> dict[str, Any]:
    """A window, and positions that reach the inputs."""
    return with_input_positions(seed, config) | with_window(seed, config)


POSITIONS = (
    of_copying(
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
        choose=with_input_positions,
    ),
    of_copying(
        "positions-behind",
        "Once there is history every token stands one position too early.",
        Behind,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("tenstorrent/tt-metal#55088", "ggml-org/llama.cpp#23400"),
        smallest="1+1",
        choose=with_input_positions,
    ),
    of_copying(
        "positions-ahead",
        "Once there is history every token stands one position too late.",
        Ahead,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("pytorch/executorch#2689", "ggml-org/llama.cpp#26478"),
        smallest="1+1",
        choose=with_input_positions,
    ),
    of_copying(
        "positions-twice",
        "The length of the last call is added to the position once more.",
        AdvancedTwice,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("skyzh/tiny-llm#46", "huggingface/transformers#30042"),
        smallest="1+1",
        choose=with_input_positions,
    ),
    of_copying(
        "positions-one-for-all",
        "All tokens of a chunk stand where its first one stands.",
        OneForAll,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("pytorch/torchchat#1462",),
        smallest="2",
        choose=with_input_positions,
    ),
    of_copying(
        "positions-by-layer",
        "The first layer advances the counter that the later layers read.",
        AdvancedByFirstLayer,
        kind="position-counter-drift",
        mechanism="positions",
        reports=("fla-org/flash-linear-attention#477", "fla-org/flash-linear-attention#747"),
        smallest="1+2",
        choose=rotary,
    ),
    of_copying(
        "positions-of-retained",
        "Past the window positions stop growing, since they are counted from what is kept.",
        FromRetained,
        kind="position-from-retained-length",
        mechanism="positions",
        reports=("huggingface/transformers#38156", "rajveer43/VeloxQuant-MLX#389"),
        smallest="5+1",
        choose=_windowed,
    ),
)
