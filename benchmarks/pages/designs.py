"""The page about other projects' test designs."""

from __future__ import annotations

from benchmarks.pages.measured import GENERATED
from benchmarks.pages.peers import headline, load, missed_by_ours, only_ours, peers_table


def page() -> str:
    """The whole page."""
    found = load()
    missed = ", ".join(
        f"`{name}` ({count} of {found['seeds']} seeds)"
        for name, count in missed_by_ours(found).items()
    )
    return f"""# Other test designs, measured

{GENERATED}

`python -m benchmarks.peers` writes `evidence/peers.json`: the tests of other projects, written
after their design, and ours, on every fault of the catalogue with equally many decoder calls.

{headline(found)}

{peers_table(found)}

*On every seed* counts the faults that a design saw whatever the seed. *Mean share of seeds* is over
all faults: one that is seen on half of the seeds adds half. *Append only* are the faults that show
by appending tokens alone, without any other operation on a cache.

Seen by ours alone: {", ".join(f"`{name}`" for name in only_ours(found)) or "none"}.

Not seen by ours on every seed within so many calls: {missed or "none"}.
"""
