"""An attention layer of the hybrid decoder in two ways: over a whole sequence, and a chunk."""

from __future__ import annotations

from cachecheck.reference.attention import attention
from cachecheck.reference.caches.hybrid_cache import AttentionState
from cachecheck.reference.config import Config
from cachecheck.reference.full import triangle
from cachecheck.reference.layers import finish, normalise, project, score_bias
from cachecheck.reference.masks import offset_mask
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, LayerWeights
from cachecheck.reference.work import Work


def attend_whole(x: Floats, layer: LayerWeights, config: Config, positions: Ints) -> Floats:
    """The layer over a whole sequence: (T, width), positions (T,) -> (T, width)."""
    normal = normalise(x, config)  # (T, width)
    query, key, value = project(normal, layer, config, positions, None)  # (H|G, T, D)
    mask = triangle(len(x), 0, config.window, config.sinks)  # (T, T)
    bias = score_bias(config, positions, positions)  # (H, T, T) or None
    mixed, _ = attention(query, key, value, mask, bias=bias)  # (H, T, D)
    return finish(x, mixed, layer, config)  # (T, width)


def attend_chunk(
    x: Floats,
    layer: LayerWeights,
    config: Config,
    past: AttentionState,
    positions: Ints,
    *,
    work: Work,
) -> tuple[Floats, AttentionState]:
    """The layer over T new tokens at ``positions``, and its state afterwards."""
    normal = normalise(x, config)  # (T, width)
    query, key, value = project(normal, layer, config, positions, work)  # (H|G, T, D)
    visible = past.append(key, value, positions)  # (G, R+T, D) keys and values
    mask = offset_mask(
        positions, visible.positions, window=config.window, sinks=config.sinks
    )  # (T, R+T)
    bias = score_bias(config, positions, visible.positions)  # (H, T, R+T) or None
    mixed, _ = attention(query, visible.key, visible.value, mask, bias=bias)  # (H, T, D)
    return finish(x, mixed, layer, config), visible.evict(config)  # (T, width)
