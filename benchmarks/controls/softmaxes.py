"""The softmax in other forms."""

from __future__ import annotations

import numpy as np

from benchmarks.controls.control import Control, factory_of, float32_factory_of
from benchmarks.controls.own_pass import BothWays, OwnPass
from cachecheck.reference import softmax
from cachecheck.reference.masks import Bools
from cachecheck.reference.weights import Floats


class FiniteFiller(OwnPass):
    """Masked scores are -1e30, and not minus infinity."""

    def weigh(self, scores: Floats, mask: Bools) -> Floats:
        """Probabilities (H, T, S)."""
        return softmax(np.where(mask, scores, scores.dtype.type(-1e30)))


class NoMaximum(OwnPass):
    """The exponentials of the scores as they are."""

    def weigh(self, scores: Floats, mask: Bools) -> Floats:
        """Probabilities (H, T, S)."""
        exponentials = np.exp(np.where(mask, scores, -np.inf))  # (H, T, S)
        return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


class SoftmaxPlusOne(BothWays):
    """A one in the denominator: attention to nothing, in both passes."""

    def weigh(self, scores: Floats, mask: Bools) -> Floats:
        """Weights (H, T, S) that sum to less than 1."""
        exponentials = np.exp(np.where(mask, scores, -np.inf))  # (H, T, S)
        return np.asarray(exponentials / (1 + exponentials.sum(axis=-1, keepdims=True)))


class WideSoftmax(OwnPass):
    """The softmax in float64, everything else in float32."""

    def weigh(self, scores: Floats, mask: Bools) -> Floats:
        """Probabilities (H, T, S)."""
        return super().weigh(scores.astype(np.float64), mask).astype(scores.dtype)


SOFTMAXES = (
    Control(
        "finite-mask-filler",
        "Masked scores are a finite number, so that masked keys could get some weight.",
        "Every row sees a key, beside which the exponential of -1e30 is exactly zero.",
        factory_of(FiniteFiller),
    ),
    Control(
        "softmax-without-maximum",
        "The softmax does not subtract the maximum and would overflow on large scores.",
        "Its scores are of order one and never large.",
        factory_of(NoMaximum),
    ),
    Control(
        "softmax-plus-one",
        "Attention weights do not sum to one, as if a key had been lost.",
        "Both passes have the same extra one in the denominator, by design.",
        factory_of(SoftmaxPlusOne),
    ),
    Control(
        "softmax-in-float64",
        "The cached pass uses another precision than the full pass in its softmax.",
        "More digits in between change the rows by rounding of float32 alone.",
        float32_factory_of(WideSoftmax),
        fixed_dtype="float32",
    ),
)
