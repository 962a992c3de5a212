"""Tables of the documents, made from the code: `filled` puts them into a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from cachecheck.faults import FAULTS, KINDS, Kind
from cachecheck.laws import LAWS, Law
from cachecheck.members import CAPABILITIES
from cachecheck.reference.caches import CACHE_KINDS
from cachecheck.reference.masks import WRONG_MASKS
from cachecheck.report.faults import symptom
from cachecheck.report.laws import law_page, needs
from cachecheck.schedule import NOTATION

PLACE = re.compile(r"(<!-- ([a-z ]+): generated -->\n)(?:(?!<!-- ).)*(<!-- end -->)", re.DOTALL)
"""The place where a page takes a generated part, with the part's name between the two markers."""


def filled(text: str, parts: Mapping[str, str]) -> str:
    """``text`` with each of its places brought up to date whose name is among ``parts``."""
    return PLACE.sub(
        lambda match: f"{match[1]}{parts[match[2]]}\n{match[3]}" if match[2] in parts else match[0],
        text,
    )


def with_tables(text: str) -> str:
    """``text`` with every table that comes from the code brought up to date."""
    return filled(text, tables())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables() -> dict[str, str]:
    """Each part that comes from the code, by the name of its place."""
    members = ((f"`{one.members}`", one.meaning) for one in CAPABILITIES.values())
    caches = ((f"`reference:{name}`", described) for name, described in CACHE_KINDS.items())
    masks = ((f"`{wrong.name}`", wrong.symptom) for wrong in WRONG_MASKS.values())
    faults = (
        (f"`{one.id}`", symptom(one), one.mechanism, f"`{one.law}`", f"`{one.smallest}`")
        for one in FAULTS.values()
    )
    return {
        "laws": table(("law", "what must hold", "needs"), map(_law_row, LAWS.values())),
        "law pages": "\n\n".join(map(law_section, LAWS.values())),
        "faults": table(("fault", "symptom", "mechanism", "law", "smallest schedule"), faults),
        "kinds": table(
            ("kind", "what goes wrong", "faults", "public reports"), map(_kind_row, KINDS.values())
        ),
        "notation": f"```text\n{NOTATION}\n```",
        "members": table(("member", "meaning"), members),
        "caches": table(("target", "kind of cache"), caches),
        "wrong masks": table(("name", "what is wrong"), masks),
    }


def law_section(law: Law) -> str:
    """All that is known of a law, under a heading of its own; its faults by number alone."""
    page = law_page(law)
    follows = [f"{_link(name)} ({reason})" for name, reason in law.implies.items()]
    stronger = [f"{_link(name)} ({reason})" for name, reason in page.follows_from]
    entries = {
        "Why": law.reason,
        "Not claimed": law.not_claimed,
        "Needs": f"`{page.needs}`" if page.needs else "",
        "What follows from it": "; ".join(follows),
        "It follows from": "; ".join(stronger),
        "Faults that name it": f"{len(page.faults)} of {len(FAULTS)} in [the catalogue](faults.md)",
        "See it broken": f"`{page.example}`" if page.example else "",
    }
    lines = [f"- **{label}:** {said}" for label, said in entries.items() if said]
    return "\n".join([f"### {law.id}", "", law.statement, "", *lines])


def _law_row(law: Law) -> tuple[str, str, str]:
    return _link(law.id), law.statement, f"`{needs(law)}`" if law.needs else ""


def _link(name: str) -> str:
    """A law's name, leading to its section on the same page."""
    return f"[`{name}`](#{name})"


def _kind_row(kind: Kind) -> tuple[str, str, str, str]:
    faults = sum(fault.kind == kind.id for fault in FAULTS.values())
    reports = ", ".join(
        f"[{name}](https://github.com/{name.replace('#', '/issues/')})" for name in kind.reports
    )
    return f"`{kind.id}`", kind.mistake, str(faults) if faults else kind.unmodelled, reports
