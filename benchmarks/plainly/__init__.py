"""Every accusation of the zoo, made again in plain transformers: see ``__main__``."""
