"""``cachecheck faults``: the catalogue in short, some faults in full, or the kinds of mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from rich.console import Console

from cachecheck.commands.laws import law_named
from cachecheck.errors import InputError
from cachecheck.faults import FAULTS, fault_named
from cachecheck.report.faults import print_fault, print_faults, print_kinds


@dataclass(frozen=True)
class Request:
    """A request from the command line.

    Attributes:
        ids: of faults to tell all about; none for the list.
        law: list those alone that this law catches.
        host: list those alone of this kind of cache.
        kinds: list the kinds of mistakes instead.
    """

    ids: tuple[str, ...] = ()
    law: str | None = None
    host: str | None = None
    kinds: bool = False


def run(request: Request, console: Console) -> int:
    """Print what was asked for; return the exit code.

    Raises:
        InputError: an unknown fault, law or kind of cache, or things asked for that exclude each
            other.
    """
    narrowed = request.law is not None or request.host is not None
    if sum((bool(request.ids), narrowed, request.kinds)) > 1:
        raise InputError("give ids, or --law and --host, or --kinds: each lists something else")
    if request.kinds:
        print_kinds(console)
    elif request.ids:
        for fault in [fault_named(name) for name in request.ids]:
            print_fault(console, fault)
    else:
        return _list(request, console)
    return 0


def _list(request: Request, console: Console) -> int:
    """The faults of a law and a kind of cache; 2 if there are none."""
    law = None if request.law is None else law_named(request.law).id
    host = None if request.host is None else _host_named(request.host)
    chosen = [
        fault
        for fault in FAULTS.values()
        if law in (None, fault.law) and host in (None, fault.host)
    ]
    print_faults(console, chosen)
    return 0 if chosen else 2


def _host_named(name: str) -> str:
    hosts = list(dict.fromkeys(fault.host for fault in FAULTS.values()))
    if name not in hosts:
        near = get_close_matches(name, hosts, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(hosts)}"
        raise InputError(f"no fault is of a kind of cache called {name!r}; {hint}")
    return name
