"""Rotary settings, read from a config.json in its old and new spelling."""

import json
import math

import numpy as np
import pytest
from posenc_review.config import read_config

HEAD = {"hidden_size": 512, "num_attention_heads": 8}
FROM_4096 = {"original_max_position_embeddings": 4096}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def rates(width, base=10_000.0):
    return np.array([base ** (-k / width) for k in range(0, width, 2)])


def old(**scaling):
    return HEAD | {"rope_scaling": scaling}


def new(**parameters):
    return HEAD | {"rope_parameters": parameters}


def yarn(**settings):
    return old(type="yarn", **FROM_4096, **{"factor": 4.0} | settings)


THETA = {"rope_theta": 5e5}
GPT_J = {"n_embd": 512, "n_head": 8, "rotary_dim": 32}
NEOX = HEAD | {"rotary_pct": 0.25, "rotary_emb_base": 5e5}
PART = {"partial_rotary_factor": 0.25}
QUARTER = PART | {"rope_type": "proportional", "rope_theta": 1e6}
SOME = rates(64, 1e6)[:8]
BOTH = new(**THETA) | old(type="linear", factor=4)
ASKED = [  # a config, width, base, scaling, factor, frequencies
    (HEAD, (64, 1e4, "default", 1, rates(64))),
    (new(factor=4, **THETA), (64, 5e5, "default", 1, rates(64, 5e5))),
    (new(**THETA), (64, 5e5, "default", 1, rates(64, 5e5))),
    (old(type="linear", factor=4), (64, 1e4, "linear", 4, rates(64) / 4)),
    (new(rope_type="linear", factor=4), (64, 1e4, "linear", 4, rates(64) / 4)),
    (HEAD | {"rotary_pct": 0.3}, (64, 1e4, "default", 1, rates(18))),
    (HEAD | {"head_dim": 128}, (128, 1e4, "default", 1, rates(128))),
    (HEAD | {"qk_rope_head_dim": 32}, (32, 1e4, "default", 1, rates(32))),
    (HEAD | PART, (64, 1e4, "default", 1, rates(16))),
    (NEOX, (64, 5e5, "default", 1, rates(16, 5e5))),
    (GPT_J, (64, 1e4, "default", 1, rates(32))),
    (BOTH, (64, 1e4, "linear", 4, rates(64) / 4)),
    (old(type="mrope"), (64, 1e4, "default", 1, rates(64))),
    (new(**QUARTER), (64, 1e6, "proportional", 1, SOME)),
    (new(factor=4, **QUARTER), (64, 1e6, "proportional", 4, SOME / 4)),
    ({"text_config": HEAD}, (64, 1e4, "default", 1, rates(64))),
]


@pytest.mark.parametrize(("config", "asked"), ASKED)
def test_what_a_config_asks_for(config, asked):
    read, (*named, frequencies) = read_config(config), asked
    assert [read.width, read.base, read.scaling, read.factor] == named
    assert (read.columns, read.length) == (2 * len(frequencies), 1)
    np.testing.assert_allclose(read.frequencies, frequencies, rtol=1e-12)


LLAMA = {"head_dim": 128, "rope_theta": 5e5, "rope_scaling": LLAMA3}
BY_LENGTHS = yarn(factor=None) | {"max_position_embeddings": 16_384}
WITHOUT = {k: v for k, v in LLAMA3.items() if not k.startswith("original")}
BY_MAX_LEN = LLAMA | {"rope_scaling": WITHOUT, "max_position_embeddings": 8192}
AT_ONCE = {"truncate": False, "beta_fast": 8, "beta_slow": 8}
YARN = 1.138629436
COMPUTED = [  # a config, its attention factor, frequencies of some pairs
    (LLAMA, 1, {28: 3.2114461e-3, 29: 2.1665706e-3, 34: 1.7850779e-4}),
    (LLAMA, 1, {35: 9.5562122e-5, 63: 3.0689259e-7}),
    (BY_MAX_LEN, 1, {28: 3.2114461e-3, 29: 2.1665706e-3, 34: 1.7850779e-4}),
    (yarn(), YARN, {10: 5.6234129e-2, 11: 3.9736785e-2, 16: 6.5384619e-3}),
    (yarn(), YARN, {22: 5.4716290e-4, 23: 3.3338036e-4, 31: 3.3338038e-5}),
    (BY_LENGTHS, YARN, {10: 5.6234129e-2, 31: 3.3338038e-5}),
    (yarn(truncate=False), YARN, {10: 5.6234129e-2, 11: 4.0783446e-2}),
    (yarn(truncate=False), YARN, {22: 5.0143962e-4, 23: 3.3338036e-4}),
    (yarn(**AT_ONCE), YARN, {15: 0.013335215, 16: 0.0025}),
    (yarn(attention_factor=1.25), 1.25, {}),
    (yarn(mscale=0.707, mscale_all_dim=1.0), 0.964326915, {}),
    (yarn(mscale=0.707), YARN, {}),
    (yarn(factor=1.0), 1, {}),
    (yarn(factor=0.5), 1, {}),
]


@pytest.mark.parametrize(("config", "length", "pairs"), COMPUTED)
@pytest.mark.filterwarnings("error")
def test_as_transformers_computes_them(config, length, pairs):
    """In float32, by its release 5.23, of a head of 128 and one of 64."""
    read = read_config(config)
    assert read.length == pytest.approx(length)
    for pair, frequency in pairs.items():
        assert read.frequencies[pair] == pytest.approx(frequency, rel=1e-6)


BY_8 = {"rope_type": "linear", "factor": 8.0}
GEMMA3 = old(**BY_8) | {"rope_theta": 1e6, "rope_local_base_freq": 1e4}
MODERN = {"n_embd": 512, "num_attention_heads": 8, "rope_scaling": BY_8}
MODERN |= {"local_rope_theta": 1e4, "global_rope_theta": 1e6}
NEAR = {"rope_type": "default", "rope_theta": 1e4}
GEMMA4 = new(full_attention=BY_8, sliding_attention=NEAR)
GEMMA4 |= {"rope_theta": 1e6}


@pytest.mark.parametrize("config", [GEMMA3, GEMMA4, MODERN])
def test_layers_choose_a_set(config):
    full = read_config(config, "full_attention")
    assert (full.base, full.scaling, full.factor) == (1e6, "linear", 8)
    near = read_config(config, "sliding_attention")
    assert (near.base, near.scaling, near.factor) == (1e4, "default", 1)
    with pytest.raises(ValueError, match="several sets: give layers, of"):
        read_config(config)
    with pytest.raises(ValueError, match="layers='others': give one of"):
        read_config(config, "others")


def test_a_set_may_be_the_only_one():
    with pytest.raises(ValueError, match="the config has only one set"):
        read_config(HEAD, "full_attention")
    config = new(full_attention=THETA) | {"rotary_dim": 16}
    assert str(read_config(config)).startswith("base 500000, 16 of 64 ")
    assert str(read_config(yarn())) == (
        "base 10000, yarn, by 4, lengths by 1.13863,"
        " radians per position 1, 0.7499, 0.5623, ..., 0.00003334"
    )


LACKING = [
    (old(type="dynamic"), "unknown scaling 'dynamic'"),
    (new(rope_type="longrope"), "unknown scaling 'longrope'"),
    (old(type="linear"), "'factor' of the scaling"),
    (old(type="yarn"), "original_max_position_embeddings"),
    (old(type="linear", factor=0), "factor=0: give a number above 0"),
    ({"rope_theta": 1e4}, "no head_dim, nor heads"),
    ({"hidden_size": 512}, "no head_dim, nor heads"),
    (
        {"n_embd": 256, "n_head": 3},
        "nor heads that divide its columns: give a width",
    ),
    ({"head_dim": [64]}, r"head_dim=\[64\]: give a number above 0"),
    ({"head_dim": 64.9}, "head_dim=64.9: give a whole number"),
    (HEAD | {"rope_theta": -1}, "rope_theta=-1: give a number above 0"),
    (HEAD | {"rope_theta": 1}, "rope_theta=1.0: give a number above 1"),
    (HEAD | {"rope_theta": math.nan}, "rope_theta=nan: give a number"),
    (HEAD | {"rope_theta": "x"}, "rope_theta='x': give a number"),
    (HEAD | {"rope_theta": 1e308}, r"rope_theta=1e\+308: give a number"),
    (HEAD | {"rotary_dim": 0}, "rotary_dim=0: give a number above 0"),
    (HEAD | {"partial_rotary_factor": 3}, "192 of 64 columns should"),
    (HEAD | {"rope_parameters": "default"}, "rope_parameters='default': "),
]


@pytest.mark.parametrize(("config", "told"), LACKING)
def test_what_a_config_lacks_is_named(config, told):
    with pytest.raises(ValueError, match=told):
        read_config(config)


def test_a_file_is_read_and_a_width_may_be_given(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(THETA))
    assert read_config(path, width=32).columns == 32
    digits = "9" * 400
    for written, told in (
        ("{", "config.json: no JSON: Expecting"),
        ("[" * 100_000, "config.json: no JSON: "),
        ("[64]", "config.json: the config is no JSON object: "),
        (f'{{"head_dim": {digits}}}', "config.json: head_dim=999"),
        ("\udcff", "no JSON: 'utf-8' codec"),
    ):
        path.write_bytes(written.encode(errors="surrogateescape"))
        with pytest.raises(ValueError, match=told):
            read_config(path)
    with pytest.raises(ValueError, match="config='': give a config"):
        read_config("")


def test_what_is_not_looked_at_is_noted():
    more = {"rope_pct": 0.5, "no_rope_layers": [1, 0], "rope_ratio": None}
    config = old(type="mrope", mrope_section=[8, 12, 12]) | more
    (note,) = read_config(config).notes
    assert note.endswith(" 'rope_pct', 'no_rope_layers', 'mrope_section'.")
    (note,) = read_config(HEAD, width=32).notes
    assert note == "the config's heads have 64 columns, not 32."
    assert not read_config(HEAD, width=64).notes
