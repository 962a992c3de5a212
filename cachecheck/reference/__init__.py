"""The reference decoder in numpy: every cache should equal it, and the experiment runs it.

May import errors and nothing else of the project. Start with `draw_weights`, then `full` (the
oracle), `by_prefixes`, `by_tokens` and `by_chunks`.
"""

from cachecheck.reference.attention import attention, softmax
from cachecheck.reference.cache import Cache, LayerCache, new_cache
from cachecheck.reference.config import FROZEN, Config
from cachecheck.reference.decode import Decoded, by_chunks, by_prefixes, by_tokens
from cachecheck.reference.decoder import ReferenceDecoder, reference
from cachecheck.reference.extend import extend
from cachecheck.reference.full import full
from cachecheck.reference.layers import Trace
from cachecheck.reference.masks import WRONG_MASKS, MaskRule, WrongMask, offset_mask
from cachecheck.reference.mechanisms import Mechanisms
from cachecheck.reference.weights import Weights, draw_weights
from cachecheck.reference.work import Work

__all__ = [
    "FROZEN",
    "WRONG_MASKS",
    "Cache",
    "Config",
    "Decoded",
    "LayerCache",
    "MaskRule",
    "Mechanisms",
    "ReferenceDecoder",
    "Trace",
    "Weights",
    "Work",
    "WrongMask",
    "attention",
    "by_chunks",
    "by_prefixes",
    "by_tokens",
    "draw_weights",
    "extend",
    "full",
    "new_cache",
    "offset_mask",
    "reference",
    "softmax",
]
