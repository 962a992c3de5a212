"""Old faults of released libraries, found again.

``rows.toml`` has the faults and the releases, ``adapters`` the decoders, one for wrong and right
releases alike; ``environments`` installs a release, ``searching`` runs ``cachecheck fuzz`` there
and says what the evidence must show; ``table`` shows it. To add a fault, write a factory in
``adapters``, a row in ``rows.toml``, and run ``python -m benchmarks.history --only ROW``.
"""
