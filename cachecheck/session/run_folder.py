"""The folder of a run, in which a running law leaves its progress and then its verdict.

That is how both come back from a worker process, and why nothing known is lost on Ctrl-C.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cachecheck.errors import InputError
from cachecheck.files import Stored
from cachecheck.schedule import Case, Schedule
from cachecheck.shrink import size_of
from cachecheck.verdict import Answer, Verdict

# The answer of a law whose shards differ: what says most about the decoder wins.
_WEIGHT = (
    Answer.VIOLATED,
    Answer.ERROR,
    Answer.INCONCLUSIVE,
    Answer.HOLDS,
    Answer.UNSUPPORTED,
)


@dataclass(frozen=True)
class ShardResult:
    """A law's verdict in one shard.

    Attributes:
        verdict: what it found.
        replay: what to type after ``cachecheck replay``, if its failing case was stored.
    """

    verdict: Verdict
    replay: str | None = None


@dataclass(frozen=True)
class Progress:
    """The cases that a law has tried so far.

    Attributes:
        cases: tried so far.
        classes: of calls that they have reached; see `schedule.coverage`.
    """

    cases: int
    classes: int


_RESULT = Stored("verdict", 1, ShardResult)
_PROGRESS = Stored("progress", 1, Progress)


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path, shards: int = 1) -> None:
        self.path, self.shards = path, shards

    def write_progress(self, law: str, shard: int, progress: Progress) -> None:
        """Say how far a law's shard has come."""
        _put(self._progress_file(law, shard), _PROGRESS.encode(progress, indent=0))

    def write_result(self, shard: int, result: ShardResult) -> None:
        """Say what a law's shard has found."""
        _put(self._result_file(result.verdict.law, shard), _RESULT.encode(result, indent=0))

    def hang_file(self, law: str, shard: int) -> Path:
        """The file that takes the place of a hang in native code."""
        return self.path / f"{law}.{shard}.hang"

    def hung_at(self, law: str) -> str | None:
        """The line whose call hung in native code, ``file.py:12``; None if none did."""
        for shard in range(self.shards):
            file = self.hang_file(law, shard)
            text = file.read_text() if file.exists() else ""
            if text and not self._result_file(law, shard).exists():
                main = text.rpartition("Thread 0x")[2]  # the main thread is written last
                line = re.search(r'File "([^"]+)", line (\d+)', main)
                return f"{Path(line[1]).name}:{line[2]}" if line else "an unknown place"
        return None

    def finished(self, law: str) -> list[ShardResult]:
        """The results of those shards of a law that have ended."""
        files = (self._result_file(law, shard) for shard in range(self.shards))
        return [_RESULT.read(file) for file in files if file.exists()]

    def running(self, laws: Sequence[str]) -> dict[str, Progress]:
        """Progress of the laws that are at work, all shards of one together."""
        found: dict[str, Progress] = {}
        for law in laws:
            for shard in range(self.shards):
                if self._result_file(law, shard).exists():
                    continue
                with contextlib.suppress(InputError):  # it has not begun
                    one = _PROGRESS.read(self._progress_file(law, shard))
                    so_far = found.get(law, Progress(0, 0))
                    found[law] = Progress(
                        so_far.cases + one.cases, max(so_far.classes, one.classes)
                    )
        return found

    def unfinished(self, laws: Sequence[str]) -> int:
        """The number of shards of ``laws`` that have no verdict yet."""
        return sum(self.shards - len(self.finished(law)) for law in laws)

    def _progress_file(self, law: str, shard: int) -> Path:
        return self.path / f"{law}.{shard}.progress"

    def _result_file(self, law: str, shard: int) -> Path:
        return self.path / f"{law}.{shard}.json"


def merged(results: Sequence[ShardResult]) -> ShardResult:
    """One result for the shards of a law: the gravest, its smallest case, all cases counted."""
    gravest = min(results, key=lambda one: _rank(one.verdict))
    covered: Counter[str] = Counter()
    for one in results:
        covered.update(dict(one.verdict.covered))
    verdict = replace(
        gravest.verdict,
        examples=sum(one.verdict.examples for one in results),
        seconds=sum(one.verdict.seconds for one in results),
        covered=tuple(sorted(covered.items())),
    )
    return replace(gravest, verdict=verdict)


def _rank(verdict: Verdict) -> tuple[int, Any]:
    size: Any = ()
    if verdict.schedule is not None and verdict.tokens is not None:
        size = size_of(Case(verdict.tokens, Schedule.parse(verdict.schedule)))
    return _WEIGHT.index(verdict.answer), size


def _put(path: Path, text: str) -> None:
    """Write in one step, since somebody watches; the folder is temporary and need survive nothing.

    `files.write_whole` waits for the disk, which is too long ten times a second.
    """
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
