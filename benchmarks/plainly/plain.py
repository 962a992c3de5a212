"""Plain calls of transformers, without cachecheck: does what the zoo accuses show here too?

python -m benchmarks.plainly.plain JOBS.json RESULTS.json; both are made and read by ``__main__``.
Neither this file nor ``models.py`` imports cachecheck: weights, tokens, calls and comparisons are
their own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks.plainly.models import (
    MODEL,
    SEEDS,
    Make,
    Model,
    Running,
    build,
    cache_maker,
    full,
    generated,
    given,
    left_padded,
    off,
)

# Checks: each takes a model, a maker of caches, its own numbers and a drawer of tokens.

Draw = Callable[[int], torch.Tensor]


def chunks(model: Model, make: Make, sizes: list[int], draw: Draw) -> float:
    """Decoding in chunks of these sizes against one pass."""
    ids, run = draw(sum(sizes)), Running(model, make())
    rows = torch.cat([run(part) for part in ids.split(sizes)])
    return off(rows, full(model, ids))


def prefix(model: Model, _: Make, sizes: list[int], draw: Draw) -> float:
    """Rows of a first part, alone and with tokens behind it, in a pass without a cache."""
    ids = draw(sum(sizes))
    return max(
        off(full(model, ids[:at]), full(model, ids)[:at]) for at in range(sizes[0], len(ids))
    )


def later(model: Model, _: Make, sizes: list[int], draw: Draw) -> float:
    """The rows of a first part, with these and with other tokens behind it."""
    ids, others = draw(sum(sizes)), draw(sum(sizes))
    worst = 0.0
    for at in range(1, len(ids)):
        changed = torch.cat([ids[:at], others[at:]])
        worst = max(worst, off(full(model, ids)[:at], full(model, changed)[:at]))
    return worst


def later_in_call(model: Model, make: Make, sizes: list[int], draw: Draw) -> float:
    """The rows of the last of some chunks, with this and with another token at its end."""
    ids = draw(sum(sizes))
    found = []
    for last in (ids[-1:], (ids[-1:] + 1) % 3 + 3):
        run = Running(model, make())
        parts = torch.cat([ids[:-1], last]).split(sizes)
        found.append([run(part) for part in parts][-1][:-1])
    return off(*found)


def batch(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """Generating from prompts of these lengths together, padded on the left, and from each alone.

    The last number is of steps.
    """
    *lengths, steps = numbers
    prompts, forced = [draw(n) for n in lengths], torch.stack([draw(steps) for _ in lengths])
    pad = getattr(model.config.get_text_config(decoder=True), "pad_token_id", None) or 0
    ids, mask = left_padded(prompts, pad)
    together = generated(model, make, ids, forced, mask)
    worst = 0.0
    for row, prompt in enumerate(prompts):
        alone = generated(  # with the cache that generate makes
            model, lambda: None, prompt[None], forced[row : row + 1], torch.ones_like(prompt)[None]
        )
        worst = max(worst, off(together[row], alone[0]))
    return worst


def masked(model: Model, make: Make, lengths: list[int], draw: Draw) -> float:
    """As ``batch``, without generate: one call with a mask, against a pass over each alone."""
    prompts = [draw(n) for n in lengths]
    ids, mask = left_padded(prompts, 0)
    with torch.no_grad():
        answer = model(ids, attention_mask=mask, use_cache=True, **given(model, make()))
    together = answer.logits
    return max(
        off(rows[len(rows) - len(prompt) :], full(model, prompt))
        for rows, prompt in zip(together, prompts, strict=True)
    )


def generate(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """What generate sees behind one prompt, and the last row of a plain pass over it."""
    (length,) = numbers
    ids = draw(length)
    seen = generated(model, make, ids[None], draw(1)[None], torch.ones_like(ids)[None])
    return off(seen[0, 0], full(model, ids)[-1])


def rolled(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """So many tokens; roll back to each of the next numbers; then so many new ones.

    ``[2, 1, 1]``: two tokens, back to one, one more.
    """
    first, *lengths, new = numbers
    ids, run = draw(first), Running(model, make())
    run(ids)
    for length in lengths:
        run.cache.crop(length - len(ids))
        ids = ids[:length]
    more = draw(new)
    return off(run(more), full(model, torch.cat([ids, more]))[len(ids) :])


def emptied(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """A cache that was used and reset, and one pass."""
    first, new = numbers
    run = Running(model, make())
    run(draw(first))
    run.cache.reset()
    ids = draw(new)
    return off(run(ids), full(model, ids))


def again(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """The same call on new caches, before and after another sequence."""
    (length,) = numbers
    ids = draw(length)
    before = Running(model, make())(ids)
    other = Running(model, make())
    other(draw(3))
    other(draw(1))
    return off(before, Running(model, make())(ids))


def past_the_end(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """1.0 where generate goes on past a length at which a plain pass raises; else 0.0."""
    length = numbers[0]
    ids = draw(length + 1)
    try:
        full(model, ids)
    except (IndexError, RuntimeError):
        generated(model, make, ids[None], draw(1)[None], torch.ones_like(ids)[None])
        return 1.0
    return 0.0


def across_the_end(model: Model, make: Make, numbers: list[int], draw: Draw) -> float:
    """1.0 where a cached call gives rows past a length at which a plain pass raises; else 0.0."""
    length, new = numbers
    run = Running(model, make())
    run(draw(length + 1 - new))
    try:
        full(model, draw(length + 1))
    except (IndexError, RuntimeError):
        return float(len(run(draw(new))) == new)
    return 0.0


CHECKS = {check.__name__: check for check in (
    chunks, prefix, later, later_in_call, batch, masked, generate, rolled, emptied, again,
    past_the_end, across_the_end,
)}  # fmt: skip


def run(job: dict[str, Any]) -> dict[str, Any]:
    """The largest difference of the job's check over its draws, or what was raised."""
    worst, tries = 0.0, 0
    try:
        for seed in range(SEEDS):
            model = build(json.dumps({part: job[part] for part in MODEL}), seed)
            random = torch.Generator().manual_seed(seed)

            def draw(n: int, random: torch.Generator = random) -> torch.Tensor:
                return torch.randint(3, job["tokens"], (n,), generator=random)

            make = cache_maker(model, job["variant"])
            for _ in range(job["draws"]):
                tries += 1
                worst = max(worst, CHECKS[job["check"]](model, make, job["numbers"], draw))
                if worst > job["tolerance"]:
                    return {"difference": worst, "tries": tries}
    except Exception as error:  # noqa: BLE001 - whatever the library raises is the answer
        return {"raised": f"{type(error).__name__}: {error}".splitlines()[0], "tries": tries}
    return {"difference": worst, "tries": tries}


def main() -> None:
    """Answer every job of a file."""
    jobs, results = map(Path, sys.argv[1:])
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    found = []
    for job in json.loads(jobs.read_text(encoding="utf-8")):
        found.append(run(job))
        print(job["architecture"], job["variant"], job["check"], found[-1], file=sys.stderr)
    if "cachecheck" in sys.modules:
        raise SystemExit("cachecheck was imported: this would be no second opinion")
    results.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
