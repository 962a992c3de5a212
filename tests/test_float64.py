"""A doubtful difference in a short precision is settled by the same decoder in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cachecheck.errors import DecoderError
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Answer, Verdict
from tests.decoders_for_tests import Sums


class Noisy(Sums):
    """float32, with more rounding in its cached path than the tolerance allows, less than doubt."""

    dtype: Any = "float32"
    error, error64 = 2e-4, 0.0

    def __init__(self, seed: int = 0, *, exact: bool = False) -> None:
        super().__init__(seed)
        self.seed, self.exact = seed, exact
        if exact:
            self.dtype = "float64"

    def full(self, tokens: Any) -> Any:
        return self.cast(super().full(tokens))

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        off = self.error64 if self.exact else self.error
        return self.cast(rows * (1 + off * (cache[1] > 0))), after

    def cast(self, rows: Any) -> Any:
        return rows if self.exact else rows.astype(np.float32)


class Settled(Noisy):
    def as_float64(self) -> Any:
        return type(self)(self.seed, exact=True)


class AsWrongInFull(Settled):
    """The full pass is as far from float64 as the cached one: so much is rounding here."""

    def full(self, tokens: Any) -> Any:
        rows = super().full(tokens)
        return rows if self.exact else rows * np.float32(1 + 1e-4)


class Mistaken(Settled):
    """The difference is as large in float64: no rounding."""

    error64 = 2e-4


class Refuses(Noisy):
    def as_float64(self) -> Any:
        raise NotImplementedError("only float32 kernels")


def verdict(make: Any) -> Verdict:
    return search(LAWS["schedule"], as_target(make, "decoder"), Effort(examples=30))[0]


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (Noisy, Answer.INCONCLUSIVE),
        (Refuses, Answer.INCONCLUSIVE),
        (Settled, Answer.INCONCLUSIVE),
        (AsWrongInFull, Answer.HOLDS),
        (Mistaken, Answer.VIOLATED),
    ],
)
def test_doubt_is_settled_where_float64_can_be_asked(make: Any, answer: Answer) -> None:
    assert verdict(make).answer is answer


def test_what_is_settled_as_a_mistake_shrinks_like_any_other() -> None:
    assert verdict(Mistaken).schedule == "1+1"


def test_a_float64_that_is_no_decoder_is_an_error() -> None:
    class Half(Noisy):
        def as_float64(self) -> Any:
            return object()

    with pytest.raises(
        DecoderError, match=r"as_float64\(\) did not return a decoder: object lacks"
    ):
        Guarded(Half()).float64  # noqa: B018 - the property raises
    assert verdict(Half).answer is Answer.ERROR


def test_a_float64_of_other_weights_is_an_error() -> None:
    class Another(Settled):
        def as_float64(self) -> Any:
            return type(self)(self.seed + 1, exact=True)

    with pytest.raises(DecoderError, match=r"as_float64\(\) gives different rows"):
        Guarded(Another()).float64  # noqa: B018 - the property raises


def test_a_float64_that_declares_no_dtype_settles_all_the_same() -> None:
    class Undeclared(Mistaken):
        def as_float64(self) -> Any:
            twin = type(self)(self.seed, exact=True)
            del twin.dtype
            return twin

    Undeclared.dtype = None
    found = verdict(Undeclared)
    assert found.answer is Answer.VIOLATED


def test_what_the_float64_raises_is_said_to_be_its_own() -> None:
    class Fails(Settled):
        def full(self, tokens: Any) -> Any:
            if self.exact and len(tokens) > 2:
                raise RuntimeError("no such kernel")
            return super().full(tokens)

    found = verdict(Fails)
    assert found.answer is Answer.ERROR
    assert "as_float64().full(" in found.message
