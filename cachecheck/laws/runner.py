"""A schedule run on a decoder, step by step, beside the tokens that every branch should hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cachecheck.guard import Guarded, Rows
from cachecheck.schedule import (
    FIRST,
    Append,
    Branches,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Step,
)


@dataclass(frozen=True)
class SequenceRows:
    """The rows that one call gave for one sequence.

    Attributes:
        tokens: the whole sequence, the call's own tokens included.
        past: the number of tokens before the call.
        rows: (T, width) the call's rows.
        sequence: index of the sequence in its batch; None for one alone.
    """

    tokens: tuple[int, ...]
    past: int
    rows: Rows
    sequence: int | None = None


class ScheduleRunner:
    """The live caches of a decoder, by the name of their branch, and the steps taken on them."""

    def __init__(self, decoder: Guarded) -> None:
        self.decoder = decoder
        self.branches = Branches()
        self.performed: set[str] = set()
        self._caches: dict[str, Any] = {}

    def do(self, step: Step, tokens: Sequence[int] = ()) -> list[SequenceRows]:
        """Take one step; an append returns one entry for each of its sequences.

        Raises:
            InputError: the step does not fit.
            Unsupported: the decoder refuses; neither branches nor caches have moved then.
            DecoderError: an answer that cannot be used.
        """
        before = self.branches.live.get(step.branch)
        ahead = Branches(dict(self.branches.live), set(self.branches.ended))
        ahead.apply(step, tokens)
        rows = self._perform(step, tokens)
        self.branches = ahead
        self.performed.add(step.operation)
        if not isinstance(step, Append):
            return []
        after = ahead.live[step.branch]
        if after.batch:
            self.performed.add("batch")
        assert before is not None  # noqa: S101 - `apply` refuses an unknown branch
        return [
            SequenceRows(tokens, len(past), some, at if after.batch else None)
            for at, (tokens, past, some) in enumerate(
                zip(after.rows, before.rows, rows, strict=True)
            )
        ]

    def _perform(self, step: Step, tokens: Sequence[int]) -> list[Rows]:
        decoder, caches, name = self.decoder, self._caches, step.branch
        match step:
            case Append():
                return self._append(step, tokens)
            case New(rows=count):
                caches[name] = (
                    decoder.new_cache() if count is None else decoder.new_batch_cache(count)
                )
            case Fork(source=source, rows=rows):
                copied = decoder.fork(self._cache(source))
                caches[name] = copied if rows is None else decoder.reorder(copied, rows)
            case Merge(sources=sources):
                merged = decoder.merge([self._cache(source) for source in sources])
                for old in [caches.pop(source) for source in sources]:
                    if old is not merged:
                        self._release_unshared(old)
                caches[name] = merged
            case Release():
                self._release_unshared(self._cache(name), name)
                del caches[name]
            case _:
                old = self._cache(name)
                caches[name] = self._changed(step, old)
                if isinstance(step, Save):
                    self._release_unshared(old)
        return []

    def _changed(self, step: Crop | Save | Reset | Reorder, cache: Any) -> Any:
        """The cache of the step's branch after an operation on it alone."""
        match step:
            case Crop(length=length):
                return self.decoder.crop(cache, length)
            case Reorder(rows=rows):
                return self.decoder.reorder(cache, rows)
            case Reset():
                return self.decoder.reset(cache)
            case Save():
                data = self.decoder.save(cache)
                self._use_once(
                    self.decoder.load(data), len(self.branches.live[step.branch].rows[0])
                )
                return self.decoder.load(data)

    def _use_once(self, cache: Any, length: int) -> None:
        """Extend a loaded cache by one token: a stored prompt is loaded and used many times."""
        most = self.decoder.capabilities.max_length
        if length > 0 and (most is None or length < most):
            _, cache = self.decoder.extend([0], cache)
        self.decoder.release(cache)

    def _release_unshared(self, cache: Any, branch: str | None = None) -> None:
        """Release a cache that no other branch holds: forks of values are the values themselves."""
        others = (other for name, other in self._caches.items() if name != branch)
        if not any(other is cache for other in others):
            self.decoder.release(cache)

    def _append(self, step: Append, tokens: Sequence[int]) -> list[Rows]:
        cache = self._cache(step.branch)
        if not self.branches.live[step.branch].batch:
            some, self._caches[step.branch] = self.decoder.extend(tokens, cache)
            return [some]
        arrays, at = [], 0
        for size in step.sizes:
            arrays.append(tokens[at : at + size])
            at += size
        rows, self._caches[step.branch] = self.decoder.extend_batch(arrays, cache)
        return rows

    def _cache(self, name: str) -> Any:
        if name == FIRST and name not in self._caches:
            self._caches[name] = self.decoder.new_cache()
        return self._caches[name]
