"""Other projects' test designs beside ours, as text: from ``evidence/peers.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.pages.measured import tables
from cachecheck.report.markdown import table

Measured = Mapping[str, Any]
"""The content of the file that `benchmarks.peers` writes."""


def load() -> Measured:
    """The committed measurement."""
    found: Measured = tables("peers.json")
    return found


def peers(found: Measured) -> list[str]:
    """The designs that are not ours."""
    return [design for design in found["designs"] if design != found["ours"]]


def shares(found: Measured, designs: Sequence[str], *, append_only: bool = False) -> list[float]:
    """For each fault the share of seeds on which the best of these designs sees it."""
    return [
        max(fault[design] for design in designs) / found["seeds"]
        for fault in found["faults"]
        if fault["append_only"] or not append_only
    ]


def always(found: Measured, *designs: str, append_only: bool = False) -> int:
    """The number of faults seen on every seed, each by the best of these designs for it."""
    return sum(share == 1 for share in shares(found, designs, append_only=append_only))


def best_peer(found: Measured) -> str:
    """The design that sees most faults on every seed; the mean share decides between equals."""
    return max(peers(found), key=lambda one: (always(found, one), sum(shares(found, [one]))))


def only_ours(found: Measured) -> list[str]:
    """Faults that ours sees on some seed and no other design on any."""
    ours, others = found["ours"], peers(found)
    return [
        fault["id"]
        for fault in found["faults"]
        if fault[ours] and not any(fault[one] for one in others)
    ]


def missed_by_ours(found: Measured) -> dict[str, int]:
    """Faults that ours does not see on every seed, and the number of seeds on which it does."""
    counts = {fault["id"]: fault[found["ours"]] for fault in found["faults"]}
    return {name: count for name, count in counts.items() if count < found["seeds"]}


def peers_table(found: Measured | None = None) -> str:
    """A row for each design, one for all others together, and ours last.

    Args:
        found: the measurement; the committed one if None.
    """
    found = load() if found is None else found
    head = ["design", "what it does", "faults seen on every seed", "mean share of seeds"]
    head += ["append only: on every seed", "mean share of seeds", "false alarms"]
    others, ours = peers(found), found["ours"]
    rows = [_line(found, f"`{one}`", found["designs"][one], [one]) for one in others]
    together = f"each with {found['calls']} calls, the best of them for each fault"
    rows.append(_line(found, "all of these", together, others))
    rows.append(_line(found, f"`{ours}`", found["designs"][ours], [ours]))
    return table(head, rows)


def headline(found: Measured | None = None) -> str:
    """The best of the other designs and ours, in two sentences."""
    found = load() if found is None else found
    best, ours = best_peer(found), found["ours"]
    count, appended = len(found["faults"]), len(shares(found, [ours], append_only=True))
    return (
        f"Of {count} faults, with {found['calls']} decoder calls a design, the best of the other "
        f"designs (`{best}`) sees {always(found, best)} on each of {found['seeds']} seeds and ours "
        f"{always(found, ours)}; of the {appended} that show by appending alone, "
        f"{always(found, best, append_only=True)} and {always(found, ours, append_only=True)}. "
        f"{len(only_ours(found))} faults are seen by ours alone, and "
        f"{len(missed_by_ours(found))} are not seen by it on every seed."
    )


def _line(found: Measured, name: str, what: str, designs: Sequence[str]) -> list[str]:
    right = [fault["alarms"] for fault in found["faults"] if fault["alarms"] is not None]
    accused = sum(bool(set(alarms) & set(designs)) for alarms in right)
    cells = [name, what]
    for append_only in (False, True):
        each = shares(found, designs, append_only=append_only)
        cells.append(f"{always(found, *designs, append_only=append_only)} of {len(each)}")
        cells.append(f"{sum(each) / max(1, len(each)):.0%}")
    return [*cells, f"{accused} of {len(right)}"]
