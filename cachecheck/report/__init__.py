"""Renderings of verdicts. They read plain data and decide nothing."""
