"""The Keras layers, compared with facts that do not come from them.

On the backend that KERAS_BACKEND names, TensorFlow by default. A job of
.github/workflows/tests.yml runs this file on JAX and on PyTorch.
"""

import gc
import json
import os
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import LazyModule

from posenc_helpers import encode_positions

BACKEND = os.environ.get("KERAS_BACKEND", "tensorflow")
ON_TENSORFLOW = BACKEND == "tensorflow"
jax, torch, tf = map(LazyModule, ("jax", "torch", "tensorflow"))
keras, ops = LazyModule("keras"), LazyModule("keras.ops")
ours = LazyModule("posenc.layers")

IDS = np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])


@pytest.fixture(autouse=True)
def freed() -> Iterator[None]:
    """Free what each test has compiled: all at once takes up to 18 seconds."""
    gc.freeze()  # what is older is not looked through
    yield
    gc.collect()
    gc.unfreeze()


def as_array(tensor) -> np.ndarray:
    """Any backend's tensor, in any precision, as NumPy's float64."""
    return ops.convert_to_numpy(ops.cast(tensor, "float32")).astype(float)


def formula(length: int, width: int, start: int = 0, base: float = 1e4):
    return encode_positions(range(start, start + length), width, base)


def close(tensor, expected, atol=1e-7) -> None:
    np.testing.assert_allclose(as_array(tensor), expected, rtol=0, atol=atol)


def learned(*sizes, **options):
    return ours.PositionEmbeddingLayer(*sizes, **options)


def fixed(*sizes, **options):
    return ours.PositionEmbeddingFixedWeights(*sizes, **options)


def trainable(*layers):
    """The layers, a mean over positions, and something that learns."""
    mean = keras.layers.GlobalAveragePooling1D()
    model = keras.Sequential([*layers, mean, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def any_length():
    return keras.Input((None,), dtype="int32")


def compiled(function):
    """The function, as the backend's compiler makes it."""
    if ON_TENSORFLOW:
        return tf.function(function, jit_compile=True)
    if BACKEND == "jax":
        return jax.jit(function)
    return torch.compile(function, backend="aot_eager")


# How the two tables make the sums. `test_published.py` has their numbers.


def test_learned_layer_adds_its_two_tables():
    layer = learned(5, 10, 6)
    output = layer(IDS)
    assert len(layer.trainable_weights) == 2
    tables = {weight.name: as_array(weight) for weight in layer.weights}
    assert tables["word_table"].shape == (10, 6)
    close(output, tables["word_table"][IDS] + tables["position_table"])


@pytest.mark.parametrize("learned_words", [False, True])
def test_frozen_tables_stay_frozen_and_learned_words_learn(learned_words):
    layer = fixed(5, 10, 6, learned_words=learned_words)
    model = trainable(any_length(), layer)
    before = as_array(layer.word_table)
    model.trainable = False
    model.trainable = True
    model.compile("sgd", "mse")
    model.fit(IDS, np.ones((2, 1)), verbose=0)
    close(layer.position_table, formula(5, 6))
    if learned_words:
        assert np.abs(before).max() < 0.06  # small random numbers, no sines
        assert not np.array_equal(as_array(layer.word_table), before)
    else:
        close(layer.word_table, formula(10, 6))


# Input that does not fit.


def test_longer_input_is_refused_wherever_its_length_gets_known():
    layer, longer = learned(5, 10, 6), ops.zeros((1, 7), "int32")
    layer.build((None, 5))
    for call in (layer, compiled(layer)):
        with pytest.raises(ValueError, match=r"7.*sequence_length=5"):
            call(longer)
    with pytest.raises(ValueError, match=r"7.*sequence_length=5"):
        layer(keras.Input((7,), dtype="int32"))


@pytest.mark.parametrize("wrong", [10, -1, 0.5, np.nan, 2**32 + 3])
def test_unknown_ids_are_refused_in_eager_calls(wrong):
    if BACKEND == "jax" and wrong == 2**32 + 3:
        pytest.skip("JAX has made 3 of it before the layer sees it")
    ids = np.array([[1, wrong]], np.asarray(wrong).dtype)
    message = rf"ids must be whole .*vocab_size=10; this is {wrong}"
    with pytest.raises(ValueError, match=message):
        learned(5, 10, 6)(ids)


@pytest.mark.parametrize("wrong", [10, -1, 0.5])
def test_no_unknown_id_is_learned_from(wrong):
    """In compiled code, as the docstring says for each backend."""
    model = trainable(learned(5, 10, 6))
    data = np.array([[1, wrong]], "float32"), np.ones((1, 1))
    if BACKEND == "jax":
        assert np.isnan(model.fit(*data, verbose=0).history["loss"]).all()
        return
    kind = tf.errors.InvalidArgumentError if ON_TENSORFLOW else ValueError
    with pytest.raises(kind, match=r"10"):
        model.fit(*data, verbose=0)


def test_input_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"ndim=2.*\(5,\)"):
        learned(5, 10, 6)(np.zeros(5, int))
    with pytest.raises(ValueError, match=r"ndim=3.*\(2, 5\)"):
        ours.SinePositionEncoding()(IDS)


SIZES = {"sequence_length": 5, "vocab_size": 10, "output_dim": 6}
BAD = {name: [True, 5.0, "5", None, 0, -1] for name in SIZES}
BAD |= {name: ["yes", None, 1] for name in ("mask_zero", "learned_words")}
BAD |= {"dtype": ["int32", "bool"]}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_named(name):
    for value in BAD[name]:
        with pytest.raises((TypeError, ValueError), match=rf"{name}.*{value}"):
            fixed(**SIZES | {name: value})


@pytest.mark.parametrize(
    "start", [True, 5.5, [5], None, -1, 2**38 + 1, np.array(-1)], ids=repr
)
def test_bad_start_index_is_named(start):
    zeros = np.zeros((1, 3, 4), "float32")
    with pytest.raises((TypeError, ValueError), match="start_index"):
        ours.SinePositionEncoding()(zeros, start_index=start)


# First in a Sequential, which then makes floats of the ids.


def test_table_layers_stand_first_as_embedding_does():
    keras.utils.set_random_seed(1)
    half = "mixed_float16"
    model = trainable(learned(5, 10, 6, mask_zero=True, dtype=half))
    model.fit(IDS, np.ones((2, 1)), verbose=0)
    table = model.layers[0]
    close(keras.Sequential([table])(IDS), as_array(table(IDS)), atol=0)
    short = model.predict(IDS[1:, :3], verbose=0)
    close(model.predict(IDS[1:], verbose=0), short, atol=1e-2)


def test_floats_that_cannot_hold_every_id_are_refused():
    with pytest.raises(ValueError, match=r"float16.*vocab_size=2049:"):
        learned(5, 2049, 1)(ops.cast([[0]], "float16"))


# Masks.


@pytest.mark.parametrize("mask_zero", [False, True])
def test_mask_reaches_the_mean(mask_zero):
    """Without a mask, padding would change the mean."""
    table = learned(6, 10, 4, mask_zero=mask_zero)
    model = trainable(any_length(), table, ours.SinePositionEncoding())
    padded = np.array([[5, 6, 7, 0, 0, 0]])
    apart = as_array(model(padded)) - as_array(model(padded[:, :3]))
    assert (np.abs(apart).max() < 1e-6) == mask_zero


# Saved.


@pytest.mark.filterwarnings("error:.*build")  # a layer without one
def test_a_loaded_model_is_the_same(tmp_path):
    ids = any_length()
    tables = learned(np.int64(5), 10, 6, mask_zero=np.True_, name="a")
    published = fixed(5, 10, 6, mask_zero=True)
    words = fixed(5, 10, 6, learned_words=True, dtype="float16")
    sines = ours.SinePositionEncoding(np.int64(50), dtype="mixed_bfloat16")
    added = tables(ids)
    outputs = [added, words(ids), published(ids), sines(added)]
    model = keras.Model(ids, outputs)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    tensors, same = ([*each.weights, *each(IDS)] for each in (loaded, model))
    for one, other in zip(tensors, same, strict=True):
        assert np.array_equal(as_array(one), as_array(other))
    for layer in (tables, words, published, sines):
        config, name = layer.get_config(), layer.__class__.__name__
        assert loaded.get_layer(layer.name).get_config() == config
        assert json.loads(json.dumps(config)) == config  # plain values
        stored = keras.saving.get_registered_name(type(layer))
        assert stored == f"posenc>{name}"


# Precision.

ROUNDING = {"float32": 2**-24, "bfloat16": 2**-8}


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_1024_positions_are_told_apart_and_rounded_once(policy):
    compute = policy.removeprefix("mixed_")
    exact = formula(1024, 64)
    layer = fixed(1024, 1024, 64, dtype=policy)
    # Word 0 is row [0, 1, 0, 1, ...]. Sums reach 2, and are rounded once.
    sums = layer(np.zeros((1, 1024), int))
    assert keras.backend.standardize_dtype(sums.dtype) == compute
    error = np.abs(as_array(sums)[0] - (exact + exact[0]))
    assert error.max() <= ROUNDING[compute] + 2e-7
    assert {weight.dtype for weight in layer.weights} == {"float32"}
    close(layer.position_table, exact)
    sines = ours.SinePositionEncoding(dtype=policy)
    for function in (sines, compiled(sines)):
        rows = function(ops.zeros((1, 1024, 64)))
        assert keras.backend.standardize_dtype(rows.dtype) == compute
        error = np.abs(as_array(rows)[0] - exact)
        assert error.max() <= ROUNDING[compute] + 1e-9


# Where the rows begin, and for which shapes they are made.


@pytest.mark.parametrize("start", [0, 300, 100_000])
def test_start_index_moves_the_first_row(start):
    layer, floats = ours.SinePositionEncoding(100), ops.zeros((3, 7, 5))
    exact = np.broadcast_to(formula(7, 5, start, base=100), (3, 7, 5))
    tensor = ops.convert_to_tensor(start, "int32")
    variable = keras.Variable(start, dtype="int32", trainable=False)
    for kind in (start, np.int64(start), tensor, variable):
        close(layer(floats, start_index=kind), exact)
    known = compiled(lambda x: layer(x, start_index=start))
    close(known(floats), exact)
    unknown = compiled(lambda x, first: layer(x, start_index=first))
    # JAX knows no float64 there, and its docstring says how far off it is.
    float32 = max(1e-7, 4e-8 * start)
    atol = float32 if BACKEND == "jax" else 1e-7
    close(unknown(floats, tensor), exact, atol)


@pytest.mark.skipif(not ON_TENSORFLOW, reason="TensorFlow's graphs")
@pytest.mark.parametrize("jit", [False, True])
def test_a_graph_for_any_length_knows_its_longest(jit):
    layer = learned(5, 10, 6)
    spec = tf.TensorSpec([None, None], "int32")
    graph = tf.function(layer, input_signature=[spec], jit_compile=jit)
    close(graph(IDS.astype("int32")), as_array(layer(IDS)), atol=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="5"):
        graph(np.zeros((1, 7), "int32"))
