"""The body of each command: what it does, prints and returns."""
