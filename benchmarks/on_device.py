"""Attention kernels and ten Hugging Face architectures on a device.

python -m benchmarks.on_device runs on ``cuda`` where there is one, else on the CPU, where some
kernels are refused. Kernels are torch's (flash, memory-efficient, math) with an explicit mask, in
float32 and bfloat16; the architectures run in both as well. Verdicts and margins go to
``evidence/gpu/DEVICE.json``; after ten minutes what is there is written.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from cachecheck.engines.attention import AttentionDecoder
from cachecheck.engines.hugging_face import HuggingFaceDecoder
from cachecheck.engines.hugging_face.tiny import TOKENS, tiny_model
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target

OUT = Path(__file__).parent.parent / "evidence" / "gpu"
SECONDS = 600
DTYPES = ("float32", "bfloat16")
KERNELS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
ARCHITECTURES = (
    *("llama", "gpt2", "mistral", "gemma2", "qwen3", "bloom", "mixtral", "mamba2", "qwen3_next"),
    "gpt_oss",
)
LAW_IDS = ("schedule", "crop", "batch", "reorder")


def kernel_on(backend: Any) -> Callable[..., Any]:
    """Torch's attention by this backend alone: it raises where that does not take the call."""

    def attend(query: Any, key: Any, value: Any, call: Any) -> Any:
        groups = query.shape[1] // key.shape[1]
        key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
        with sdpa_kernel([backend]):
            return scaled_dot_product_attention(query, key, value, attn_mask=call.mask)

    return attend


def kernel_decoder(seed: int, *, backend: Any, dtype: str, device: str) -> AttentionDecoder:
    """A small decoder around one of torch's kernels."""
    attend = kernel_on(backend)
    return AttentionDecoder(attend, seed=seed, dtype=dtype, device=device, float64=False)


def tiny_decoder(seed: int, *, name: str, dtype: str, device: str) -> HuggingFaceDecoder:
    """A tiny random Hugging Face model on the device."""
    return HuggingFaceDecoder(tiny_model(name, seed, dtype=dtype).to(device), vocab_size=TOKENS)


def targets(device: str) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Name, precision and factory of everything that is checked."""
    for dtype in DTYPES:
        for name, backend in KERNELS.items():
            yield (
                f"kernel {name}",
                dtype,
                partial(kernel_decoder, backend=backend, dtype=dtype, device=device),
            )
        for name in ARCHITECTURES:
            yield name, dtype, partial(tiny_decoder, name=name, dtype=dtype, device=device)


def checked(name: str, dtype: str, make: Callable[..., Any], examples: int) -> dict[str, Any]:
    """The verdicts of one target."""
    target = as_target(make, name)
    verdicts = [search(LAWS[law], target, Effort(examples=examples))[0] for law in LAW_IDS]
    return {"target": name, "dtype": dtype, "verdicts": [one.to_json() for one in verdicts]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Check everything, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20, help="cases a law (default 20)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="when to stop")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the file")
    options = parser.parse_args(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    found: list[dict[str, Any]] = []
    begun, left = time.monotonic(), 0
    for name, dtype, make in targets(device):
        if time.monotonic() - begun > options.seconds:
            left += 1
            continue
        found.append(checked(name, dtype, make, options.examples))
        said = ", ".join(f"{one['law']} {one['verdict']}" for one in found[-1]["verdicts"])
        print(f"{name} {dtype}: {said}", flush=True)
    hardware = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    data = {
        "device": hardware,
        "versions": {one: version(one) for one in ("torch", "transformers", "numpy")},
        "seconds": round(time.monotonic() - begun, 1),
        "not_reached": left,
        "results": found,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    write_whole(options.out / f"{device}.json", json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
