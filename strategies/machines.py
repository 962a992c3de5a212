"""A Hypothesis state machine that drives live caches of one decoder through all they can do."""

from __future__ import annotations

from typing import Any

from hypothesis import Phase, settings
from hypothesis.strategies import SearchStrategy

from cachecheck.guard import Guarded
from cachecheck.strategies._machine import CacheMachine
from cachecheck.strategies._validation import check_integer
from cachecheck.strategies.sequences import seeds as any_seeds
from cachecheck.target import as_target


def cache_machine(
    decoder: Any,
    *,
    seeds: SearchStrategy[int] | None = None,
    max_length: int = 12,
    max_branches: int = 4,
    allow_inconclusive: bool = False,
) -> type[CacheMachine]:
    """Returns a Hypothesis state machine class for a decoder; its ``TestCase`` runs under pytest.

    * ``decoder`` is a decoder, or a factory of decoders that may take a seed.
    * ``seeds`` is a strategy for the decoder's seed, by default any from 0 to 9.
    * ``max_length`` bounds the tokens of a sequence, ``max_branches`` the live branches.
    * ``allow_inconclusive`` lets pass what may be rounding or a mistake, and decoders whose rows
      could not show one; by default both fail, with the reason.

    Each rule is a call or a cache operation that the decoder offers: appends to several branches
    in turn, forks, rollbacks, saving, resets, ragged batches with reorder, split and merge. After
    every call the rows are compared with ``full`` of the branch's tokens.

    Examples from this machine shrink towards few steps of few tokens on the first branch, each
    token 0, and decoder seed 0.

    .. code-block:: pycon

        >>> TestCaches = cache_machine(MyDecoder).TestCase
        >>> hypothesis.stateful.run_state_machine_as_test(cache_machine(MyDecoder))
        >>> cache_machine(MyDecoder, seeds=st.just(3), max_length=40).max_length
        40
    """
    check_integer("max_length", max_length, least=2)
    check_integer("max_branches", max_branches, least=1)
    named = decoder if hasattr(decoder, "__qualname__") else type(decoder)
    name, where = named.__name__, f"{named.__module__}:{named.__qualname__}"
    target = as_target(decoder, where)
    if seeds is None:
        seeds = any_seeds(max_value=min(target.seeds, 10) - 1)

    def make(seed: int) -> Guarded:
        guarded = target.make(seed)
        guarded.probe()
        return guarded

    members = {
        "target": where,
        "make": staticmethod(make),
        "seeds": seeds,
        "max_length": max_length,
        "max_branches": max_branches,
        "allow_inconclusive": allow_inconclusive,
    }
    machine: Any = type(f"CacheMachine_{name}", (CacheMachine,), members)
    # Explaining a failure traces every line of the decoder, for minutes; the schedule says it all.
    phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink)
    machine.TestCase.settings = settings(deadline=None, phases=phases)
    return machine  # type: ignore[no-any-return]
