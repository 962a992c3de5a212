"""Tests of cachecheck, and of the tools that they are made with."""
