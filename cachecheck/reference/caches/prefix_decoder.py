"""The border over a pool of blocks that are found again by their content."""

from __future__ import annotations

from typing import Any

from cachecheck.reference.caches.paged import PagedCache
from cachecheck.reference.caches.paged_decoder import PagedDecoder
from cachecheck.reference.caches.prefix import PrefixCache, PrefixStorage
from cachecheck.reference.caches.random_configs import config_rng, small_config
from cachecheck.reference.checks import check_tokens
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.weights import Floats


class PrefixDecoder(PagedDecoder):
    """The border over published blocks.

    Args:
        config: the decoder's shape and features.
        block_size: P, positions in a block.
        seed: of the weights.
    """

    storage: PrefixStorage

    def __init__(self, config: Config, block_size: int, *, seed: int = 0) -> None:
        super().__init__(config, block_size, seed=seed)
        self.storage = PrefixStorage(self.weights, block_size)

    def extend(self, tokens: Any, cache: PagedCache) -> tuple[Floats, PagedCache]:
        """The chunk's rows (T, width) and the cache that holds it too.

        Raises:
            InputError: bad tokens, a cache of another decoder, or ``max_length`` exceeded.
        """
        self._check(cache)
        assert isinstance(cache, PrefixCache)  # noqa: S101 - _check has made sure
        cache.look_up(check_tokens(tokens, self.vocab_size).tolist())
        return super().extend(tokens, cache)


def prefix(seed: int, dtype: Precision = "float64") -> PrefixDecoder:
    """Blocks of 2 or 3 positions over two tokens, so that equal beginnings are common.

    Two layers: keys and values of the first do not depend on what came before their token.
    """
    if seed == 0:
        return PrefixDecoder(small_config(0, dtype, vocab_size=2), 2, seed=0)
    config = small_config(seed, dtype, vocab_size=2, layers=2)
    return PrefixDecoder(config, int(config_rng(seed).integers(2, 4)), seed=seed)
