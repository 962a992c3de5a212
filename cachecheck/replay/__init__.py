"""Failures as files, and the command that tries one again."""

from cachecheck.replay.failure import replay_arguments, save_failure, stored_cases
from cachecheck.replay.trial import Replayed, replay

__all__ = ["Replayed", "replay", "replay_arguments", "save_failure", "stored_cases"]
