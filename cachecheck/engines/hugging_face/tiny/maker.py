"""From the name of an architecture to a tiny random model of it: nothing is downloaded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from cachecheck.engines.hugging_face.tiny.exceptions import EXCEPTIONS, NOT_CAUSAL, UNSET
from cachecheck.engines.hugging_face.tiny.sizes import SIZES, WIDTH

_KINDS = 6
"""Different values in a list for each layer, at most: more are no kinds but numbers."""

_LAYER_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers")


def causal_classes() -> dict[str, str]:
    """Every model type of the installed library that has a causal class -> that class's name."""
    from transformers.models.auto.modeling_auto import (  # noqa: PLC0415 - an optional package
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    )

    return dict(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def tiny_config(name: str) -> Any:
    """The configuration of a tiny model of this type, as its causal class takes it.

    Raises:
        ValueError: it is no causal decoder, or the library refuses the sizes.
    """
    from transformers import CONFIG_MAPPING  # noqa: PLC0415 - seconds to import, and optional

    if name in NOT_CAUSAL:
        raise ValueError(f"{name} {NOT_CAUSAL[name]}")
    model_class = _model_class(name)
    # A type with parts (text, image) may have a causal class for its text alone.
    own = getattr(model_class, "config_class", None) or CONFIG_MAPPING[name]
    config = own(**_fields(own, EXCEPTIONS.get(name, {})))
    if "is_decoder" in vars(config):
        config.is_decoder = True
    return config


def tiny_model(
    name: str, seed: int, *, dtype: str = "float32", attention: str | None = None
) -> Any:
    """A random model of this type; the same seed gives the same weights.

    torch's global random state is as it was afterwards.

    Args:
        name: a key of `causal_classes`.
        seed: any integer torch accepts.
        dtype: name of the parameters' precision; the same float32 draws are rounded to it.
        attention: the library's name of an attention function; None for its own choice.
    """
    import torch  # noqa: PLC0415 - seconds to import, and an optional package

    config = tiny_config(name)
    config._attn_implementation = attention  # noqa: SLF001 - what from_config does itself
    if dtype == "float64":  # the experts' grouped products take no float64
        config._experts_implementation = "eager"  # noqa: SLF001 - likewise
    with torch.random.fork_rng(devices=[]):  # built on the CPU: no other generator is touched
        torch.manual_seed(seed)
        # Drawn in float32 whatever torch's default dtype is: a seed names one set of weights.
        model = _model_class(name)._from_config(config, dtype=torch.float32)  # noqa: SLF001
        _bring_to_scale(model)
    # Parameters only, as the library does when it loads: rotary frequencies stay in float32.
    for parameter in model.parameters():
        parameter.data = parameter.data.to(getattr(torch, dtype))
    return model


def _model_class(name: str) -> Any:
    import transformers  # noqa: PLC0415 - an optional package

    return getattr(transformers, causal_classes()[name])


def _bring_to_scale(model: Any) -> None:
    """Draw anew what an architecture makes much smaller by rules of its own, or leaves at zero."""
    for parameter in model.parameters():
        if parameter.ndim >= 2 and float(parameter.detach().std()) < WIDTH**-0.5 / 4:
            parameter.data.normal_(0.0, WIDTH**-0.5)


def _fields(config_class: Any, exceptions: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tiny configuration of this class, its parts' included."""
    names = {one.name for one in dataclasses.fields(config_class)}
    found = {name: value for name, value in SIZES.items() if name in names}
    if "kv_lora_rank" in names:
        found.pop("head_dim", None)
    found.update(_layers(config_class, found))
    found.update(exceptions)
    for part, part_class in _parts(config_class):
        found[part] = part_class(**_fields(part_class, exceptions.get(part, {})))
    return {name: value for name, value in found.items() if value is not UNSET}


def _parts(config_class: Any) -> Iterator[tuple[str, Any]]:
    """Configurations within this one that have a class; where any will do, the default's."""
    for part, part_class in (getattr(config_class, "sub_configs", None) or {}).items():
        if part_class.__name__ == "AutoConfig":
            default = vars(config_class()).get(part)
            part_class = None if default is None else type(default)  # noqa: PLW2901
        if dataclasses.is_dataclass(part_class):
            yield part, part_class


def _layers(config_class: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    """A layer of each kind that the default has, in the default's order; at least two layers.

    What the default lists for each layer (attention, experts) is listed for these.
    """
    default = vars(config_class())
    count = default.get("num_hidden_layers")
    if not isinstance(count, int):
        return {}
    lists = {
        one.name: list(value)
        for one in dataclasses.fields(config_class)
        if isinstance(value := default.get(one.name), list | tuple)
        and len(value) == count > 2
        and len(set(map(str, value))) <= _KINDS
    }
    chosen: set[int] = set()
    for values in lists.values():
        kinds = [str(value) for value in values]
        for kind in dict.fromkeys(kinds):
            if not any(kinds[at] == kind for at in chosen):
                chosen.add(kinds.index(kind))
    chosen.update([at for at in range(count) if at not in chosen][: max(0, 2 - len(chosen))])
    layers = {name: [values[at] for at in sorted(chosen)] for name, values in lists.items()}
    return {**{name: len(chosen) for name in _LAYER_COUNTS if name in found}, **layers}
