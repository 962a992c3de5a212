"""The evidence about faults in a library as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.engine_faults.catalogue import FAULTS

_HEAD = ("fault", "what is wrong", "survey caught", "by, in its smallest case")
_REST = ("no effect", "missed", "found by 200 cases")
WITHOUT_EFFECT = ("changes nothing", "within tolerance")


def summary(data: Mapping[str, Any]) -> str:
    """The figures in a paragraph."""
    cells, count = data["cells"], Counter(cell["outcome"] for cell in data["cells"])
    effective = count["caught"] + count["missed"]
    many = sum(bool(cell.get("many")) for cell in cells)
    held = Counter[str]()
    for one in data["controls"]:
        held.update(one["answers"])
    failed = sum(len(one["failed"]) for one in data["controls"])
    versions = data["versions"]
    return (
        f"transformers {versions['transformers']} with torch {versions['torch']}: "
        f"{len(data['faults'])} faults in {len(data['controls'])} architectures, where they apply: "
        f"{len(cells)} pairs, in {data['seconds'] / 60:.0f} minutes. In "
        f"{count['changes nothing']} of them the fault changes no row of the drawn cases, to the "
        f"bit, and in {count['within tolerance']} none by more than the tolerance. Of the other "
        f"{effective} the survey caught {count['caught']} ({count['caught'] / effective:.0%}); of "
        f"the {count['missed']} that it missed, 200 cases found {many}. Without any fault "
        f"{held['HOLDS']} cells hold and {failed} fail, each of them in the ledger of known "
        "failures."
    )


def table(data: Mapping[str, Any]) -> str:
    """A line for each fault."""
    lines = [_line((*_HEAD, *_REST)), _line(["---"] * len((*_HEAD, *_REST)))]
    for fault in data["faults"]:
        cells = [cell for cell in data["cells"] if cell["fault"] == fault["id"]]
        lines.append(_line([f"`{fault['id']}`", fault["what"], *_figures(cells)]))
    return "\n".join(lines)


def missed(data: Mapping[str, Any]) -> str:
    """Why the survey misses what it misses: a line for each fault."""
    names = dict.fromkeys(c["fault"] for c in data["cells"] if c["outcome"] == "missed")
    return "\n".join(f"- `{name}`: {FAULTS[name].missed}." for name in names)


def _figures(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    of = {
        outcome: [cell for cell in cells if cell["outcome"] in outcome]
        for outcome in (("caught",), WITHOUT_EFFECT, ("missed",))
    }
    caught, idle, missed = of.values()
    yield f"{len(caught)} of {len(cells)}"
    yield _smallest(caught)
    yield _names(idle, cells)
    yield _names(missed, cells)
    yield _smallest([cell["many"] for cell in missed if cell["many"]], cases=True)


def _smallest(caught: Sequence[Mapping[str, Any]], *, cases: bool = False) -> str:
    """Laws, each with its smallest schedule, and the cases that it took."""
    found: dict[str, Mapping[str, Any]] = {}
    for cell in sorted(caught, key=lambda cell: (len(cell["schedule"]), cell["schedule"])):
        variant = "" if cell["variant"] == "dynamic" else f"{cell['variant']} "
        error = " (ERROR)" if cell["answer"] == "ERROR" else ""
        found.setdefault(f"{variant}{cell['law']}{error}", cell)
    return ", ".join(
        f"{name} `{cell['schedule']}`" + (f" at case {cell['case']}" if cases else "")
        for name, cell in found.items()
    ) or ("-" if not cases or not caught else "none")


def _names(some: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]) -> str:
    if len(some) == len(every):
        return "all"
    return ", ".join(cell["architecture"] for cell in some) or "-"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
