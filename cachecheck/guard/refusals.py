"""Refusals of the decoder under test, told apart by their class and not by their words."""

from __future__ import annotations

from cachecheck.errors import Unsupported


class NotOfferedError(Unsupported):
    """The decoder lacks members; ``members`` names them as a reader would write them."""

    def __init__(self, members: str) -> None:
        super().__init__(f"not offered: {members}")
        self.members = members


class RefusedError(Unsupported):
    """The decoder raised NotImplementedError in its function named ``operation``."""

    def __init__(self, operation: str, words: str) -> None:
        super().__init__(f"{operation} refused: {words}")
        self.operation = operation
