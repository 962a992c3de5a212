"""Laws as tests of anybody's suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cachecheck.errors import InputError
from cachecheck.laws import LAWS
from cachecheck.pytest_plugin import current_config
from cachecheck.session.law_run import LawRun, LawRunner
from cachecheck.target import Target, as_target, load_target
from cachecheck.verdict import Answer


@dataclass(frozen=True)
class LawCheck:
    """One law on one decoder; call it in a test."""

    law: str
    decoder: Any
    name: str
    known: str | None = None
    shard: int = 0

    def __call__(self) -> None:
        """Pass, fail, skip or xfail the test, as the law's verdict has it."""
        config = current_config()
        runner = LawRunner(config, self.name, self._target, store=self.known is None)
        run = runner.run(self.law, self.shard)
        if self.known is None:
            run.raise_for_pytest(config)
        else:
            self._expect_failure(run, self.known)

    def __repr__(self) -> str:
        return f"{self.law} on {self.name}"

    def _target(self) -> Target:
        if isinstance(self.decoder, str):
            return load_target(self.decoder)
        return as_target(self.decoder, self.name)

    def _expect_failure(self, run: LawRun, reason: str) -> None:
        """A known failure may fail; anything else means that the entry is out of date."""
        answer = run.verdict.answer
        if answer in (Answer.VIOLATED, Answer.ERROR):
            pytest.xfail(f"{reason} ({answer.value}: {run.verdict.message})")
        if answer is Answer.INCONCLUSIVE:
            pytest.skip(f"{answer.value}: {run.verdict.message}")
        said = "holds now" if answer is Answer.HOLDS else f"is {answer.value} here"
        pytest.fail(
            f"known failure {self.law!r} ({reason}) {said}: take it out of known_failures",
            pytrace=False,
        )


def parametrize_with_laws(
    decoder: Any,
    *,
    laws: Sequence[str] | None = None,
    known_failures: Mapping[str, str] | None = None,
    shards: int = 1,
) -> pytest.MarkDecorator:
    """One test a law: decorate a test that takes ``law`` and calls it.

    .. code-block:: python

        @cachecheck.parametrize_with_laws(MyDecoder, known_failures={"crop": "issue 12"})
        def test_my_decoder(law):
            law()

    Cases and seeds follow ``--cachecheck-seed``, ``--cachecheck-effort`` and
    ``--cachecheck-examples``.

    Args:
        decoder: a decoder, a factory of decoders that may take a seed, or the name of a target.
        laws: ids; all when None. Laws that the decoder offers nothing for are skipped.
        known_failures: by law, the reason why it is known to fail. It is run all the same: as long
            as it fails the test is an expected failure; once it holds, or is not offered, the test
            fails.
        shards: tests a law, each with its own cases, so that pytest-xdist spreads one law.

    Raises:
        InputError: an unknown law, a reason that is missing, or fewer than 1 shard.
    """
    chosen = list(LAWS) if laws is None else list(laws)
    known = dict(known_failures or {})
    unknown = [law for law in [*chosen, *known] if law not in LAWS]
    if unknown:
        raise InputError(f"unknown law {unknown[0]!r}; known: {', '.join(LAWS)}")
    idle = [law for law in known if law not in chosen]
    if idle:
        raise InputError(f"known failure {idle[0]!r} is not among the laws that are checked")
    if not all(isinstance(reason, str) and reason.strip() for reason in known.values()):
        raise InputError("each known failure needs its reason, as text")
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise InputError(f"shards must be an integer >= 1; got {shards!r}")
    checks = [
        pytest.param(
            LawCheck(law, decoder, _name(decoder), known.get(law), shard),
            id=law if shards == 1 else f"{law}-{shard}",
        )
        for law in chosen
        # A rare failure, found in one shard, would be missing in the others.
        for shard in range(1 if law in known else shards)
    ]
    return pytest.mark.parametrize("law", checks)


def _name(decoder: Any) -> str:
    """What to call it; a name that ``cachecheck replay`` can load where it has one."""
    if isinstance(decoder, str):
        return decoder
    named = decoder if hasattr(decoder, "__qualname__") else type(decoder)
    return f"{named.__module__}:{named.__qualname__}"
