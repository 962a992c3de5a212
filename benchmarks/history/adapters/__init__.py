"""Decoders over the plain calls of a library, the same for a wrong and for a right release.

Models are tiny and random, drawn from a seed; nothing is downloaded. Weights have a standard
deviation of about one over the square root of the width, so that a mistake shows in the rows.
"""
