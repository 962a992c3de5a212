"""The index of the evidence: a section for each measurement, and a table of the findings."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.engine_faults import table as planted
from benchmarks.pages import catalogue, draws, engines, figures, findings, kills, look_alikes, peers
from benchmarks.pages.measured import tables
from benchmarks.plainly import answers


@dataclass(frozen=True)
class Measurement:
    """One measurement, as the index shows it.

    Attributes:
        title: of its section.
        question: what was asked, in a sentence.
        command: what repeats it.
        figures: what came out, in a few sentences.
        files: in the evidence folder.
        table: the page with the rest, relative to that folder; empty if the file is the page.
    """

    title: str
    question: str
    command: str
    figures: str
    files: tuple[str, ...]
    table: str = ""

    def section(self) -> str:
        """The section, with links."""
        files = " and ".join(f"[{name}]({name})" for name in self.files)
        more = f". [Tables]({self.table})" if self.table else ""
        return (
            f"## {self.title}\n\n{self.question} (`{self.command}`)\n\n{self.figures}\n\n"
            f"Measured: {files}{more}.\n"
        )


def measurements() -> list[Measurement]:
    """Every measurement: what is right, faults of ours, other people's decoders, costs."""
    return [*_right(), *_faults(), *_engines(), *_costs()]


def page() -> str:
    """The whole page."""
    sections = "\n".join(one.section() for one in measurements())
    return f"""# Evidence

What was measured, and the command that repeats it. Files are tables in JSON (columns are named
once) or CSV. Times are of one machine with 2 cores and whatever else it was doing.
`python -m benchmarks.pages` makes this page and those that it links to from the files, and a test
keeps them current.

{sections}
## Findings in current releases

Each has a page with the verdict, the smallest case, the suspected cause and how it was judged, and
`reproduction.py`, which does not use cachecheck and exits 1 while it shows.

{findings.findings_table()}
"""


def _right() -> list[Measurement]:
    return [
        Measurement(
            "The frozen experiment",
            "Does the published experiment repeat?",
            "cachecheck run --out DIR",
            f"{figures.frozen_summary()} `cachecheck audit evidence/frozen` checks the committed "
            "run, and so do the tests.",
            ("frozen",),
            "../docs/further-figures.md#the-frozen-experiment",
        ),
        Measurement(
            "No false alarm",
            "Does one property, drawn often, ever accuse a right reference decoder?",
            "python -m benchmarks.false_alarms",
            look_alikes.false_alarms_summary(),
            ("false_alarms.json",),
        ),
        Measurement(
            "The reference caches",
            "Does any law accuse a right cache of any kind?",
            "python -m benchmarks.reference_caches",
            look_alikes.caches_summary(),
            ("reference_caches.json",),
            "../docs/look-alikes.md#the-reference-caches",
        ),
        Measurement(
            "Look-alikes that are right",
            "Does any law accuse a right decoder that looks wrong?",
            "python -m benchmarks.controls",
            look_alikes.controls_summary(),
            ("controls.json",),
            "../docs/look-alikes.md",
        ),
    ]


def _faults() -> list[Measurement]:
    return [
        Measurement(
            "The kill matrix",
            "Is each deliberate fault caught, how soon, and is its shrunk case the smallest?",
            "python -m benchmarks.kill_matrix",
            kills.summary(),
            ("kill-matrix.csv", "kill-matrix-unequal.csv"),
            "../docs/catalogue-measured.md#the-kill-matrix",
        ),
        Measurement(
            "Kills per decoder call",
            "Are the cases, and the loop that draws them, as good as those before?",
            "python -m benchmarks.kills_per_call",
            draws.draws_summary(),
            (draws.FILE,),
            "../docs/hypothesis.md",
        ),
        Measurement(
            "Every wrong mask, shrunk",
            "Does a wrong mask shrink to the same schedule whatever the seed?",
            "python -m benchmarks.shrinking",
            catalogue.shrinking_summary(),
            ("shrinking.json",),
            "../docs/catalogue-measured.md#every-wrong-mask-shrunk",
        ),
        Measurement(
            "Faults that fire late or rarely",
            "Is a mask found that is wrong under a condition alone?",
            "python -m benchmarks.late_faults",
            catalogue.late_summary(),
            ("late_faults.json",),
            "../docs/catalogue-measured.md#faults-that-fire-late-or-rarely",
        ),
        Measurement(
            "Small weights, long histories",
            "Is a mistake passed over that looks like rounding?",
            "python -m benchmarks.faint",
            catalogue.faint_summary(),
            ("faint.json",),
            "../docs/catalogue-measured.md#small-weights-long-histories",
        ),
        Measurement(
            "Side by side with other test designs",
            "What do the test designs of other projects see of the same faults?",
            "python -m benchmarks.peers",
            peers.headline(),
            ("peers.json",),
            "../docs/test-designs.md",
        ),
    ]


def _engines() -> list[Measurement]:
    return [
        Measurement(
            "Hugging Face's own code",
            "Do Llama and GPT-2 hold as they are, and fail with a wrong mask patched in?",
            "python -m benchmarks.hugging_face",
            engines.hugging_face_summary(),
            ("hugging_face.json",),
            "../docs/engines-measured.md#hugging-faces-own-code",
        ),
        Measurement(
            "The zoo",
            "Which architectures of a library break a law?",
            "cachecheck zoo transformers --out evidence/zoo",
            findings.zoo_summary(),
            ("zoo/transformers.json", "zoo/transformers.md"),
        ),
        Measurement(
            "How much the zoo sees",
            "Which faults, put into the library from outside, does that survey see?",
            "python -m benchmarks.engine_faults",
            planted.summary(tables("engine-faults.json")),
            ("engine-faults.json",),
            "../docs/engines-measured.md#how-much-the-zoo-sees",
        ),
        Measurement(
            "Accusations, made again in plain calls",
            "Does what the zoo accuses show without cachecheck too?",
            "python -m benchmarks.plainly",
            answers.summary(tables("plainly.json")["rows"]),
            ("plainly.json",),
            "../docs/engines-measured.md#accusations-made-again-in-plain-calls",
        ),
        Measurement(
            "Old bugs found again",
            "Are bugs of released libraries found, and the releases without them not accused?",
            "python -m benchmarks.history",
            engines.history_summary(),
            ("history.json",),
            "../docs/engines-measured.md#old-bugs-found-again",
        ),
    ]


def _costs() -> list[Measurement]:
    return [
        Measurement(
            "Certification, and long schedules",
            "What does certification cover, and how small do long schedules get?",
            "python -m benchmarks.certifying",
            f"{figures.certifying_summary()} {figures.shrunk_summary()}",
            ("certifying.json",),
            "../docs/further-figures.md#certification-and-long-schedules",
        ),
        Measurement(
            "Start-up",
            "How long does the help take?",
            "python -m benchmarks.startup",
            figures.startup_summary(),
            ("startup.json",),
            "../docs/further-figures.md#start-up",
        ),
    ]
