"""A run as JSON, for programs."""

from __future__ import annotations

import json

from cachecheck.report.summary import Summary


def render(summary: Summary) -> str:
    """The verdicts with all their values, and what follows from what."""
    report = {
        "target": summary.target,
        "seed": summary.seed,
        "versions": dict(summary.versions),
        "verdicts": [verdict.to_json() for verdict in summary.verdicts],
        "begin_with": list(summary.begin_with),
        "replays": dict(summary.replays),
    }
    return json.dumps(report, indent=2) + "\n"
