"""Random search for a case that breaks a law."""

from cachecheck.search.loop import search
from cachecheck.search.smallest import InterruptedSearchError

__all__ = ["InterruptedSearchError", "search"]
