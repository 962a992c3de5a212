"""The frozen experiment this project grew from: run it, audit what it wrote, draw it.

Importing this imports neither the decoder (only a run needs it) nor matplotlib (only figures do).
Start with `run`, then `audit`.
"""

from cachecheck.experiment.auditing import audit
from cachecheck.experiment.plotting import figures
from cachecheck.experiment.problem import CHECKS, Problem
from cachecheck.experiment.running import run

__all__ = ["CHECKS", "Problem", "audit", "figures", "run"]
