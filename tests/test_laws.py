"""Every law holds on what is right, and is shown to fail on a small decoder broken in many ways.

The decoder averages the embeddings of the tokens so far. It is as small as a causal decoder with
a cache can be, so that each fault below is one visible line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cachecheck.errors import Unsupported
from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target, load_target
from cachecheck.verdict import Answer, Code, Verdict

Array = NDArray[np.float64]
QUICK = Effort(examples=40)


class Mean:
    """Row p is the mean of the embeddings of tokens 0 ... p; the cache is their count and sum."""

    vocab_size = 8

    def __init__(self, seed: int = 0) -> None:
        self.embedding = np.random.default_rng(seed).normal(size=(8, 4))

    def full(self, tokens: Any) -> Array:
        return self.rows(tokens, 0, np.zeros(4))

    def rows(self, tokens: Any, count: int, total: Array) -> Array:
        sums = total + self.embedding[tokens].cumsum(axis=0)
        return np.asarray(sums / (count + np.arange(1, len(tokens) + 1))[:, None])

    def new_cache(self) -> Any:
        return 0, np.zeros(4)

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        count, total = cache
        after = count + len(tokens), total + self.embedding[tokens].sum(axis=0)
        return self.rows(tokens, count, total), after


class InPlace(Mean):
    """The same with a cache that is changed in place, and says so."""

    mutates_cache = True

    def new_cache(self) -> Any:
        return {"count": 0, "total": np.zeros(4)}

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        rows = self.rows(tokens, cache["count"], cache["total"].copy())
        cache["count"] += len(tokens)
        cache["total"] += self.embedding[tokens].sum(axis=0)
        return rows, cache


class Leaks(Mean):
    """Causality: every row sees the last token."""

    def full(self, tokens: Any) -> Array:
        return np.asarray(super().full(tokens) + 0.1 * self.embedding[tokens[-1]])


class KnowsTheLength(Mean):
    """Prefix: rows are scaled by the length of the pass; no later token is looked at."""

    def full(self, tokens: Any) -> Array:
        return super().full(tokens) * len(tokens)


class RestartsCounting(Mean):
    """Schedule: the count of a chunk's rows starts from 0."""

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        _, after = super().extend(tokens, cache)
        return self.rows(tokens, 0, cache[1]), after


class UndeclaredInPlace(InPlace):
    """Frame: changes the cache it was given, against what it declares."""

    mutates_cache = False


class SharedStorage(Mean):
    """Frame: all branches append to one list, and count on nobody else appending."""

    def new_cache(self) -> Any:
        return 0, []

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        count, stored = cache
        stored[count:] = []  # what a sibling appended is cut off ...
        before = len(stored)
        stored.extend(tokens.tolist())
        return self.full(np.array(stored))[before:], (count + len(tokens), stored)


class SharedBuffer(Mean):
    """Frame: siblings write to the same places of one buffer; only a later row shows it."""

    def new_cache(self) -> Any:
        return 0, np.zeros(200, np.int64)

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        count, buffer = cache
        buffer[count : count + len(tokens)] = tokens
        rows = self.full(buffer[: count + len(tokens)])[count:]
        return rows, (count + len(tokens), buffer)


class HiddenScribble(Mean):
    """Frame, by bytes alone: a field that no row depends on is changed in the given cache."""

    def new_cache(self) -> Any:
        return 0, np.zeros(4), np.zeros(1)

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        count, total, scratch = cache
        scratch += 1
        rows, (count, total) = super().extend(tokens, (count, total))
        return rows, (count, total, scratch.copy())

    def state(self, cache: Any) -> Any:
        return [{"total": cache[1], "scratch": cache[2]}]


class OneCacheForAll(InPlace):
    """Frame, in place: every new cache is the same object."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.only = super().new_cache()

    def new_cache(self) -> Any:
        self.only.update(super().new_cache())
        return self.only


class ForgetsOnNewCache(Mean):
    """Frame: the counts live in the decoder, one for each cache; a new cache clears them all."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.counts: dict[int, int] = {}

    def new_cache(self) -> Any:
        self.counts.clear()
        return 0, np.zeros(4)

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        length, total = cache
        count = self.counts.get(length, 0)
        rows, (_, after) = super().extend(tokens, (count, total))
        self.counts[length + len(tokens)] = count + len(tokens)
        return rows, (length + len(tokens), after)


class CopiesForTheFirstChildOnly(Mean):
    """Frame: the first branch gets a copy of the buffer, the second one writes in place."""

    def new_cache(self) -> Any:
        return {"tokens": np.zeros(200, np.int64), "count": 0, "copied": False}

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        buffer = cache["tokens"] if cache["copied"] else cache["tokens"].copy()
        cache["copied"] = True
        count, stop = cache["count"], cache["count"] + len(tokens)
        buffer[count:stop] = tokens
        rows = self.full(buffer[:stop])[count:]
        return rows, {"tokens": buffer, "count": stop, "copied": False}


class RemembersInItself(Mean):
    """Frame: the position is kept in the decoder, so two caches in turn confuse it."""

    position = 0

    def new_cache(self) -> Any:
        self.position = 0
        return np.zeros(4)

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        rows = self.rows(tokens, self.position, cache)
        self.position += len(tokens)
        return rows, cache + self.embedding[tokens].sum(axis=0)


class FullDisturbs(Mean):
    """Frame: a full pass in between resets what the cached path relies on."""

    scale = 1.0

    def full(self, tokens: Any) -> Array:
        self.scale = float(len(tokens))
        return super().full(tokens)

    def new_cache(self) -> Any:
        self.scale = 1.0
        return super().new_cache()

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        rows, after = super().extend(tokens, cache)
        return rows * self.scale, after


class ConstantRows(Mean):
    """Sensitivity: equal everywhere, for nothing."""

    def rows(self, tokens: Any, count: int, total: Array) -> Array:  # noqa: ARG002
        return np.ones((len(tokens), 4))


class IgnoresItsCache(Mean):
    """Sensitivity: rows depend on their own token alone, in both paths."""

    def rows(self, tokens: Any, count: int, total: Array) -> Array:  # noqa: ARG002
        return np.asarray(self.embedding[tokens])


def verdict(law: str, factory: Callable[..., Any], effort: Effort = QUICK) -> Verdict:
    """What a short search finds."""
    return search(LAWS[law], as_target(factory, factory.__name__), effort)[0]


PLAIN = [law.id for law in LAWS.values() if not law.needs]
"""Laws that three functions are enough for; `test_laws_operations` has the others."""


@pytest.mark.parametrize("law", PLAIN)
@pytest.mark.parametrize("decoder", [Mean, InPlace])
def test_every_law_holds_on_a_right_decoder(law: str, decoder: type) -> None:
    found = verdict(law, decoder)
    assert found.answer is Answer.HOLDS
    assert found.examples == QUICK.examples or found.examples > 20  # few cases exist for some laws


@pytest.mark.parametrize("law", PLAIN)
def test_every_law_holds_on_the_reference_in_many_configurations(law: str) -> None:
    found = search(LAWS[law], load_target("reference"), Effort(seed=1, examples=15))[0]
    assert found.answer is Answer.HOLDS
    assert found.tolerance is not None
    assert found.largest_difference is not None
    assert (found.largest_difference < found.tolerance) is LAWS[law].everywhere


BROKEN: dict[type[Mean], tuple[str, str, str]] = {
    Leaks: ("causality", "future-leak", "1+1"),
    KnowsTheLength: ("prefix", "length-dependence", "1+1"),
    RestartsCounting: ("schedule", "rows", "1+1"),
    UndeclaredInPlace: ("frame", "input-changed", "1"),
    SharedStorage: ("frame", "branches-share", "1"),
    SharedBuffer: ("frame", "branches-share", "1"),
    HiddenScribble: ("frame", "bytes", "1"),
    OneCacheForAll: ("frame", "caches-share", "1"),
    ForgetsOnNewCache: ("frame", "caches-share", "1+2"),
    CopiesForTheFirstChildOnly: ("frame", "branches-share", "1"),
    RemembersInItself: ("frame", "caches-share", "1"),
    FullDisturbs: ("frame", "caches-share", "2"),
    ConstantRows: ("sensitivity", "ignored", "1+1"),
    IgnoresItsCache: ("sensitivity", "ignored", "1+1"),
}


@pytest.mark.parametrize("decoder", BROKEN, ids=lambda decoder: decoder.__name__)
def test_each_fault_breaks_its_law_at_its_smallest_schedule(decoder: type[Mean]) -> None:
    law, kind, schedule = BROKEN[decoder]
    found = verdict(law, decoder)
    assert found.answer is Answer.VIOLATED, found
    assert found.violation is not None
    assert (found.violation.kind, found.schedule) == (kind, schedule)


def test_every_law_is_shown_to_fail() -> None:
    elsewhere = {"determinism", "branch", "programs"}  # in test_laws_operations
    assert {law for law, _, _ in BROKEN.values()} | elsewhere == set(PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("decoder", [ConstantRows, IgnoresItsCache])
def test_an_idle_decoder_breaks_sensitivity_and_holds_nothing_else(decoder: type) -> None:
    answers = {law: verdict(law, decoder).answer for law in PLAIN}
    assert answers.pop("sensitivity") is Answer.VIOLATED
    assert set(answers.values()) == {Answer.INCONCLUSIVE}


def test_a_wrong_schedule_is_not_blamed_on_the_frame() -> None:
    assert verdict("frame", RestartsCounting).answer is Answer.HOLDS


class Whisper(Mean):
    """History moves rows by less than the tolerance."""

    def rows(self, tokens: Any, count: int, total: Array) -> Array:
        faint: Array = super().rows(tokens, count, total) * 1e-14
        return np.asarray(self.embedding[tokens] + faint)


def test_a_signal_within_the_tolerance_is_inconclusive() -> None:
    found = verdict("sensitivity", Whisper)
    assert found.answer is Answer.INCONCLUSIVE
    assert "mistakes in the cache would look like rounding" in found.message
    assert found.largest_difference is not None
    assert found.largest_difference > 0


class RefusesNearlyAll(Mean):
    """A clean refusal of whatever comes onto a history, but for the guard's probe."""

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        if cache[0] > 1 or (cache[0] and len(tokens) > 1):
            raise NotImplementedError("decoding needs the fused kernel")
        return super().extend(tokens, cache)


def test_a_decoder_that_refuses_most_cases_does_not_hold() -> None:
    found = verdict("schedule", RefusesNearlyAll)
    assert found.answer is Answer.INCONCLUSIVE
    assert "decoding needs the fused kernel" in found.message


class NoWindow(Mean):
    """A window of one: there is no history to be sensitive to."""

    window = 1

    def rows(self, tokens: Any, count: int, total: Array) -> Array:  # noqa: ARG002
        return np.asarray(self.embedding[tokens])


def test_a_window_of_one_leaves_sensitivity_unsupported() -> None:
    found = verdict("sensitivity", NoWindow)
    assert found.answer is Answer.UNSUPPORTED
    assert found.message == "with a window of 1 no row sees a cached token"


class RefusesChunks(Mean):
    """A clean refusal: only single tokens onto history."""

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        if cache[0] and len(tokens) > 1:
            raise Unsupported("one token at a time, please")
        return super().extend(tokens, cache)


def test_a_refusal_is_no_violation_and_is_quoted() -> None:
    """It held where fewer than 20 cases were tried, though no chunk had ever been accepted."""
    found = verdict("schedule", RefusesChunks)
    assert found.answer is Answer.INCONCLUSIVE
    assert found.has(Code.SINGLE_TOKENS)
    assert "one token at a time, please" in found.message


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.id)
def test_each_law_says_what_it_means_why_and_what_it_does_not(law: Any) -> None:
    for text in (law.statement, law.reason, law.not_claimed):
        assert text[0].isupper()
        assert text.endswith(".")


class Faint(Mean):
    """Chunks onto history are off by a millionth: float32 rounding, or a mistake?"""

    def extend(self, tokens: Any, cache: Any) -> tuple[Array, Any]:
        rows, after = super().extend(tokens, cache)
        return rows + (1e-6 if cache[0] else 0.0), after


class FaintFloat64(Faint):
    """The same by a decoder that says that its arithmetic is float64."""

    dtype = "float64"


class FaintFloat32(Faint):
    """The same by a decoder that says that its arithmetic is float32."""

    dtype = "float32"


def test_a_millionth_is_doubtful_until_the_decoder_declares_its_dtype() -> None:
    undeclared = verdict("schedule", Faint)
    assert undeclared.answer is Answer.INCONCLUSIVE
    assert "declare the decoder's dtype" in undeclared.message
    assert undeclared.schedule is not None
    assert verdict("schedule", FaintFloat64).answer is Answer.VIOLATED
    assert verdict("schedule", FaintFloat32).answer is Answer.HOLDS


class HugeColumn(RestartsCounting):
    """The schedule's fault beside a column of padding that dwarfs it."""

    def rows(self, tokens: Any, count: int, total: Array) -> Array:
        few = super().rows(tokens, count, total)
        return np.concatenate([few, few * 2, few + 1, np.full((len(tokens), 1), -1e9)], axis=1)


def test_a_huge_column_does_not_hide_a_fault_in_the_others() -> None:
    assert verdict("schedule", HugeColumn).answer is Answer.VIOLATED


class Cancels(Mean):
    """Rows that cancel to rounding when all tokens are equal: nothing to be compared with."""

    def rows(self, tokens: Any, count: int, total: Array) -> Array:
        mean = super().rows(tokens, count, total)
        return np.asarray(self.embedding[tokens] - mean)


def test_rows_that_cancel_are_measured_by_the_decoders_typical_ones() -> None:
    assert verdict("schedule", Cancels, Effort(examples=200)).answer is Answer.HOLDS
