"""Mamba under the library's own beam search, with every choice of beams forced.

Beam search is one loop inside ``generate``: a step of it is not to be called alone. So a cache is
the list of beam choices so far, and every call runs ``generate`` from the start. The logits
processor (a documented argument) reads the log-probabilities, which are the rows, and gives the
wanted continuations the highest scores: a reordering is a choice of source beams, carried out by
the library. The prompt repeats one token, which no sequence of a case contains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import LogitsProcessorList, MambaConfig, MambaForCausalLM

from benchmarks.history.adapters.plain import SIZES, VOCABULARY, Plain, equal_lengths

BEAMS = 4
KERNEL = 4
PROMPT = VOCABULARY - 1
_NEVER = -1e8  # a score below all that is wanted

Step = tuple[tuple[int, int], ...]
"""For each beam the beam that it continues, and with which token."""
Steps = tuple[Step, ...]
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Chosen:
    """The tokens and beams that every row of a batch has been continued with.

    Attributes:
        steps: one for each token that all rows have.
        sources: the beams that the rows stand at now.
    """

    steps: Steps
    sources: tuple[int, ...]


class Forced:
    """The logits processor: step by step, wanted continuations rank in their order."""

    def __init__(self, steps: Steps) -> None:
        self.steps = iter(steps)
        self.seen: list[Rows] = []

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """(beams, vocabulary) log-probabilities in, scores out."""
        self.seen.append(scores.float().numpy())
        forced = torch.full_like(scores, _NEVER)
        for rank, (source, token) in enumerate(_filled(next(self.steps, ()))):
            # The library adds the score of the source so far, which is minus its rank.
            forced[source, token] = source - rank
        return forced


def _filled(pairs: Step) -> list[tuple[int, int]]:
    """With continuations of beam 0 for the beams that no row needs."""
    spare = [(0, token) for token in range(VOCABULARY) if (0, token) not in pairs]
    return [*pairs, *spare][:BEAMS]


class Beams(Plain):
    """Rows are log-probabilities; `Chosen` is never changed."""

    vocab_size = VOCABULARY - 1
    mutates_cache = False
    even_batches = True

    def __init__(self, model: Any, config: Any, seed: int, *, prompt: int) -> None:
        super().__init__(model, config, seed)
        self.prompt = [PROMPT] * prompt

    def full(self, tokens: Any) -> Rows:
        """One pass without a cache over the prompt and the tokens."""
        logits = self.call([*self.prompt, *tokens], use_cache=False).logits[0]
        found: Rows = torch.log_softmax(logits.float(), dim=-1).numpy()
        return found[len(self.prompt) :]

    def new_cache(self) -> Any:
        """A batch of one."""
        return self.new_batch_cache(1)

    def extend(self, tokens: Any, cache: Any) -> tuple[Any, Any]:
        """A batch of one."""
        (some,), after = self.extend_batch([tokens], cache)
        return some, after

    def fork(self, cache: Any) -> Any:
        """A value needs no copy."""
        return cache

    def new_batch_cache(self, count: int) -> Chosen:
        """In the first step all beams come from beam 0: they are the prompt."""
        return Chosen((), (0,) * count)

    def extend_batch(self, sequences: Any, cache: Chosen) -> tuple[list[Rows], Chosen]:
        """Rows after each token, from one run of beam search.

        Raises:
            NotImplementedError: what beam search does not do.
        """
        equal_lengths(sequences)
        if len(sequences) > BEAMS:
            raise NotImplementedError(f"more than {BEAMS} beams")
        before = len(cache.steps)
        for tokens in zip(*sequences, strict=True):
            pairs = tuple(zip(cache.sources, map(int, tokens), strict=True))
            if len(set(pairs)) < len(pairs):
                raise NotImplementedError("beam search does not keep two beams of the same tokens")
            cache = Chosen((*cache.steps, pairs), tuple(range(len(pairs))))
        seen = np.stack(self._searched(cache.steps)[before + 1 :])
        return [seen[:, row] for row in range(len(sequences))], cache

    def reorder(self, cache: Chosen, rows: Any) -> Chosen:
        """The source beams of the next step."""
        return replace(cache, sources=tuple(cache.sources[row] for row in rows))

    def _searched(self, steps: Steps) -> list[Rows]:
        """The rows that beam search had before each of the steps, and after the last."""
        forced = Forced(steps)
        self.model.generate(
            input_ids=torch.tensor([self.prompt]),
            attention_mask=torch.ones(1, len(self.prompt), dtype=torch.long),
            num_beams=BEAMS,
            max_new_tokens=len(steps) + 1,
            do_sample=False,
            use_cache=True,
            pad_token_id=0,
            logits_processor=LogitsProcessorList([forced]),
        )
        return forced.seen


def _mamba(seed: int, prompt: int) -> Beams:
    config = MambaConfig(**SIZES, state_size=8, conv_kernel=KERNEL, eos_token_id=None)
    return Beams(MambaForCausalLM, config, seed, prompt=prompt)


def mamba(seed: int) -> Beams:
    """Mamba, without an end token; the prompt fills the convolution."""
    return _mamba(seed, KERNEL)


def mamba_short_prompt(seed: int) -> Beams:
    """The same with a prompt of one token."""
    return _mamba(seed, 1)
