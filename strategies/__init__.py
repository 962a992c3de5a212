"""Hypothesis strategies for attention and its caches: import them as ``cachecheck.strategies``.

A decoder's cases for a law (`cases`: `cachecheck fuzz` draws from it too), programs of cache
operations (`programs`), sequences and how they are cut (`seeds`, `lengths`, `token_ids`,
`chunk_partitions`, `windows`), plain attention problems with their masks (`offset_masks`,
`wrong_offset_masks`), padded batches of them (`ragged_batches`), reference decoders (`configs`,
`decoders`), and a state machine over live caches (`cache_machine`).
"""

import sys

from cachecheck.strategies._machine import CacheMachine
from cachecheck.strategies.batches import RaggedBatch, ragged_batches
from cachecheck.strategies.cases import cases
from cachecheck.strategies.decoders import configs, decoders
from cachecheck.strategies.machines import cache_machine
from cachecheck.strategies.problems import (
    AttentionProblem,
    WrongMaskProblem,
    offset_masks,
    wrong_offset_masks,
)
from cachecheck.strategies.programs import programs
from cachecheck.strategies.sequences import (
    chunk_partitions,
    lengths,
    seeds,
    token_ids,
    windows,
)

__all__ = [
    "AttentionProblem",
    "CacheMachine",
    "RaggedBatch",
    "WrongMaskProblem",
    "cache_machine",
    "cases",
    "chunk_partitions",
    "configs",
    "decoders",
    "lengths",
    "offset_masks",
    "programs",
    "ragged_batches",
    "seeds",
    "token_ids",
    "windows",
    "wrong_offset_masks",
]

# In a checkout this file is also found as plain `strategies`. Two copies would mean two sets of
# classes, so that name becomes another one for the modules just imported.
if __name__ != "cachecheck.strategies":
    for _name in [name for name in sys.modules if name.startswith("cachecheck.strategies")]:
        sys.modules[__name__ + _name.removeprefix("cachecheck.strategies")] = sys.modules[_name]
