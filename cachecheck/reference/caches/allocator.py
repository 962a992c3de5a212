"""Reference counts of the blocks in a pool: how many block tables use each."""

from __future__ import annotations

from collections.abc import Iterable


class BlockAllocator:
    """Reference counts of numbered blocks; the pool doubles when none is free.

    Attributes:
        capacity: blocks in the pool, free or used.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._counts = [0] * capacity
        self._free = list(range(capacity))[::-1]  # a stack; the lowest block comes first

    def allocate(self) -> int:
        """A free block, now with one reference."""
        if not self._free:
            self._free = list(range(self.capacity, 2 * self.capacity))[::-1]
            self._counts += [0] * self.capacity
            self.capacity *= 2
        block = self._free.pop()
        self._counts[block] = 1
        return block

    def share(self, block: int) -> None:
        """One reference more to a used block.

        Raises:
            RuntimeError: the block is free.
        """
        if self.count(block) == 0:
            raise RuntimeError(f"block {block} is free; only a used block can be shared")
        self._counts[block] += 1

    def release(self, block: int) -> None:
        """One reference less; the last one frees the block.

        Raises:
            RuntimeError: the block is free already.
        """
        if self.count(block) == 0:
            raise RuntimeError(f"block {block} is free already; it was released once too often")
        self._counts[block] -= 1
        if self._counts[block] == 0:
            self._free.append(block)

    def count(self, block: int) -> int:
        """References to ``block``; 0 for a free one."""
        if not 0 <= block < self.capacity:
            raise RuntimeError(f"there is no block {block} in a pool of {self.capacity}")
        return self._counts[block]

    def used(self) -> int:
        """Blocks that somebody refers to."""
        return sum(count > 0 for count in self._counts)

    def check(self, tables: Iterable[Iterable[int]]) -> None:
        """Compare the counts with the references from all block tables there are.

        Raises:
            AssertionError: naming the first block whose account is wrong.
        """
        references = [0] * self.capacity
        for table in tables:
            for block in table:
                if not 0 <= block < self.capacity:
                    raise AssertionError(f"a block table names block {block} of {self.capacity}")
                references[block] += 1
        if len(set(self._free)) != len(self._free):
            raise AssertionError("a block is in the list of free blocks twice")
        free = set(self._free)
        for block, (count, expected) in enumerate(zip(self._counts, references, strict=True)):
            if expected and block in free:
                raise AssertionError(f"block {block} is both free and in {expected} block tables")
            if count and not expected:
                raise AssertionError(f"block {block} leaks: count {count}, in no block table")
            if count != expected:
                raise AssertionError(f"block {block} has count {count}, is in {expected} tables")
            if not count and block not in free:
                raise AssertionError(f"block {block} leaks: count 0, but not free")
