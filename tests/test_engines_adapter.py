"""The adapter for Hugging Face transformers: what it declares, keeps and leaves alone.

Run alone: python -m pytest tests/test_engines_adapter.py
"""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cachecheck.engines.hugging_face.tiny import tiny_model
from cachecheck.errors import DecoderError, TargetError
from cachecheck.guard import Guarded
from cachecheck.target import load_target

torch = pytest.importorskip("torch", reason="the adapter needs torch: the transformers extra")
transformers = pytest.importorskip("transformers", reason="the adapter needs transformers")

from cachecheck.engines.hugging_face import HuggingFaceDecoder  # noqa: E402

pytestmark = pytest.mark.extras

NAMES = ("llama", "gpt2", "mistral", "gemma2", "qwen2", "gpt_neox", "bloom")

EXAMPLE = Path(__file__).parent.parent / "examples" / "hf_own_model.py"


def decoder(name: str, seed: int = 0) -> HuggingFaceDecoder:
    return HuggingFaceDecoder(tiny_model(name, seed), threads=1)


def tokens(length: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, 32, length)


def check(guarded: Guarded, *schedules: tuple[int, ...]) -> None:
    for lengths in schedules:
        ids = tokens(sum(lengths))
        full, cache, rows = guarded.full(ids), guarded.new_cache(), []
        for chunk in np.split(ids, np.cumsum(lengths)[:-1]):
            new, cache = guarded.extend(chunk, cache)
            rows.append(new)
        assert np.abs(np.concatenate(rows) - full).max() <= guarded.bounds(full).min(), lengths


@contextlib.contextmanager
def no_network() -> Iterator[None]:
    def refuse(*_: Any) -> None:
        raise AssertionError("an attempt to reach the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield


def test_the_example_of_an_own_model_is_sound() -> None:
    guarded = load_target(f"{EXAMPLE}:make").make(0)
    guarded.probe()
    check(guarded, (5, 1, 6), (1, 1))


def test_a_seed_names_the_weights_and_leaves_global_randomness_alone() -> None:
    torch.manual_seed(5)
    before, others = torch.get_rng_state(), random.getstate()
    rows = decoder("llama", 7).full([1, 2, 3])
    assert torch.equal(torch.get_rng_state(), before)
    assert random.getstate() == others
    np.testing.assert_array_equal(decoder("llama", 7).full([1, 2, 3]), rows)
    assert np.abs(decoder("llama", 8).full([1, 2, 3]) - rows).max() > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_building_is_quiet_and_offline(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with no_network():
        Guarded(decoder(name)).probe()
    assert capfd.readouterr() == ("", "")


def test_the_number_of_threads_is_put_back() -> None:
    before = torch.get_num_threads()
    seen: list[int] = []
    model = tiny_model("llama", 0)
    model.register_forward_pre_hook(lambda *_: seen.append(torch.get_num_threads()))
    HuggingFaceDecoder(model, threads=before + 1).full([0])
    HuggingFaceDecoder(model).full([0])
    assert seen == [before + 1, before]
    assert torch.get_num_threads() == before


def test_state_shows_keys_and_values_of_every_layer() -> None:
    model = decoder("llama")
    _, cache = model.extend([1, 2, 3], model.new_cache())
    state = model.state(cache)
    assert [{name: part.shape for name, part in layer.items()} for layer in state] == [
        {"key": (1, 2, 3, 8), "value": (1, 2, 3, 8)}  # 2 key/value heads for 4 query heads
    ] * 2
    state[0]["key"][:] = 0  # a copy: writing to it must not reach the cache
    assert np.abs(model.state(cache)[0]["key"]).max() > 0
    assert model.state(model.new_cache()) == [{}, {}]


def test_a_sliding_cache_holds_no_more_than_its_window_needs() -> None:
    model = decoder("mistral")
    assert model.window == 6
    _, cache = model.extend(tokens(11), model.new_cache())
    assert {part.shape[-2] for layer in model.state(cache) for part in layer.values()} == {5}


def test_the_cache_grows_in_place_and_a_fork_does_not_follow() -> None:
    model = decoder("gpt2")
    _, cache = model.extend([1, 2], model.new_cache())
    fork = model.fork(cache)
    _, same = model.extend([3], cache)
    assert same is cache
    assert fork.length == fork.cache.get_seq_length() == 2
    alone, _ = model.extend([1, 2, 4], model.new_cache())
    branch, _ = model.extend([4], fork)
    np.testing.assert_allclose(branch[0], alone[2], rtol=0, atol=1e-4)


def test_learned_positions_end_with_an_error_and_not_with_a_wrong_row() -> None:
    guarded = Guarded(decoder("gpt2"))
    assert guarded.capabilities.max_length == 64
    assert Guarded(decoder("llama")).capabilities.max_length is None
    check(guarded, (40, 24))
    _, cache = guarded.extend(tokens(64), guarded.new_cache())
    with pytest.raises(DecoderError):
        guarded.extend([0], cache)


@pytest.mark.parametrize(
    ("stored", "declared", "rows"),
    [
        ("bfloat16", "bfloat16", np.float32),  # numpy has no bfloat16
        ("float16", "float16", np.float16),
        ("float64", "float32", np.float64),  # norms and softmax stay in float32
    ],
)
def test_the_precision_declared_is_that_of_the_arithmetic(
    stored: str, declared: str, rows: type[np.floating[Any]]
) -> None:
    model = HuggingFaceDecoder(tiny_model("llama", 0, dtype=stored), threads=1)
    guarded, ids = Guarded(model), tokens(12)
    assert guarded.capabilities.dtype == declared
    assert model.full(ids).dtype == rows
    _, cache = model.extend(ids, model.new_cache())
    assert {part.dtype for part in model.state(cache)[0].values()} == {np.dtype(rows)}
    check(guarded, (5, 1, 6))


def test_another_cache_of_the_library_can_be_put_to_the_test() -> None:
    model = tiny_model("llama", 0)

    def static() -> Any:
        return transformers.StaticCache(config=model.config, max_cache_len=16)

    guarded = Guarded(HuggingFaceDecoder(model, make_cache=static, max_length=16, threads=1))
    check(guarded, (16,), (1,) * 16, (5, 1, 10))


def test_a_model_without_a_head_gives_hidden_states() -> None:
    guarded = Guarded(HuggingFaceDecoder(tiny_model("llama", 0).model, threads=1))
    assert guarded.full(tokens(9)).shape == (9, 32)
    check(guarded, (4, 5))


def test_a_model_in_training_mode_is_put_into_eval_mode() -> None:
    model = tiny_model("gpt2", 0).train()  # GPT-2 drops out a tenth by default
    made = HuggingFaceDecoder(model, threads=1)
    np.testing.assert_array_equal(made.full([1, 2]), made.full([1, 2]))


def test_a_model_without_a_cache_is_refused() -> None:
    config = transformers.AutoConfig.for_model("openai-gpt", n_embd=8, n_head=2, vocab_size=9)
    with pytest.raises(TargetError, match="forward takes no cache"):
        HuggingFaceDecoder(transformers.AutoModelForCausalLM.from_config(config))


def test_an_error_is_placed_in_the_librarys_code_and_not_in_the_adapter() -> None:
    model = decoder("mistral")
    guarded = Guarded(model)
    cache = guarded.new_cache()
    model.model.model.layers[1].self_attn.k_proj.weight.data = torch.zeros(3, 5)
    with pytest.raises(DecoderError, match=r"raised RuntimeError: .* \(modeling_mistral\.py:\d+\)"):
        guarded.extend(tokens(2), cache)
