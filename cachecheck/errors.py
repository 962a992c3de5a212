"""The errors a user can meet. Each message says what was expected, what came and what to do.

A leaf: imports nothing of the project.
"""

from __future__ import annotations


class CachecheckError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(CachecheckError, ValueError):
    """A value given to us is unusable: tokens, positions, a mask, a configuration, a cache."""


class TargetError(CachecheckError):
    """A target could not be loaded, or what it names is not a decoder."""


class DecoderError(CachecheckError):
    """The decoder under test raised, or returned something that is not rows and a cache."""


class DecoderRaisedError(DecoderError):
    """The decoder under test raised; its exception is the cause."""


class DecoderHangsError(DecoderError):
    """A call of the decoder under test did not return in time."""


class Unsupported(CachecheckError, NotImplementedError):  # noqa: N818 - read as a statement
    """A decoder's clean refusal; its message is quoted in the report."""


class EvidenceError(CachecheckError):
    """An evidence folder could not be written or read."""
