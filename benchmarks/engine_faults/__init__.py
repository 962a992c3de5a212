"""Deliberate faults in an installed library, patched in from outside: what does a survey see?

Importing the faults loads neither torch nor transformers: they are data, and each names the place
in the library that it replaces.
"""
