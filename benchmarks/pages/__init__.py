"""Pages made from measurements: python -m benchmarks.pages rewrites every one of them.

Each module makes a page or a table as text from the files in ``evidence/`` and writes nothing.
"""
