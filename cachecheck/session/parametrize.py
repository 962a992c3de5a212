"""Laws as tests of anybody's suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cachecheck.errors import InputError
from cachecheck.pytest_plugin import LAW_WAS_CALLED, LawParameter, running_test
from cachecheck.search.check import chosen_laws
from cachecheck.session.decoder_name import name_of
from cachecheck.session.law_run import LawRunner
from cachecheck.session.outcome import LawOutcome
from cachecheck.target import Target, as_target, load_target
from cachecheck.verdict import Answer


@dataclass(frozen=True)
class LawCheck(LawParameter):
    """One law on one decoder; call it in a test.

    Attributes:
        law: its id.
        decoder: as `parametrize_with_laws` was given it.
        known: why it is known to fail; None: it is not.
        shard: number of the shard, which has cases of its own.
        allow_inconclusive: whether INCONCLUSIVE is a skip.
    """

    law: str
    decoder: Any
    known: str | None = None
    shard: int = 0
    allow_inconclusive: bool = False

    def __call__(self) -> None:
        """Pass, fail, skip or xfail the running test, as the law's verdict has it."""
        test = running_test()
        test.stash[LAW_WAS_CALLED] = True
        name = name_of(self.decoder, getattr(test, "module", None))

        def load() -> Target:
            named = isinstance(self.decoder, str)
            return load_target(self.decoder) if named else as_target(self.decoder, name.shown)

        runner = LawRunner(test.config, name, load, store=self.known is None)
        outcome = runner.run(self.law, self.shard)
        outcome.report_to(test)
        if self.known is None:
            allowed = test.config.getoption("--cachecheck-allow-inconclusive")
            outcome.end(test, allow_inconclusive=self.allow_inconclusive or allowed)
        else:
            self._expect_failure(outcome, self.known)

    def __repr__(self) -> str:
        return f"{self.law} on {name_of(self.decoder).shown}"

    def _expect_failure(self, outcome: LawOutcome, reason: str) -> None:
        """A known failure may fail; one that holds means that the entry is out of date."""
        answer = outcome.verdict.answer
        if answer in (Answer.VIOLATED, Answer.ERROR, Answer.INCONCLUSIVE):
            pytest.xfail(f"{reason} ({answer.value}: {outcome.verdict.message})")
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
    allow_inconclusive: bool = False,
    shards: int = 1,
) -> pytest.MarkDecorator:
    """One test a law: decorate a test that takes ``law`` and calls it.

    .. code-block:: python

        @cachecheck.parametrize_with_laws(MyDecoder, known_failures={"crop": "issue 12"})
        def test_my_decoder(law):
            law()

    A test passes if its law HOLDS, and is skipped if the decoder offers nothing for it
    (UNSUPPORTED). It fails if the law is VIOLATED, could not be checked (ERROR), or shows nothing
    (INCONCLUSIVE); and if it ends without having called ``law``.

    Cases and seeds follow ``--cachecheck-seed``, ``--cachecheck-effort`` and
    ``--cachecheck-examples``. Failing cases are stored for ``cachecheck replay``, and tried first
    the next time, if a name at the top level of a module leads to the decoder.

    Args:
        decoder: a decoder, a factory of decoders that may take a seed, or the name of a target.
        laws: ids; all when None.
        known_failures: by law, the reason why it is known to fail. It is run all the same: as long
            as it does not hold the test is an expected failure; once it holds, or is not offered,
            the test fails.
        allow_inconclusive: skip the test of a law that is INCONCLUSIVE, in place of failing it.
        shards: tests a law, each with its own cases, so that pytest-xdist spreads one law.

    Raises:
        InputError: an unknown law, a reason that is missing, or fewer than 1 shard.
    """
    chosen = chosen_laws(laws)
    known = dict(known_failures or {})
    chosen_laws(list(known))
    idle = [law for law in known if law not in chosen]
    if idle:
        raise InputError(f"known failure {idle[0]!r} is not among the laws that are checked")
    if not all(isinstance(reason, str) and reason.strip() for reason in known.values()):
        raise InputError("each known failure needs its reason, as text")
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise InputError(f"shards must be an integer >= 1; got {shards!r}")
    checks = [
        pytest.param(
            LawCheck(law, decoder, known.get(law), shard, allow_inconclusive),
            id=law if shards == 1 else f"{law}-{shard}",
        )
        for law in chosen
        # A rare failure, found in one shard, would be missing in the others.
        for shard in range(1 if law in known else shards)
    ]
    return pytest.mark.parametrize("law", checks)
