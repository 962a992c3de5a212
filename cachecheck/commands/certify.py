"""``cachecheck certify``: what it prints, and its exit code."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from rich.console import Console

from cachecheck.certify import Certificate, certify, certify_programs
from cachecheck.commands.progress import counting
from cachecheck.errors import DecoderError, InputError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.report.certificate import print_certificate
from cachecheck.target import load_target
from cachecheck.verdict import Answer

_EXITS = {Answer.HOLDS: 0, Answer.VIOLATED: 1, Answer.INCONCLUSIVE: 3}


@dataclass(frozen=True)
class Request:
    """A request from the command line.

    Attributes:
        target: name of the decoder.
        length: tokens of the sequence; of a program, in all.
        method: "induction", "tree" or None for the first that applies.
        law: ``schedule``, or a law with operations.
        steps: of a program.
        seed: of weights and tokens.
    """

    target: str
    length: int
    method: str | None = None
    law: str = "schedule"
    steps: int = 5
    seed: int = 0


def run(request: Request, console: Console) -> int:
    """Certify, print what was proved, and return the exit code.

    Raises:
        InputError: an unknown law, a length that is too long.
        TargetError: the target could not be loaded.
    """
    if request.law not in LAWS:
        raise InputError(f"unknown law {request.law!r}; known: {', '.join(LAWS)}")
    decoder = load_target(request.target).make(request.seed)
    started = time.perf_counter()
    try:
        decoder.probe()
        found = _certificate(request, decoder)
    except Unsupported as refusal:
        console.print(f"UNSUPPORTED  {request.law}   {refusal}", highlight=False, soft_wrap=True)
        return 2
    except DecoderError as error:
        console.print(f"ERROR  {request.law}   {error}", highlight=False, soft_wrap=True)
        return 2
    finally:
        decoder.release_all()
    found = replace(found, calls=decoder.calls)
    print_certificate(console, found, request.target, request.seed, time.perf_counter() - started)
    return _EXITS[found.answer]


def _certificate(request: Request, decoder: Guarded) -> Certificate:
    if request.law == "schedule":
        return certify(decoder, request.length, seed=request.seed, method=request.method)
    if request.method is not None:
        raise InputError("--method is for partitions; programs are enumerated")
    with counting("programs") as count:
        return certify_programs(
            decoder, LAWS[request.law], tokens=request.length, steps=request.steps, on_program=count
        )
