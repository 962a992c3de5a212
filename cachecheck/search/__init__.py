"""Random search for a case that breaks a law."""

from cachecheck.search.loop import InterruptedSearchError, search

__all__ = ["InterruptedSearchError", "search"]
