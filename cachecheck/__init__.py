"""Checks that decoding with a KV cache gives the rows of one full pass.

The command line is ``cachecheck --help``; the strategies are `cachecheck.strategies`; the reference
decoder is `cachecheck.reference`. Nothing is imported here but the error a decoder may raise to
refuse, so that ``cachecheck --help`` stays quick.
"""

from cachecheck.errors import CachecheckError, Unsupported

__version__ = "0.1.0"

__all__ = ["CachecheckError", "Unsupported", "__version__"]
