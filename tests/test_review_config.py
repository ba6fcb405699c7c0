"""Rotary settings, read from a config.json in its old and new spelling."""

import json
import math

import numpy as np
import pytest

from posenc_review.config import read_config

HEAD = {"hidden_size": 512, "num_attention_heads": 8}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {"factor": 4.0, "original_max_position_embeddings": 4096}


def rates(width, base=10_000.0):
    return np.array([base ** (-k / width) for k in range(0, width, 2)])


def new(**parameters):
    return HEAD | {"rope_parameters": parameters}


OLD = {"type": "linear", "factor": 4}
THETA = {"rope_theta": 5e5}
LINEAR = {"rope_type": "linear", "factor": 4}
GPT_J = {"n_embd": 512, "n_head": 8, "rotary_dim": 32}
NEOX = HEAD | {"rotary_pct": 0.25, "rotary_emb_base": 5e5}
PART = {"partial_rotary_factor": 0.25}
QUARTER = PART | {"rope_type": "proportional", "rope_theta": 1e6}
SOME = rates(64, 1e6)[:8]


@pytest.mark.parametrize(
    ("config", "width", "base", "scaling", "expected"),
    [
        (HEAD, 64, 1e4, "default", rates(64)),
        (HEAD | THETA, 64, 5e5, "default", rates(64, 5e5)),
        (new(rope_theta=5e5), 64, 5e5, "default", rates(64, 5e5)),
        (HEAD | {"rope_scaling": OLD}, 64, 1e4, "linear", rates(64) / 4),
        (new(**LINEAR) | THETA, 64, 5e5, "linear", rates(64, 5e5) / 4),
        (HEAD | {"rotary_pct": 0.3}, 64, 1e4, "default", rates(18)),
        (new(factor=4, **QUARTER), 64, 1e6, "proportional", SOME / 4),
        (HEAD | {"head_dim": 128}, 128, 1e4, "default", rates(128)),
        (HEAD | {"qk_rope_head_dim": 32}, 32, 1e4, "default", rates(32)),
        (HEAD | PART, 64, 1e4, "default", rates(16)),
        (NEOX, 64, 5e5, "default", rates(16, 5e5)),
        (GPT_J, 64, 1e4, "default", rates(32)),
        (new(**QUARTER), 64, 1e6, "proportional", SOME),
        ({"text_config": HEAD}, 64, 1e4, "default", rates(64)),
    ],
)
def test_what_a_config_asks_for(config, width, base, scaling, expected):
    read = read_config(config)
    assert (read.width, read.base) == (width, base)
    assert (read.scaling, read.length) == (scaling, 1)
    assert read.factor == (4 if "'factor': 4" in str(config) else 1)
    assert read.columns == 2 * len(expected)
    np.testing.assert_allclose(read.frequencies, expected, rtol=1e-12)


def test_llama3_and_yarn_as_transformers_computes_them():
    """In float32, by its release 5.23, of a head of 128 and one of 64."""
    llama = {"head_dim": 128, "rope_theta": 5e5, "rope_scaling": LLAMA3}
    yarn = HEAD | {"rope_scaling": {"type": "yarn", **YARN}}
    known = (
        (llama, {28: 3.2114461e-3, 29: 2.1665706e-3, 34: 1.7850779e-4}),
        (llama, {35: 9.5562122e-5, 63: 3.0689259e-7}),
        (yarn, {10: 5.6234129e-2, 11: 3.9736785e-2, 16: 6.5384619e-3}),
        (yarn, {22: 5.4716290e-4, 23: 3.3338036e-4, 31: 3.3338038e-5}),
    )
    for config, pairs in known:
        speeds = read_config(config).frequencies
        for pair, speed in pairs.items():
            assert speeds[pair] == pytest.approx(speed, rel=1e-6), pair


@pytest.mark.parametrize(
    ("more", "length"),
    [
        ({}, 0.1 * math.log(4) + 1),
        ({"attention_factor": 1.0}, 1.0),
        ({"mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),
        (
            {"mscale": 0.707, "mscale_all_dim": 1.0},
            (0.0707 * math.log(4) + 1) / (0.1 * math.log(4) + 1),
        ),
        ({"mscale": 0.707}, 0.1 * math.log(4) + 1),
        ({"factor": 1.0}, 1.0),
        ({"factor": 1.5}, 0.1 * math.log(1.5) + 1),
    ],
)
def test_the_attention_factor_of_yarn(more, length):
    scaling = {"rope_type": "yarn", **YARN, **more}
    read = read_config(HEAD | {"rope_scaling": scaling})
    assert read.length == pytest.approx(length)


@pytest.mark.filterwarnings("error")
def test_yarn_leaves_fast_pairs_and_divides_slow_ones():
    read = read_config(HEAD | {"rope_scaling": {"type": "yarn", **YARN}})
    divided = rates(64) / read.frequencies
    assert np.flatnonzero(divided > 1 + 1e-9)[0] == 11
    assert np.flatnonzero(divided > 4 - 1e-9)[0] == 23
    whole = {"type": "yarn", "truncate": False, **YARN}
    untruncated = read_config(HEAD | {"rope_scaling": whole})
    turns = 4096 / (2 * math.pi * np.array([32, 1]))
    low, high = 32 * np.log(turns) / math.log(1e4)
    kept = (high - 11) / (high - low)
    expected = rates(64)[11] * (kept + (1 - kept) / 4)
    assert untruncated.frequencies[11] == pytest.approx(expected)
    at_once = whole | {"beta_fast": 8, "beta_slow": 8}
    stepped = read_config(HEAD | {"rope_scaling": at_once}).frequencies
    np.testing.assert_allclose(rates(64) / stepped, [1] * 16 + [4] * 16)


def test_the_factor_may_follow_from_the_lengths():
    scaling = {"type": "yarn", "original_max_position_embeddings": 4096}
    config = HEAD | {"max_position_embeddings": 16_384}
    assert read_config(config | {"rope_scaling": scaling}).factor == 4


GEMMA3 = HEAD | {
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}
MODERN = {
    "n_embd": 512,
    "num_attention_heads": 8,
    "local_rope_theta": 1e4,
    "global_rope_theta": 1e6,
    "rope_scaling": LINEAR | {"factor": 8.0},
}
GEMMA4 = HEAD | {
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 8.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    },
    "rope_theta": 1e6,
}


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


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (HEAD | {"rope_scaling": {"type": "dynamic"}}, "unknown scaling 'dyn"),
        (HEAD | {"rope_parameters": {"rope_type": "longrope"}}, "'longrope'"),
        (HEAD | {"rope_scaling": {"type": "linear"}}, "'factor' of the scal"),
        (HEAD | {"rope_scaling": {"type": "yarn"}}, "original_max_position"),
        ({"rope_theta": 1e4}, "the config gives no head_dim: give a width"),
        ({"hidden_size": 512}, "the config gives no head_dim: give a width"),
        (HEAD | {"rope_theta": -1}, "rope_theta=-1: give a number above 0"),
        (HEAD | {"rope_theta": math.nan}, "rope_theta=nan: give a number"),
        (HEAD | {"rope_theta": "x"}, "rope_theta='x': give a number"),
        (HEAD | {"rope_scaling": LINEAR | {"factor": 0}}, "factor=0: give a"),
        (HEAD | {"rotary_dim": 0}, "rotary_dim=0: give a number above 0"),
        (HEAD | {"partial_rotary_factor": 3}, "192 of 64 columns should"),
        ({"head_dim": [64]}, r"head_dim=\[64\]: give a number above 0"),
    ],
)
def test_what_a_config_lacks_is_named(config, told):
    with pytest.raises(ValueError, match=told):
        read_config(config)


def test_only_one_set_has_no_names():
    with pytest.raises(ValueError, match="the config has only one set"):
        read_config(HEAD, "full_attention")
    one = {"full_attention": {"rope_theta": 5e5}}
    read = read_config(HEAD | {"rope_parameters": one, "rotary_dim": 16})
    assert str(read).startswith("base 500000, 16 of 64 columns, radians per")


def test_a_file_is_read_and_a_width_may_be_given(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"rope_theta": 5e5}))
    assert read_config(path, width=32).columns == 32
