"""The storage of the reference for another class of its cache."""

from __future__ import annotations

from collections.abc import Sequence

from cachecheck.reference import Cache
from cachecheck.reference.cache import LayerState
from cachecheck.reference.decoder import CopyingStorage


class CacheOfClass(CopyingStorage):
    """Makes caches of the class that a subclass names."""

    def new(self) -> Cache:
        """Empty layers."""
        return self._as_kind(super().new())

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> Cache:
        """The saved arrays as they are."""
        return self._as_kind(super().restore(layers, length, last_chunk))

    def _as_kind(self, plain: Cache) -> Cache:
        return self.cache_type(plain.layers, plain.length, plain.last_chunk, plain.fingerprint)
