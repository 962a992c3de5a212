"""The options of ``cachecheck fuzz``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cachecheck.pytest_plugin import EFFORTS


@dataclass(frozen=True)
class FuzzOptions:
    """The options of the command.

    Attributes:
        target: name of the decoder.
        laws: ids, all when empty.
        seed: of cases and weights.
        effort: a key of ``pytest_plugin.EFFORTS``.
        examples: cases a law, whatever the effort; None to leave it to that.
        seconds: go on for so long in place of a number of cases; None: do not.
        max_length: longest sequence, None for the default.
        call_timeout: seconds that one call of the decoder may take, None for ever.
        json_file: where verdicts go as JSON, None for nowhere.
        save: folder for failing cases.
        workers: pytest-xdist's ``-n``, None for this process.
        shards: tests a law, with cases of their own.
        pdb: enter the debugger where a law fails.
        junitxml: pytest's own report file.
        pytest_options: anything else for pytest.
    """

    target: str
    laws: tuple[str, ...] = ()
    seed: int = 0
    effort: str = "ci"
    examples: int | None = None
    seconds: float | None = None
    max_length: int | None = None
    call_timeout: float | None = None
    json_file: Path | None = None
    save: Path = Path("evidence/regressions")
    workers: str | None = None
    shards: int = 1
    pdb: bool = False
    junitxml: Path | None = None
    pytest_options: tuple[str, ...] = ()

    @property
    def cases(self) -> int:
        """Cases a law."""
        return EFFORTS[self.effort] if self.examples is None else self.examples

    @property
    def amount(self) -> str:
        """The amount of work asked for, in words."""
        if self.seconds is None:
            return f"{self.cases} examples a law"
        return f"{self.seconds:g} seconds"
