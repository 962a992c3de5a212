"""The one judge of all faces.

From a law, a decoder and a case to *equal*, *doubtful* or *wrong* (`examine`); and from the cases
that were tried to an answer (`Tally`, `concluded`). Search, shrinking, certification, replay, the
state machine, the zoo and pytest all ask here, and nobody else decides.
"""

from cachecheck.judge.conclude import alone, concluded
from cachecheck.judge.judgement import Judged, Judgement, examine, judged
from cachecheck.judge.tally import Tally
from cachecheck.judge.trial import Trial

__all__ = [
    "Judged",
    "Judgement",
    "Tally",
    "Trial",
    "alone",
    "concluded",
    "examine",
    "judged",
]
