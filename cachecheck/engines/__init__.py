"""Other people's decoders, each engine a folder here and an entry in `registry`.

Importing this costs nothing, and neither does the registry: torch and transformers are loaded when
a decoder is asked for. The folder ``attention`` is an adapter without names of its own.
"""
