"""Problems that an audit finds, and the list of its checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "files": "exactly the files of an evidence folder, readable and not links",
        "hashes": "sha256.json lists every other file, with its digest",
        "canonical": "every JSON file has the bytes that writing its value again gives",
        "manifest": "when, with what and from which sources: the right keys and kinds of value",
        "protocol": "the manifest's parameters are the experiment's",
        "seeds": "the results are of the seeds 7, 19 and 41, in this order",
        "results": "each seed's results have the right keys and kinds of number",
        "table": "results.csv says what results.json says, byte for byte",
        "arrays": "the archive holds exactly the right names, shapes and dtypes, all finite",
        "tokens": "the tokens follow their rule",
        "probabilities": "attention rows are >= 0, sum to 1 and have nothing above the diagonal",
        "errors": "each reported error is the one recomputed from the arrays",
        "counts": "each reported count, and the payload after each token, is its closed form",
        "tolerances": "errors between arrays that must be equal lie below the tolerance",
        "controls": "negative controls are clearly large",
        "published": "wrong-mask errors agree with the published ones to six digits",
        "relations": "arrays that must agree or differ for other reasons do so",
    }
)
"""Every check by its id, with the statement that holds if it passes."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an evidence folder.

    Attributes:
        check: the failed check, a key of `CHECKS`.
        where: the file, with seed, key or array where there is one.
        message: the expected and the found value.
    """

    check: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.check}: {self.where}: {self.message}"


def printable(name: str) -> str:
    """A foreign name, fit for any terminal: no control characters, of bounded length."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name[:200])
