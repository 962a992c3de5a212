"""Weights of a decoder whose layers share keys and values: pairs of an owner and a receiver."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from cachecheck.reference.config import Config
from cachecheck.reference.weights import Floats, Weights, draw_weights


@dataclass(frozen=True, eq=False)
class Receiver:
    """A layer without keys and values. Matrices act from the right: ``x @ matrix``."""

    query: Floats  # (width, H*D)
    output: Floats  # (H*D, width)


def draw_tied_weights(config: Config, seed: int) -> tuple[Weights, tuple[Receiver, ...]]:
    """Draw the owners, ``config.layers`` of them, and a receiver for each.

    Returns:
        Embedding, owners, learned positions and head, as the reference has them but with a
        fingerprint over the receivers as well; and the receivers.

    Raises:
        InputError: seed is not an integer >= 0.
    """
    owners = draw_weights(config, seed)
    # A third stream, beside the two of `draw_weights`: the owners keep their weights.
    rng = np.random.default_rng([seed, 5])
    width, query_width = config.width, config.heads * config.head_width

    def normal(rows: int, columns: int) -> Floats:
        array = rng.normal(0, 1 / np.sqrt(rows), (rows, columns)).astype(config.numpy_dtype)
        array.flags.writeable = False
        return array

    receivers = tuple(
        Receiver(normal(width, query_width), normal(query_width, width))
        for _ in range(config.layers)
    )
    digest = hashlib.sha256(owners.fingerprint.encode())
    for one in receivers:
        digest.update(one.query.tobytes() + one.output.tobytes())
    return replace(owners, fingerprint=digest.hexdigest()), receivers
