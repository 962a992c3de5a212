"""Certification: every case up to a size in place of a sample, so that the answer holds for all.

`certify` covers the partitions of one sequence; `certify_programs` every program of cache
operations up to a number of tokens and steps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from cachecheck.certify.certificate import Certificate, NotCanonicalError
from cachecheck.certify.enumeration import certify_programs, programs_up_to
from cachecheck.certify.induction import by_induction
from cachecheck.certify.minimal import smallest_cuts, smallest_program
from cachecheck.certify.oracle import Oracle
from cachecheck.certify.tree import by_tree
from cachecheck.errors import DecoderError, InputError
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.schedule import Schedule
from cachecheck.schedule.tokens import tokens_of_seed
from cachecheck.verdict import Answer

__all__ = [
    "LONGEST_TREE",
    "Certificate",
    "certify",
    "certify_programs",
    "programs_up_to",
    "smallest_failing",
]

LONGEST_TREE = 16
"""Tokens of the longest prefix tree: 2^16 - 1 calls."""

_RUN_IN_FULL = 8
"""Tokens whose partitions are run one by one beside an induction, to test its assumption."""


def certify(
    decoder: Guarded, length: int, *, seed: int = 0, method: str | None = None
) -> Certificate:
    """Check every one of the 2^(length-1) partitions of one sequence.

    Args:
        decoder: to be checked.
        length: tokens of the sequence.
        seed: of its tokens.
        method: "induction" (needs ``state``) or "tree" (2^length - 1 calls); by default the first
            where the decoder allows it.

    Raises:
        InputError: a length that the decoder has no room for, or is too long for a tree.
        Unsupported: the decoder refuses.
        DecoderError: the decoder raised, or gave what cannot be used.
    """
    if method not in (None, "induction", "tree"):
        raise InputError(f"method must be induction or tree; got {method!r}")
    room = decoder.capabilities.max_length
    if length < 1 or (room is not None and length > room):
        raise InputError(f"length must be 1 to {room or 'any number'}; got {length}")
    try:
        return _certified(decoder, tokens_of_seed(seed, length, decoder.vocab_size), method)
    finally:
        decoder.release_all()


def _certified(decoder: Guarded, tokens: tuple[int, ...], method: str | None) -> Certificate:
    why = "no state(cache) is offered"
    if method != "tree" and "state" in decoder.capabilities.offers:
        try:
            return _induction(decoder, tokens)
        except NotCanonicalError as error:
            why = str(error)
    if method == "induction":
        raise InputError(f"no induction: {why}; leave out --method, or give tree")
    length = len(tokens)
    if length > LONGEST_TREE:
        raise InputError(
            f"no induction: {why}; a prefix tree over {length} tokens takes {2**length - 1:,} "
            f"calls: give --length {LONGEST_TREE} or less"
        )
    found = by_tree(Oracle(decoder, tokens))
    note = () if method == "tree" else (f"Not by induction: {why}.",)
    return replace(found, proves=(*found.proves, *note))


def _induction(decoder: Guarded, tokens: tuple[int, ...]) -> Certificate:
    """By induction; the partitions of the first few tokens are run as well, each in full.

    Raises:
        NotCanonicalError: it does not apply.
    """
    found = by_induction(Oracle(decoder, tokens))
    if found.answer is Answer.VIOLATED and found.law == "schedule":
        return found
    few = tokens[:_RUN_IN_FULL]
    tree = by_tree(Oracle(decoder, few))
    calls = found.calls + tree.calls
    if tree.answer is Answer.VIOLATED:
        line = (
            "The induction found nothing wrong, so state(cache) leaves out something that extend "
            "depends on."
        )
        return replace(tree, proves=(*tree.proves, line), calls=calls)
    if found.answer is Answer.VIOLATED:
        return found  # a rollback
    line = f"All {tree.covered:,} partitions of the first {len(few)} tokens were run as well."
    if tree.answer is not Answer.HOLDS:
        found = replace(found, answer=tree.answer, reasons=tree.reasons)
    return replace(found, proves=(*found.proves, line), calls=calls)


def smallest_failing(
    decoder: Guarded, law: Law, within: str, *, ids: Sequence[int] | None = None
) -> str | None:
    """The smallest schedule that breaks ``law``, among those no larger than one known to break it.

    Args:
        decoder: to be checked.
        law: any.
        within: a failing schedule, in notation: no more tokens are tried, and in programs of
            operations no more steps.
        ids: the tokens of programs, as many as ``within`` appends; some that differ by default.

    Raises:
        InputError: more tokens than can be run in every way.
        Unsupported: the decoder lacks what the law needs.
        DecoderError: the decoder raised, or gave what cannot be used.
    """
    schedule = Schedule.parse(within)
    if law.operations:
        return smallest_program(decoder, law, schedule, ids)
    if law.certified:
        with contextlib.suppress(DecoderError):  # where some calls raise, others may be wrong
            return certify(decoder, schedule.length).schedule
    return smallest_cuts(decoder, law, schedule.length)
