"""What a running law leaves in the run's folder: progress, and its verdict.

That is how both come back from a worker process, and why nothing known is lost on Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

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
    """A verdict, and the file of its failing case if one was stored."""

    verdict: Verdict
    saved: Path | None


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path, shards: int = 1) -> None:
        self.path, self.shards = path, shards

    def note_progress(self, law: str, shard: int, count: int, classes: int) -> None:
        """Say how many cases were tried, and how many classes of calls they reached."""
        _put(self._count(law, shard), json.dumps({"count": count, "classes": classes}))

    def keep(self, verdict: Verdict, shard: int, saved: Path | None) -> None:
        """Say what a law's shard found."""
        kept = {"verdict": msgspec.to_builtins(verdict), "saved": str(saved) if saved else None}
        _put(self._verdict(verdict.law, shard), json.dumps(kept))

    def hang_note(self, law: str, shard: int) -> Path:
        """Where the place of a hang in native code is written."""
        return self.path / f"{law}.{shard}.hang"

    def hung_at(self, law: str) -> str | None:
        """The line whose call hung in native code, ``file.py:12``; None if none did."""
        for shard in range(self.shards):
            note = self.hang_note(law, shard)
            text = note.read_text() if note.exists() else ""
            if text and not self._verdict(law, shard).exists():
                main = text.rpartition("Thread 0x")[2]  # the main thread is written last
                line = re.search(r'File "([^"]+)", line (\d+)', main)
                return f"{Path(line[1]).name}:{line[2]}" if line else "an unknown place"
        return None

    def finished(self, law: str) -> list[ShardResult]:
        """What the shards of a law have found so far."""
        found = []
        for shard in range(self.shards):
            path = self._verdict(law, shard)
            if path.exists():
                kept = json.loads(path.read_text())
                saved = Path(kept["saved"]) if kept["saved"] else None
                found.append(ShardResult(msgspec.convert(kept["verdict"], Verdict), saved))
        return found

    def running(self, laws: Sequence[str]) -> dict[str, dict[str, int]]:
        """Progress of the laws that are at work: ``count`` and ``classes``."""
        progress: dict[str, dict[str, int]] = {}
        for law in laws:
            for shard in range(self.shards):
                if self._verdict(law, shard).exists():
                    continue
                with contextlib.suppress(OSError, ValueError):
                    noted: dict[str, Any] = json.loads(self._count(law, shard).read_text())
                    there = progress.setdefault(law, {"count": 0, "classes": 0})
                    there["count"] += noted["count"]
                    there["classes"] = max(there["classes"], noted["classes"])
        return progress

    def unfinished(self, laws: Sequence[str]) -> int:
        """Shards of laws without a verdict."""
        return sum(self.shards - len(self.finished(law)) for law in laws)

    def _count(self, law: str, shard: int) -> Path:
        return self.path / f"{law}.{shard}.count"

    def _verdict(self, law: str, shard: int) -> Path:
        return self.path / f"{law}.{shard}.json"


def merged(kept: Sequence[ShardResult]) -> ShardResult:
    """One verdict for the shards of a law: the gravest, its smallest case, all cases counted."""
    gravest = min(kept, key=lambda one: _rank(one.verdict))
    covered: Counter[str] = Counter()
    for one in kept:
        covered.update(dict(one.verdict.covered))
    verdict = replace(
        gravest.verdict,
        examples=sum(one.verdict.examples for one in kept),
        seconds=sum(one.verdict.seconds for one in kept),
        covered=tuple(sorted(covered.items())),
    )
    return replace(gravest, verdict=verdict)


def _rank(verdict: Verdict) -> tuple[int, Any]:
    size: Any = ()
    if verdict.schedule is not None and verdict.tokens is not None:
        size = size_of(Case(verdict.tokens, Schedule.parse(verdict.schedule)))
    return _WEIGHT.index(verdict.answer), size


def _put(path: Path, text: str) -> None:
    """Write in one step: whoever watches must not read half of it."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text)
    part.replace(path)
