"""Checks that decoding with a KV cache gives the rows of one full pass."""
