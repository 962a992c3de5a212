"""A pair of layers of the tied decoder in two ways: over a whole sequence, and a chunk."""

from __future__ import annotations

import numpy as np

from cachecheck.reference.attention import attention
from cachecheck.reference.cache import LayerCache
from cachecheck.reference.caches.tied_weights import Receiver
from cachecheck.reference.config import Config
from cachecheck.reference.full import triangle
from cachecheck.reference.layers import finish, normalise, project, score_bias
from cachecheck.reference.masks import offset_mask
from cachecheck.reference.positions import Ints, rotate
from cachecheck.reference.weights import Floats, LayerWeights
from cachecheck.reference.work import Work


def pair_whole(x: Floats, owner: LayerWeights, receiver: Receiver, config: Config) -> Floats:
    """Both layers over a whole sequence: (T, width) -> (T, width)."""
    positions = np.arange(len(x))  # (T,)
    mask = triangle(len(x), 0, config.window, config.sinks)  # (T, T)
    bias = score_bias(config, positions, positions)  # (H, T, T) or None
    query, key, value = project(normalise(x, config), owner, config, positions, None)  # (H|G, T, D)
    mixed, _ = attention(query, key, value, mask, bias=bias)  # (H, T, D)
    x = finish(x, mixed, owner, config)  # (T, width)
    query = receiver_queries(x, receiver, config, positions)  # (H, T, D)
    mixed, _ = attention(query, key, value, mask, bias=bias)  # (H, T, D)
    return receiver_output(x, mixed, receiver)  # (T, width)


def owner_chunk(
    x: Floats,
    owner: LayerWeights,
    config: Config,
    past: LayerCache,
    positions: Ints,
    *,
    work: Work,
) -> tuple[Floats, LayerCache]:
    """The owner over T new tokens at ``positions``, and past and chunk together, (G, R+T, D)."""
    normal = normalise(x, config)  # (T, width)
    query, key, value = project(normal, owner, config, positions, work)  # (H|G, T, D)
    visible = past.append(key, value, positions)  # (G, R+T, D) keys and values
    mixed = attend(query, visible, config, positions)  # (H, T, D)
    return finish(x, mixed, owner, config), visible  # (T, width)


def attend(query: Floats, visible: LayerCache, config: Config, positions: Ints) -> Floats:
    """Queries (H, T, D) at ``positions`` over ``visible`` keys (G, R+T, D): (H, T, D)."""
    mask = offset_mask(
        positions, visible.positions, window=config.window, sinks=config.sinks
    )  # (T, R+T)
    bias = score_bias(config, positions, visible.positions)  # (H, T, R+T) or None
    return attention(query, visible.key, visible.value, mask, bias=bias)[0]  # (H, T, D)


def receiver_queries(
    x: Floats, receiver: Receiver, config: Config, positions: Ints, work: Work | None = None
) -> Floats:
    """A receiver's queries, rotated if the positions are rotary: (T, width) -> (H, T, D)."""
    flat = normalise(x, config) @ receiver.query  # (T, H*D)
    if work is not None:
        work.projected_rows += len(x)
    query = flat.reshape(len(x), config.heads, config.head_width).transpose(1, 0, 2)  # (H, T, D)
    return rotate(query, positions) if config.positions == "rotary" else query


def receiver_output(x: Floats, mixed: Floats, receiver: Receiver) -> Floats:
    """From a receiver's input (T, width) and mixed values (H, T, D) to its output (T, width)."""
    update = mixed.transpose(1, 0, 2).reshape(len(x), -1) @ receiver.output  # (T, width)
    return np.asarray(np.tanh(x + update))
