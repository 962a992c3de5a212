"""my_decoder.py with one mistake: the mask of a chunk forgets that there is a history."""

import numpy as np


class MyDecoder:
    vocab_size = 50

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.embedding = rng.normal(size=(50, 16))
        self.query, self.key, self.value = rng.normal(size=(3, 16, 16)) / 4

    def attend(self, x, keys, values, mask):
        scores = np.where(mask, x @ self.query @ keys.T / 4, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return x + weights @ values / weights.sum(axis=1, keepdims=True)

    def full(self, tokens):
        x = self.embedding[tokens]
        return self.attend(x, x @ self.key, x @ self.value, np.tri(len(x), dtype=bool))

    def new_cache(self):
        return np.empty((0, 16)), np.empty((0, 16))

    def extend(self, tokens, cache):
        x = self.embedding[tokens]
        keys = np.concatenate([cache[0], x @ self.key])
        values = np.concatenate([cache[1], x @ self.value])
        mask = np.tri(len(x), len(keys), dtype=bool)
        return self.attend(x, keys, values, mask), (keys, values)
