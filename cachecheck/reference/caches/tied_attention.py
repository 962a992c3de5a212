"""A pair of layers of the tied decoder by two roads: a whole pass, and a chunk."""

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
    places = np.arange(len(x))  # (T,)
    mask = triangle(len(x), 0, config.window, config.sinks)  # (T, T)
    bias = score_bias(config, places, places)  # (H, T, T) or None
    query, key, value = project(normalise(x, config), owner, config, places, None)  # (H|G, T, D)
    mixed, _ = attention(query, key, value, mask, bias=bias)  # (H, T, D)
    x = finish(x, mixed, owner, config)  # (T, width)
    query = ask(x, receiver, config, places)  # (H, T, D)
    mixed, _ = attention(query, key, value, mask, bias=bias)  # (H, T, D)
    return conclude(x, mixed, receiver)  # (T, width)


def own_chunk(
    x: Floats,
    owner: LayerWeights,
    config: Config,
    past: LayerCache,
    places: Ints,
    *,
    work: Work,
) -> tuple[Floats, LayerCache]:
    """The owner over T new tokens at ``places``, and past and chunk together, (G, R+T, D)."""
    normal = normalise(x, config)  # (T, width)
    query, key, value = project(normal, owner, config, places, work)  # (H|G, T, D)
    seen = past.append(key, value, places)  # (G, R+T, D) keys and values
    mixed = attend(query, seen, config, places)  # (H, T, D)
    return finish(x, mixed, owner, config), seen  # (T, width)


def attend(query: Floats, seen: LayerCache, config: Config, places: Ints) -> Floats:
    """Queries (H, T, D) at ``places`` over what is ``seen``, (G, R+T, D) -> (H, T, D)."""
    mask = offset_mask(places, seen.positions, window=config.window, sinks=config.sinks)  # (T, R+T)
    bias = score_bias(config, places, seen.positions)  # (H, T, R+T) or None
    return attention(query, seen.key, seen.value, mask, bias=bias)[0]  # (H, T, D)


def ask(
    x: Floats, receiver: Receiver, config: Config, places: Ints, work: Work | None = None
) -> Floats:
    """A receiver's queries, rotated if the positions are rotary: (T, width) -> (H, T, D)."""
    flat = normalise(x, config) @ receiver.query  # (T, H*D)
    if work is not None:
        work.projected_rows += len(x)
    query = flat.reshape(len(x), config.heads, config.head_width).transpose(1, 0, 2)  # (H, T, D)
    return rotate(query, places) if config.positions == "rotary" else query


def conclude(x: Floats, mixed: Floats, receiver: Receiver) -> Floats:
    """From a receiver's input (T, width) and mixed values (H, T, D) to its output (T, width)."""
    update = mixed.transpose(1, 0, 2).reshape(len(x), -1) @ receiver.output  # (T, width)
    return np.asarray(np.tanh(x + update))
