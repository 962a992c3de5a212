"""The border over a pool of blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cachecheck.errors import InputError
from cachecheck.reference.caches.paged import PagedCache, PagedStorage
from cachecheck.reference.caches.random_configs import config_rng, small_config
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.stored import InPlaceDecoder


class PagedDecoder(InPlaceDecoder[PagedCache]):
    """The border over a pool of blocks, with its accounts.

    Args:
        config: the decoder's shape and features.
        block_size: P, positions in a block.
        seed: of the weights.
    """

    storage: PagedStorage

    def __init__(self, config: Config, block_size: int, *, seed: int = 0) -> None:
        super().__init__(config, lambda weights: PagedStorage(weights, block_size), seed=seed)

    def release(self, cache: PagedCache) -> None:
        """Give back every block; the cache is refused from now on.

        Raises:
            InputError: it has been released before.
        """
        self._check(cache)
        cache.clear()
        cache.released = True

    def check_invariants(self, caches: Iterable[PagedCache]) -> None:
        """Compare the pool's accounts with ``caches``, all the live ones of this decoder.

        Raises:
            AssertionError: a wrong reference count, a block that leaks or is free and used, or a
                block table of the wrong number of blocks.
        """
        live = [cache for cache in caches if not cache.released]
        for cache in live:
            expected = cache.blocks_for(cache.length)
            if len(cache.table) != expected:
                raise AssertionError(
                    f"a cache of {cache.length} tokens has {len(cache.table)} blocks, "
                    f"not {expected}"
                )
        self.storage.pool.allocator.check(cache.table for cache in live)

    def _check(self, cache: Any) -> None:
        super()._check(cache)
        if cache.pool is not self.storage.pool:
            raise InputError("this cache's blocks are in the pool of another decoder")
        if cache.released:
            raise InputError("this cache was released; make or fork another one")


def paged(seed: int, dtype: Precision = "float64") -> PagedDecoder:
    """Blocks of 2 to 4 positions; a window is a mask alone: no block is given back for one."""
    block_size = 4 if seed == 0 else int(config_rng(seed).integers(2, 5))
    return PagedDecoder(small_config(seed, dtype), block_size, seed=seed)
