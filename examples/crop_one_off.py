"""my_decoder with a rollback that keeps one token too many: only laws about rollbacks see it."""

from my_decoder import MyDecoder as Right


class MyDecoder(Right):
    def crop(self, cache, length):
        keys, values = cache
        return keys[: length + 1], values[: length + 1]
