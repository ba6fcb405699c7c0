"""Rotary settings, read from a config.json in its old and new spelling."""

import json
import re

import numpy as np
import pytest
from posenc_review import read_config
from rope import LLAMA3, YARN, speeds

HEADS = {"hidden_size": 512, "num_attention_heads": 8}  # of 64 columns
PART = {"partial_rotary_factor": 0.25}
LINEAR = {"rope_type": "linear", "factor": 4}
PROPORTIONAL = PART | {"rope_type": "proportional"}
BASE, BY_4 = "base 500000", "base 10000, linear by 4"
ONE_SET = {"full": {"rope_type": "default"}, "rope_theta": 5e5}
OLD_LINEAR = {"rope_scaling": {"type": "linear", "factor": 4}}
ASKED = [  # a config, what it asks for, and the frequencies
    (HEADS | {"rope_ratio": None, "no_rope": [1]}, "base 10000", speeds(64)),
    (HEADS | {"rope_theta": 5e5}, BASE, speeds(64, 5e5)),
    (HEADS | {"rope_parameters": {"rope_theta": 5e5}}, BASE, speeds(64, 5e5)),
    (HEADS | OLD_LINEAR, BY_4, speeds(64) / 4),
    (HEADS | {"rope_parameters": LINEAR}, BY_4, speeds(64) / 4),
    (HEADS | {"rotary_pct": 0.25}, "base 10000", speeds(16)),
    (HEADS | PART, "base 10000", speeds(16)),
    ({"n_embd": 512, "n_head": 8, "rotary_dim": 32}, "base 10000", speeds(32)),
    ({"head_dim": 64, "qk_rope_head_dim": 32}, "base 10000", speeds(32)),
    ({"text_config": HEADS}, "base 10000", speeds(64)),
    (HEADS | {"rope_parameters": ONE_SET}, BASE, speeds(64, 5e5)),
]


@pytest.mark.parametrize(("config", "convention", "frequencies"), ASKED)
def test_what_a_config_asks_for(config, convention, frequencies):
    read = read_config(config)
    assert read.convention == convention
    np.testing.assert_allclose(read.frequencies, frequencies, rtol=1e-12)


def test_proportional_counts_the_columns_of_the_head():
    read = read_config({"rope_parameters": PROPORTIONAL}, width=64)
    np.testing.assert_allclose(read.frequencies, speeds(64)[:8])
    assert (read.columns, read.layout) == (16, "half of the head")


LLAMA = {"head_dim": 128, "rope_theta": 5e5, "rope_scaling": LLAMA3}
DEEPSEEK = {"mscale": 0.707, "mscale_all_dim": 1.0}


def yarn(**settings):
    return {"head_dim": 64, "rope_parameters": YARN | settings}


COMPUTED = [  # a config, its attention factor, frequencies of some pairs
    (LLAMA, 1, {28: 3.2114461e-3, 29: 2.1665706e-3, 34: 1.7850779e-4}),
    (LLAMA, 1, {35: 9.5562122e-5, 63: 3.0689259e-7}),
    (yarn(), 1.1386294, {10: 5.6234129e-2, 11: 3.9736785e-2}),
    (yarn(), 1.1386294, {16: 6.5384619e-3, 31: 3.3338038e-5}),
    (yarn(beta_slow=0.001), 1.1386294, {12: 3.0340774e-2, 31: 7.6587385e-5}),
    (yarn(truncate=False), 1.1386294, {11: 4.0783446e-2, 22: 5.0143962e-4}),
    (yarn(attention_factor=1.25), 1.25, {}),
    (yarn(**DEEPSEEK), 0.964326915, {}),
    (yarn(factor=1.0), 1, {}),
]


@pytest.mark.parametrize(("config", "length", "pairs"), COMPUTED)
def test_as_transformers_computes_them(config, length, pairs):
    """In float32, by its release 5.23, of a head of 128 and one of 64."""
    read = read_config(config)
    assert read.length == pytest.approx(length)
    for pair, frequency in pairs.items():
        assert read.frequencies[pair] == pytest.approx(frequency, rel=1e-6)


NEAR = {"rope_type": "default", "rope_theta": 1e4}
FAR = {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}
TWO_SETS = [{"full_attention": FAR, "sliding_attention": NEAR}, FAR]


@pytest.mark.parametrize("sets", TWO_SETS)
def test_layers_choose_a_set(sets):
    config = HEADS | {"rope_parameters": sets}
    if sets is FAR:  # the older spelling of two sets
        config |= {"rope_local_base_freq": 1e4}
    full = read_config(config, "full_attention")
    assert full.convention == "base 1000000, linear by 8"
    assert list(full.others) == ["sliding_attention"]
    assert read_config(config, "sliding_attention").convention == "base 10000"
    with pytest.raises(ValueError, match="layers='': give one of"):
        read_config(config)
    with pytest.raises(ValueError, match="layers='others': give one of"):
        read_config(config, "others")


def scaled(name, **settings):
    return HEADS | {"rope_scaling": {"rope_type": name} | settings}


MLA = {"head_dim": 512, "qk_rope_head_dim": 64}
GEMMA_4 = {"head_dim": 256, "global_head_dim": 512}
REFUSED = [  # a config, and what is said of it
    (scaled("dynamic"), "unknown scaling 'dynamic'; known are default"),
    (scaled("longrope"), "For others, give frequencies= and length="),
    (scaled("linear"), "'factor' is missing in the config"),
    (scaled("yarn", factor=2), "'original_max_position_embeddings' is"),
    (MLA | PART, "'qk_rope_head_dim' and a partial rotary factor"),
    (GEMMA_4, "global_head_dim may be the heads' width: give a width"),
    ({"model_type": "ernie4_5_vl_moe"}, "turns other columns than its config"),
    ({"kv_channels": 96}, "kv_channels may be the heads' width"),
    (HEADS | {"rope_parameters": PROPORTIONAL}, "by default, 512"),
    ({"rope_theta": 1e4}, "no whole head_dim, nor heads"),
    (HEADS | {"rope_theta": 1}, "rope_theta=1.0: give a number above 1"),
    (HEADS | {"rope_theta": "x"}, "rope_theta='x': give a number > 0"),
    (HEADS | {"partial_rotary_factor": 3}, "192 of 64 columns should turn"),
    ([64], "the config is no JSON object"),
    (HEADS | {"rope_ratio": 8}, "'rope_ratio' is not read: give frequencies="),
    (scaled("linear", factor=2, low=1), "'low' is not read"),
]


@pytest.mark.parametrize(("config", "told"), REFUSED)
def test_what_is_not_read_is_refused_by_its_name(config, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        read_config(config)


def test_a_file_is_read_and_a_width_may_be_given(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"rope_theta": 5e5}))
    assert read_config(path, width=32).columns == 32
    path.write_text("{")
    with pytest.raises(ValueError, match="Expecting property name"):
        read_config(path)
