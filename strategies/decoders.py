"""Strategies for configurations of the reference decoder, and for decoders with drawn weights."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from cachecheck.reference.config import Config
from cachecheck.reference.decoder import ReferenceDecoder
from cachecheck.reference.masks import MaskRule, offset_mask
from cachecheck.strategies._validation import check_integer
from cachecheck.strategies.sequences import seeds
from cachecheck.strategies.sequences import windows as window_sizes


def configs(
    *,
    windows: SearchStrategy[int | None] | None = None,
    dtypes: SearchStrategy[str] | None = None,
    max_layers: int = 3,
    max_length: int = 64,
) -> SearchStrategy[Config]:
    """Returns a strategy which generates configurations of the reference decoder.

    * ``windows`` is a strategy for sliding windows or None; by default both come up.
    * ``dtypes`` is a strategy for "float64" and "float32"; by default float64 alone.
    * ``max_layers`` bounds L.
    * ``max_length`` is the size of the table where positions are learned.

    All ways to mark positions, multi-head, grouped and multi-query attention, sinks, MLPs,
    normalisation and both kinds of rows come up.

    Examples from this strategy shrink towards one layer of one head, no window, no positions,
    hidden rows and a vocabulary of 2.

    .. code-block:: pycon

        >>> configs().example()
        Config(vocab_size=2, width=8, layers=1, heads=1, key_value_heads=1, head_width=4, ...)
        >>> configs().example()
        Config(vocab_size=19, width=16, layers=2, heads=4, key_value_heads=2, head_width=8, ...)
        >>> configs(windows=st.just(4)).example().window
        4
    """
    check_integer("max_layers", max_layers, least=1)
    check_integer("max_length", max_length, least=1)
    window_choice = st.none() | window_sizes() if windows is None else windows
    dtype_choice = st.just("float64") if dtypes is None else dtypes

    @st.composite
    def drawn(draw: DrawFn) -> Config:
        groups = draw(st.sampled_from([1, 2]))
        positions = draw(st.sampled_from(["none", "sinusoidal", "rotary", "alibi", "learned"]))
        window = draw(window_choice)
        return Config(
            vocab_size=draw(st.integers(2, 32)),
            width=draw(st.sampled_from([8, 16])),
            layers=draw(st.integers(1, max_layers)),
            heads=groups * draw(st.sampled_from([1, 2])),
            key_value_heads=groups,
            head_width=draw(st.sampled_from([4, 8])),
            positions=positions,  # type: ignore[arg-type]  # one of the five just named
            window=window,
            sinks=0 if window is None else draw(st.integers(0, 2)),
            mlp_width=draw(st.sampled_from([0, 12])),
            normalise=draw(st.booleans()),
            output=draw(st.sampled_from(["hidden", "logits"])),
            dtype=draw(dtype_choice),  # type: ignore[arg-type]  # Config refuses any other
            max_length=max_length if positions == "learned" else None,
        )

    return drawn()


def decoders(
    *,
    configs: SearchStrategy[Config] | None = None,
    seeds: SearchStrategy[int] | None = None,
    mask_rule: MaskRule = offset_mask,
) -> SearchStrategy[ReferenceDecoder]:
    """Returns a strategy which generates reference decoders with weights drawn from a seed.

    * ``configs`` is a strategy for their configurations, by default all that `configs` offers.
    * ``seeds`` is a strategy for the seeds of their weights.
    * ``mask_rule`` is the mask of the cached path; a wrong one makes decoders to be caught.

    Examples from this strategy shrink towards what ``configs`` shrinks towards, and seed 0.

    .. code-block:: pycon

        >>> decoders().example()
        ReferenceDecoder(Config(vocab_size=2, width=8, layers=1, heads=1, ...), seed=0)
        >>> decoders(configs=st.just(Config())).example().config.width
        16
        >>> decoders(seeds=st.just(7)).example().seed
        7
    """
    return st.builds(
        lambda config, seed: ReferenceDecoder(config, seed=seed, mask_rule=mask_rule),
        _any_config() if configs is None else configs,
        _any_seed() if seeds is None else seeds,
    )


_any_config, _any_seed = configs, seeds  # the parameters of `decoders` take these names
