"""Laws on a decoder in one call, for notebooks and scripts."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis.configuration import set_hypothesis_home_dir, storage_directory

from cachecheck.errors import InputError, TargetError
from cachecheck.laws import LAWS
from cachecheck.search.cases import Effort
from cachecheck.search.loop import search
from cachecheck.target import Target, as_target, load_target
from cachecheck.verdict import Answer, Verdict


def check_decoder(
    decoder: Any,
    *,
    laws: Sequence[str] | None = None,
    examples: int = 200,
    seed: int = 0,
    max_length: int | None = None,
) -> list[Verdict]:
    """Check a decoder against the laws, and return their verdicts.

    .. code-block:: python

        for verdict in cachecheck.check_decoder(MyDecoder, laws=["schedule", "crop"]):
            print(verdict.law, verdict.answer, verdict.schedule, verdict.message)

    Nothing is printed and nothing is stored. Whatever the decoder does becomes a verdict: one that
    raises is an ERROR. The same arguments give the same cases.

    Args:
        decoder: a decoder, a factory of decoders that may take a seed, or the name of a target.
        laws: ids, in the order in which they are checked; all when None.
        examples: cases a law, at least 1.
        seed: of the cases and the decoder's weights, at least 0.
        max_length: longest sequence in tokens, at least 2; None: 24, or what it takes to cross the
            decoder's window.

    Returns:
        A verdict for each law, in order. ``verdict.answer`` equals ``"HOLDS"``, ``"VIOLATED"``,
        ``"INCONCLUSIVE"``, ``"UNSUPPORTED"`` or ``"ERROR"``; see `Verdict` for the rest.

    Raises:
        InputError: an argument that makes no sense, a target that cannot be loaded among them.
    """
    chosen = chosen_laws(laws)
    _at_least("examples", examples, 1)
    _at_least("seed", seed, 0)
    if max_length is not None:
        _at_least("max_length", max_length, 2)
    try:
        named = isinstance(decoder, str)
        target = load_target(decoder) if named else as_target(decoder, described(decoder))
    except TargetError as error:
        raise InputError(str(error)) from error
    effort = Effort(seed=seed, examples=examples, max_length=max_length)
    with _hypothesis_out_of_sight():
        return [_verdict(law, target, effort) for law in chosen]


def chosen_laws(laws: Sequence[str] | None) -> list[str]:
    """Ids of laws, each once, in the order given; all where None is given.

    Raises:
        InputError: an unknown law, or a text in place of a list.
    """
    if isinstance(laws, str):
        raise InputError(f"laws is a list of ids, like [{laws!r}]; got the text {laws!r}")
    chosen = list(LAWS) if laws is None else list(dict.fromkeys(laws))
    for law in chosen:
        if law not in LAWS:
            raise InputError(f"unknown law {law!r}; known: {', '.join(LAWS)}")
    return chosen


@contextlib.contextmanager
def _hypothesis_out_of_sight() -> Iterator[None]:
    """Have Hypothesis write into a temporary folder.

    It notes the constants of source files in ``.hypothesis`` below the working directory, for any
    test.
    """
    before = storage_directory(intent_to_write=False).path
    with tempfile.TemporaryDirectory(prefix="cachecheck-") as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)


def _verdict(law: str, target: Target, effort: Effort) -> Verdict:
    try:
        return search(LAWS[law], target, effort)[0]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the caller is promised a verdict
        return unforeseen(law, error)


def unforeseen(law: str, error: BaseException) -> Verdict:
    """The verdict where a search ended by an exception that it does not know."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, Exception):
        message = f"cachecheck itself failed: {said}; please report it"
    else:  # none of ours is like that
        message = f"the decoder raised {said}, which is no Exception"
    return Verdict(law, Answer.ERROR, message=message)


def described(decoder: Any) -> str:
    """A decoder's name for reports: that of the factory, or of its class, after the module's."""
    named = decoder if hasattr(decoder, "__qualname__") else type(decoder)
    return f"{named.__module__}:{named.__qualname__}"


def _at_least(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be an integer >= {least}; got {value!r}")
