"""What every worker needs, loaded once in the process that the workers are forked from."""

import transformers.generation.utils
import transformers.masking_utils
import transformers.modeling_utils  # noqa: F401

import cachecheck.zoo.worker  # noqa: F401
