import numpy as np


class Tiny:
    vocab_size = 20

    def __init__(self, seed):
        self.table = np.random.default_rng(seed).normal(size=(20, 8))

    def attend(self, x, past):
        scores = np.where(np.tri(len(x), len(past), len(past) - len(x)), x @ past.T, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights @ past / weights.sum(axis=1, keepdims=True)

    def full(self, tokens):
        return self.attend(self.table[tokens], self.table[tokens])

    def new_cache(self):
        return np.empty((0, 8))

    def extend(self, tokens, cache):
        past = np.concatenate([cache, self.table[tokens]])
        return self.attend(self.table[tokens], past), past
