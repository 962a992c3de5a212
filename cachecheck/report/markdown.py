"""The README's tables, made from the code (``docs/readme.py`` puts them in)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cachecheck.faults import FAULTS
from cachecheck.laws import LAWS
from cachecheck.members import CAPABILITIES
from cachecheck.reference.caches import CACHE_KINDS
from cachecheck.reference.masks import WRONG_MASKS
from cachecheck.report.faults import symptom
from cachecheck.report.laws import needs
from cachecheck.schedule import NOTATION


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables() -> dict[str, str]:
    """Each generated table by the name of its place in the README."""
    laws = (
        (
            f"`{law.id}`",
            law.statement,
            law.reason,
            law.not_claimed,
            f"`{needs(law)}`" if law.needs else "",
            ", ".join(f"`{name}`" for name in law.implies),
        )
        for law in LAWS.values()
    )
    members = ((f"`{one.members}`", one.meaning) for one in CAPABILITIES.values())
    caches = ((f"`reference:{name}`", described) for name, described in CACHE_KINDS.items())
    masks = ((f"`{wrong.name}`", wrong.symptom) for wrong in WRONG_MASKS.values())
    faults = (
        (f"`{one.id}`", symptom(one), one.mechanism, f"`{one.law}`", f"`{one.smallest}`")
        for one in FAULTS.values()
    )
    return {
        "faults": table(("fault", "symptom", "mechanism", "law", "smallest schedule"), faults),
        "laws": table(
            ("law", "what must hold", "why", "what it does not claim", "needs", "implies"), laws
        ),
        "notation": f"```text\n{NOTATION}\n```",
        "members": table(("member", "meaning"), members),
        "caches": table(("target", "kind of cache"), caches),
        "wrong masks": table(("name", "what is wrong"), masks),
    }


def with_tables(text: str) -> str:
    """``text`` with every generated table brought up to date."""
    for name, table in tables().items():
        begin, end = f"<!-- {name}: generated -->\n", "\n<!-- end -->"
        before, after = text.split(begin)
        text = before + begin + table + end + after.split(end, 1)[1]
    return text
