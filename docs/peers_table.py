"""What other projects' test designs see and what ours does, as text: from evidence/peers.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "evidence" / "peers.json"

Found = Mapping[str, Any]
"""What `benchmarks.peers` measured."""


def load() -> Any:
    """The committed measurement."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def peers(found: Found) -> list[str]:
    """The designs that are not ours."""
    return [design for design in found["designs"] if design != found["ours"]]


def shares(found: Found, designs: Sequence[str], *, append_only: bool = False) -> list[float]:
    """For each fault the share of seeds on which the best of these designs sees it."""
    return [
        max(fault["seen"][design] for design in designs)
        for fault in found["faults"]
        if fault["append_only"] or not append_only
    ]


def always(found: Found, *designs: str, append_only: bool = False) -> int:
    """How many faults are seen on all seeds, each by the best of these designs for it."""
    return sum(share == 1 for share in shares(found, designs, append_only=append_only))


def best_peer(found: Found) -> str:
    """The design that sees most faults on all seeds; the mean share decides between equals."""
    return max(peers(found), key=lambda one: (always(found, one), sum(shares(found, [one]))))


def only_ours(found: Found) -> list[str]:
    """Faults that ours sees on some seed and no other design on any."""
    ours, others = found["ours"], peers(found)
    return [
        fault["id"]
        for fault in found["faults"]
        if fault["seen"][ours] and not any(fault["seen"][one] for one in others)
    ]


def missed_by_ours(found: Found) -> dict[str, float]:
    """Faults that ours does not see on every seed, and the share of seeds on which it does."""
    seen = {fault["id"]: fault["seen"][found["ours"]] for fault in found["faults"]}
    return {name: share for name, share in seen.items() if share < 1}


def peers_table(found: Found | None = None) -> str:
    """A row for each design, one for all others together, and ours last.

    Args:
        found: the measurement; the committed one if None.
    """
    found = load() if found is None else found
    head = ["design", "what it does", "faults seen, all", "faults seen, append only"]
    lines = [[*head, "false alarms"], ["---"] * 5]
    others = peers(found)
    lines += [_line(found, f"`{one}`", found["designs"][one], [one]) for one in others]
    together = f"each with {found['calls']} calls, the best of them for each fault"
    lines.append(_line(found, "all of these", together, others))
    ours = found["ours"]
    lines.append(_line(found, f"`{ours}`", found["designs"][ours], [ours]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def headline(found: Found | None = None) -> str:
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


def _line(found: Found, name: str, what: str, designs: Sequence[str]) -> list[str]:
    right = [fault["alarms"] for fault in found["faults"] if fault["alarms"] is not None]
    accused = sum(bool(set(alarms) & set(designs)) for alarms in right)
    seen = [_seen(found, designs, append_only=append_only) for append_only in (False, True)]
    return [name, what, *seen, f"{accused} of {len(right)}"]


def _seen(found: Found, designs: Sequence[str], *, append_only: bool) -> str:
    """On all seeds, of how many, and the mean share of seeds."""
    each = shares(found, designs, append_only=append_only)
    mean = sum(each) / max(1, len(each))
    return f"{always(found, *designs, append_only=append_only)} of {len(each)} ({mean:.0%})"
