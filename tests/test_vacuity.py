"""Guards against passing for nothing: each fires, and none fires on a decoder at work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cachecheck.errors import Unsupported
from cachecheck.guard import Guarded
from cachecheck.judge.vacuity import idle_rows, without_history
from cachecheck.laws import LAWS
from cachecheck.reference.caches import CACHES
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Answer, Code, Verdict
from tests.decoders_for_tests import Sums


class Constant(Sums):
    """The same row for every token."""

    def full(self, tokens: Any) -> Any:
        return np.ones((len(tokens), 4))

    def extend(self, tokens: Any, cache: Any) -> Any:
        return np.ones((len(tokens), 4)), cache


class Alone(Sums):
    """A row is its own token's embedding."""

    def full(self, tokens: Any) -> Any:
        return self.embedding[tokens]

    def extend(self, tokens: Any, cache: Any) -> Any:
        return self.embedding[tokens], cache


class Pairs(Sums):
    """A row sees its own token and the one before it, as saturated attention may."""

    def full(self, tokens: Any) -> Any:
        return self.embedding[tokens] + np.vstack([np.zeros(4), self.embedding[tokens[:-1]]])

    def extend(self, tokens: Any, cache: Any) -> Any:
        before = np.vstack([cache[0], self.embedding[tokens[:-1]]])
        return self.embedding[tokens] + before, (self.embedding[tokens[-1]], 0)


class CacheIgnored(Sums):
    """A right full pass, and calls that start anew."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        return super().extend(tokens, (np.zeros(4), cache[1]))


class OneAtATime(Sums):
    """Refuses calls of several tokens onto a history."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        if cache[1] and len(tokens) > 1:
            raise Unsupported("one token at a time")
        return super().extend(tokens, cache)


IDLE = {
    Constant: Code.CONSTANT_ROWS,
    Alone: Code.OWN_ROW_ALONE,
    Pairs: Code.ONE_EARLIER,
    CacheIgnored: Code.IDLE_CACHE,
}


def verdict(make: Any, law: str) -> Verdict:
    return search(LAWS[law], as_target(make, "decoder"), Effort(examples=100))[0]


@pytest.mark.parametrize("make", IDLE, ids=lambda make: make.__name__)
def test_a_decoder_that_cannot_show_a_mistake_holds_nothing(make: Any) -> None:
    assert idle_rows(Guarded(make())) is IDLE[make]
    law = "determinism" if make is CacheIgnored else "schedule"
    found = verdict(make, law)
    assert found.answer is Answer.INCONCLUSIVE
    assert found.has(IDLE[make])
    assert "no mistake could have been found: " in found.message


@pytest.mark.parametrize("name", CACHES)
def test_the_reference_caches_are_all_at_work(name: str) -> None:
    for seed in range(4):
        assert idle_rows(Guarded(CACHES[name](seed))) is None
    assert idle_rows(Guarded(Sums())) is None


def test_cases_without_history_show_nothing() -> None:
    assert without_history({("0", "8+", "none"): 30}, 30) is Code.NO_HISTORY
    singles = {("0", "8+", "none"): 30, ("2-7", "1", "none"): 90}
    assert without_history(singles, 30) is Code.SINGLE_TOKENS
    assert without_history(singles, 5) is None  # too few cases to say
    assert without_history(singles, 5, refused=True) is Code.SINGLE_TOKENS
    assert without_history(singles | {("1", "2-7", "none"): 1}, 30) is None


def test_a_decoder_that_takes_one_token_at_a_time_is_not_said_to_hold() -> None:
    found = verdict(OneAtATime, "schedule")
    assert found.answer is Answer.INCONCLUSIVE
    assert "no call of two or more tokens was made on a filled cache" in found.message


@pytest.mark.parametrize("law", ["schedule", "branch", "programs"])
@pytest.mark.parametrize("examples", [8, 20, 50])
def test_so_it_is_with_few_cases_and_under_every_law_of_calls(law: str, examples: int) -> None:
    """It held with 20 cases, of which 7 were not refused; and `programs` held with any number."""
    found, _ = search(LAWS[law], as_target(OneAtATime, "it"), Effort(examples=examples))
    assert found.answer is Answer.INCONCLUSIVE
    assert found.has(Code.SINGLE_TOKENS) or found.has(Code.MOSTLY_REFUSED)


def test_a_window_that_explains_idleness_is_no_reason_for_doubt() -> None:
    class Windowed(Alone):
        window = 1

    class WindowOfTwo(Pairs):
        window = 2

    assert idle_rows(Guarded(Windowed())) is idle_rows(Guarded(WindowOfTwo())) is None
