"""Caches that take tokens back: resets, rollbacks past the first token, drafts on a window."""

from __future__ import annotations

from typing import Any

from transformers import (
    DynamicCache,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

from benchmarks.history.adapters.plain import ATTENTION, SIZES, Plain

WINDOW = 6
MOST = 8
"""Tokens that `Emptied` holds at most, and takes back at once."""


class Reset(Plain):
    """Reset by the cache's own method."""

    def new_cache(self) -> dict[str, Any]:
        """The library's growing cache."""
        return {"past_key_values": DynamicCache(config=self.config)}

    def reset(self, cache: dict[str, Any]) -> dict[str, Any]:
        """Emptied in place."""
        cache["past_key_values"].reset()
        return cache


class Emptied(Reset):
    """Emptied by a rollback of as many tokens as there may be, which is more than there are."""

    max_length = MOST

    def reset(self, cache: dict[str, Any]) -> dict[str, Any]:
        """All tokens taken back: a negative number is how many."""
        cache["past_key_values"].crop(-MOST)
        return cache


class Drafting(Reset):
    """The cache that assisted generation makes: it keeps the past until it is told what to keep.

    A rollback on a full window lets go of what lies before the window, as the library says, so that
    a second one may only take back what came after the first: ``kept`` tokens stay.
    """

    window = WINDOW

    def new_cache(self) -> dict[str, Any]:
        """A growing cache that records."""
        cache = DynamicCache(config=self.config)
        cache.activate_past_recording()
        return {"past_key_values": cache}

    def extend(self, tokens: Any, cache: dict[str, Any]) -> tuple[Any, Any]:
        """A plain call; what the last rollback kept stays known."""
        kept = cache.get("kept", 0)
        found, after = super().extend(tokens, _held(cache))
        return found, {**after, "kept": kept}

    def crop(self, cache: dict[str, Any], length: int) -> dict[str, Any]:
        """Roll back, as a rejection of proposed tokens does.

        Raises:
            NotImplementedError: the past that this needs is gone.
        """
        if length < cache.get("kept", 0):
            raise NotImplementedError("a rollback behind the last one, whose past is gone")
        past = cache["past_key_values"]
        full = past.get_seq_length() >= WINDOW
        past.crop(length - past.get_seq_length())
        return {**cache, "kept": length if full else 0}


def _held(cache: dict[str, Any]) -> dict[str, Any]:
    return {name: held for name, held in cache.items() if name != "kept"}


def reset(seed: int) -> Reset:
    """Llama."""
    return Reset(LlamaForCausalLM, LlamaConfig(**SIZES, **ATTENTION), seed)


def emptied(seed: int) -> Emptied:
    """Llama."""
    return Emptied(LlamaForCausalLM, LlamaConfig(**SIZES, **ATTENTION), seed)


def drafting(seed: int) -> Drafting:
    """Mistral with a window."""
    config = MistralConfig(**SIZES, **ATTENTION, sliding_window=WINDOW)
    return Drafting(MistralForCausalLM, config, seed)
