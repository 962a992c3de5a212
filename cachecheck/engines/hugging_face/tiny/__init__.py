"""Tiny random Hugging Face models: sizes as data, exceptions as data, and how one is built.

Importing this loads nothing of the library. The models are small enough to build in milliseconds,
and shaped so that a mistake in the cache shows: a linear layer draws from N(0, 1 / width), so that
rows and attention scores are of order one and stay there. Measured over 5 seeds at 6 tokens of
llama, gpt2, mistral, gemma2, qwen2, gpt_neox and bloom, on average: the largest logit is 3 to 4,
the last row attends with 83 % and more of the largest possible entropy (no softmax saturates),
changing an earlier token moves that row by 0.7 to 1.9, and swapping two earlier ones by 0.2 to 1.0.
At the library's own scale of 0.02 a swap moves it by 0.005 to 0.01.
"""

from cachecheck.engines.hugging_face.tiny.exceptions import EXCEPTIONS
from cachecheck.engines.hugging_face.tiny.maker import causal_classes, tiny_config, tiny_model
from cachecheck.engines.hugging_face.tiny.sizes import POSITIONS, SIZES, TOKENS, WIDTH, WINDOW

__all__ = [
    "EXCEPTIONS",
    "POSITIONS",
    "SIZES",
    "TOKENS",
    "WIDTH",
    "WINDOW",
    "causal_classes",
    "tiny_config",
    "tiny_model",
]
