"""A batch decoded in parts, as ``generate(low_memory=True)`` does: split, called, put together."""

from __future__ import annotations

from typing import Any

from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from benchmarks.history.adapters.plain import ATTENTION, SIZES, Plain, equal_lengths, rows


class Split(Plain):
    """Llama; the library splits its growing cache into rows, and makes one of them again."""

    even_batches = True

    def new_cache(self) -> dict[str, Any]:
        """The library's growing cache."""
        return {"past_key_values": DynamicCache()}

    def new_batch_cache(self, count: int) -> list[dict[str, Any]]:
        """Nothing to split yet: one for each row."""
        return [self.new_cache() for _ in range(count)]

    def extend_batch(self, sequences: Any, cache: Any) -> tuple[list[Any], Any]:
        """Row by row.

        Raises:
            NotImplementedError: rows of different lengths do not fit in one cache.
        """
        equal_lengths(sequences)
        parts = cache if isinstance(cache, list) else _parts(cache, len(sequences))
        outputs = [self.call(t, use_cache=True, **p) for t, p in zip(sequences, parts, strict=True)]
        whole = DynamicCache.from_batch_splits([one.past_key_values for one in outputs])
        return [rows(one) for one in outputs], {"past_key_values": whole}


def _parts(cache: dict[str, Any], count: int) -> list[dict[str, Any]]:
    parts = cache["past_key_values"].batch_split(count, 1)
    return [{"past_key_values": part} for part in parts]


def llama(seed: int) -> Split:
    """Llama."""
    return Split(LlamaForCausalLM, LlamaConfig(**SIZES, **ATTENTION), seed)
