"""Measurements that the project reports; each writes its figures under ``evidence/``."""
