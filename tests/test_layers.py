"""The Keras layers, beside facts that do not come from them."""

import importlib
import json
import os
import subprocess
import sys
from math import cos, sin

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import posenc_layers
from posenc_layers import (
    PositionEmbeddingFixedWeights,
    PositionEmbeddingLayer,
    SinePositionEncoding,
)

IDS = np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])
LEARNED = PositionEmbeddingLayer
FIXED = PositionEmbeddingFixedWeights
both = pytest.mark.parametrize("make", [LEARNED, FIXED])
every_policy = pytest.mark.parametrize(
    "policy", ["float32", "mixed_float16", "mixed_bfloat16"]
)
IN_A_GRAPH = tf.errors.InvalidArgumentError


def as_array(tensor) -> np.ndarray:
    return ops.cast(tensor, "float64").numpy()


def formula(length: int, width: int, start: int = 0, base: float = 1e4):
    """Section 3.5 of the paper, entry by entry, with Python's own sine."""
    table = np.empty((length, width))
    for p, k in np.ndindex(length, width):
        angle = (start + p) / base ** ((k - k % 2) / width)
        table[p, k] = cos(angle) if k % 2 else sin(angle)
    return table


def trainable(*layers) -> keras.Model:
    """The layers, a mean over positions, and something that learns."""
    mean = keras.layers.GlobalAveragePooling1D()
    model = keras.Sequential([*layers, mean, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def any_length() -> keras.KerasTensor:
    return keras.Input((None,), dtype="int32")


def in_a_graph(layer, jit: bool, length=None, dtype=tf.int32):
    """The layer in a graph that is traced for any batch and any length."""
    spec = tf.TensorSpec([None, length], dtype)
    return tf.function(layer, input_signature=[spec], jit_compile=jit)


# What the tutorials print, and how the two tables make it.


def test_sine_layer_gives_the_36_published_numbers(published):
    wanted = published["layer_20x200"]
    encoding = SinePositionEncoding()(np.zeros((1, 20, 200), "float32"))
    assert encoding.shape == (1, 20, 200)
    printed = encoding.numpy()[0][np.ix_(wanted["rows"], wanted["columns"])]
    np.testing.assert_allclose(
        printed, wanted["values"], rtol=0, atol=wanted["print_rounding"]
    )


def test_learned_layer_adds_its_two_tables():
    layer = LEARNED(5, 10, 6)
    output = layer(IDS)
    words, positions = map(as_array, layer.weights)
    assert words.shape == (10, 6) and positions.shape == (5, 6)
    names = [weight.name for weight in layer.weights]
    assert names == ["word_table", "position_table"]
    np.testing.assert_allclose(output, words[IDS] + positions, atol=1e-7)
    assert len(layer.trainable_weights) == 2


@pytest.mark.parametrize("learned_words", [False, True])
def test_frozen_tables_stay_frozen_and_learned_words_learn(learned_words):
    layer = FIXED(5, 10, 6, learned_words=learned_words)
    model = trainable(any_length(), layer)
    before = as_array(layer.word_table)
    model.trainable = False
    model.trainable = True
    model.compile("sgd", "mse")
    model.fit(IDS, np.ones((2, 1)), verbose=0)
    np.testing.assert_allclose(
        layer.position_table, formula(5, 6), rtol=0, atol=1e-7
    )
    if learned_words:
        assert np.abs(before).max() < 0.06  # small random numbers, no sines
        assert not np.array_equal(layer.word_table, before)
    else:
        np.testing.assert_allclose(
            layer.word_table, formula(10, 6), rtol=0, atol=1e-7
        )


# Input that does not fit.


@both
@pytest.mark.parametrize("jit", [False, True])
def test_longer_input_is_refused_wherever_its_length_gets_known(make, jit):
    ids, layer = np.zeros((1, 7), "int32"), make(5, 10, 6)
    message = r"7.*sequence_length=5"
    with pytest.raises(ValueError, match=message):
        layer.build((None, 7))
    layer(IDS)  # built now, for a length that fits
    graph = in_a_graph(layer, jit, length=7)
    for ask, longer in (
        (layer, keras.Input((7,), dtype="int32")),
        (layer, ids),
        (graph, ids),
    ):
        with pytest.raises(ValueError, match=message):
            ask(longer)
    # Under XLA the slice raises, and can only say what did not fit.
    message = r"5.*7" if jit else r"(?s)sequence_length=5.*\b7\b"
    with pytest.raises(IN_A_GRAPH, match=message):
        in_a_graph(layer, jit)(ids)
    # A batch of seven is no text of seven.
    assert in_a_graph(layer, jit)(ids.T).shape == (7, 1, 6)


@both
@pytest.mark.parametrize("wrong", [10, -1, 0.5, np.nan])
def test_unknown_ids_are_refused_in_eager_calls_graphs_and_fit(make, wrong):
    ids = np.array([[1, wrong]], np.asarray(wrong).dtype)
    message = rf"(?s)ids must be whole .*vocab_size=10.*{wrong}"
    with pytest.raises(ValueError, match=message):
        make(5, 10, 6)(ids)
    graph = in_a_graph(make(5, 10, 6), jit=False, dtype=ids.dtype)
    with pytest.raises(IN_A_GRAPH, match=message):
        graph(ids)
    with pytest.raises(IN_A_GRAPH, match=message):
        trainable(make(5, 10, 6)).fit(ids, np.ones((1, 1)), verbose=0)


def test_unknown_ids_under_xla_do_what_the_docstring_says():
    layer = LEARNED(5, 10, 6)
    rows = in_a_graph(layer, jit=True)(
        np.array([[10], [-1], [9], [-2], [-10], [-11]], "int32")
    )
    last, before, first = layer(np.array([[9], [8], [0]]))
    expected = [last, last, last, before, first, first]
    np.testing.assert_array_equal(rows, expected)


TABLES, SINES = LEARNED(5, 10, 6), SinePositionEncoding()
RAGGED_INPUT = keras.Input((None,), dtype="int32", ragged=True)
MISFITS = {
    "list": (TABLES, [[1, 2]], r"word ids, integers .*convert_to_tensor"),
    "ragged": (TABLES, tf.ragged.constant([[1], []]), r"\.to_tensor\(\)"),
    "ragged input": (TABLES, RAGGED_INPUT, "without ragged=True"),
    "array of text": (TABLES, np.array([["you"]]), "TextVectorization"),
    "tensor of text": (TABLES, tf.constant([["you"]]), "TextVectorization"),
    "text": (TABLES, "you too robot", "TextVectorization"),
    "truths": (TABLES, np.zeros((1, 5), bool), "bool: cast it to int32"),
    "one axis": (TABLES, np.zeros(5, int), r"shape \(5,\): add or drop"),
    "integers": (SINES, IDS[None], r"embeddings, floats .* to float32"),
    "two axes": (SINES, np.zeros((4, 6)), r"shape \(4, 6\): add or drop"),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_misfit_input_is_told_what_to_do(misfit):
    layer, wrong, message = MISFITS[misfit]
    with pytest.raises(ValueError, match=message):
        layer(wrong)


SIZES = {"sequence_length": 5, "vocab_size": 10, "output_dim": 6}
BAD = {name: [True, 5.0, "5", None, 0, -1] for name in SIZES}
BAD |= {name: ["yes", None, 1] for name in ("mask_zero", "learned_words")}
BAD |= {"max_wavelength": [True, "5", None, 0, -1, float("nan")]}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_named(name):
    for value in BAD[name]:
        message = rf"{name}.*{value!r}"
        with pytest.raises((TypeError, ValueError), match=message):
            if name == "max_wavelength":
                SinePositionEncoding(value)
            else:
                FIXED(**SIZES | {name: value})


@pytest.mark.parametrize("start", [True, 5.5, [5], "5", -1])
@pytest.mark.parametrize("kind", [lambda start: start, tf.constant])
def test_bad_start_index_is_named(start, kind):
    def call(floats):
        return SINES(floats, start_index=kind(start))

    graph = tf.function(call, input_signature=[tf.TensorSpec([None] * 3)])
    for function in (call, graph):
        with pytest.raises((TypeError, ValueError), match="start_index must"):
            function(np.zeros((1, 3, 4), "float32"))
    with pytest.raises(TypeError, match=r"start_index must .* not None"):
        SINES(np.zeros((1, 3, 4), "float32"), start_index=None)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_another_backend_is_told_at_import(monkeypatch, backend):
    monkeypatch.setattr(keras.backend, "backend", lambda: backend)
    with pytest.raises(ImportError, match=f"TensorFlow, not on {backend}: "):
        importlib.reload(posenc_layers)


# First in a Sequential, which then makes floats of the ids.


@every_policy
@both
def test_table_layers_stand_first_as_embedding_does(make, policy, tmp_path):
    keras.utils.set_random_seed(1)
    model = trainable(make(5, 10, 6, mask_zero=True, dtype=policy))
    model.fit(IDS, np.ones((2, 1)), verbose=0)
    table = model.layers[0]
    expected = table(IDS)
    np.testing.assert_array_equal(keras.Sequential([table])(IDS), expected)
    short = model.predict(IDS[1:, :3], verbose=0)
    np.testing.assert_allclose(
        model.predict(IDS[1:], verbose=0), short, rtol=0, atol=1e-2
    )
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(IDS), model(IDS))


@pytest.mark.parametrize(
    ("dtype", "most"),
    [("bfloat16", 256), ("float16", 2048), ("float32", 2**24)],
)
def test_floats_that_cannot_hold_every_id_are_refused(dtype, most):
    with pytest.raises(ValueError, match=rf"{dtype}.*vocab_size={most + 1}:"):
        LEARNED(5, most + 1, 1)(ops.cast([[0]], dtype))
    last, layer = np.array([[most - 1]]), LEARNED(5, most, 1)
    np.testing.assert_array_equal(layer(ops.cast(last, dtype)), layer(last))


def test_floats_are_not_made_coarser_on_their_way():
    layer, last = LEARNED(5, 5000, 2, dtype="mixed_bfloat16"), [[4999]]
    from_floats = layer(np.array(last, "float32"))
    np.testing.assert_array_equal(from_floats, layer(np.array(last)))


# Masks.


@both
def test_mask_reaches_the_next_layer(make):
    padded = np.array([[5, 6, 7, 0, 0, 0]])
    model = trainable(any_length(), make(6, 10, 4, mask_zero=True))
    np.testing.assert_allclose(
        model(padded), model(padded[:, :3]), rtol=0, atol=1e-6
    )
    unmasked = trainable(any_length(), make(6, 10, 4))
    assert np.abs(unmasked(padded) - unmasked(padded[:, :3])).max() > 1e-4


def test_mask_passes_the_sine_layer_and_add_but_no_plus_sign():
    ids = any_length()
    x = keras.layers.Embedding(10, 4, mask_zero=True)(ids)
    p = SinePositionEncoding()(x)
    mean = keras.layers.GlobalAveragePooling1D()
    sums = [mean(keras.layers.Add()([x, p])), mean(p), mean(x + p)]
    model = keras.Model(ids, sums)
    padded = np.array([[5, 6, 7, 0, 0, 0]])
    pairs = zip(model(padded), model(padded[:, :3]), strict=True)
    added, alone, plus = (np.abs(long - short).max() for long, short in pairs)
    assert max(added, alone) < 1e-6
    assert plus > 0.1


# Saved, copied.


LOAD = """
import sys
import numpy as np
import keras
import posenc_layers
folder = sys.argv[1]
model = keras.models.load_model(f"{folder}/model.keras")
expected = np.load(f"{folder}/expected.npz")
tensors = [*model.weights, *model(expected["ids"])]
for name, tensor in zip(expected.files[1:], tensors, strict=True):
    np.testing.assert_array_equal(tensor, expected[name])
"""


def test_fresh_process_loads_the_same_tables(tmp_path):
    ids = any_length()
    learned = LEARNED(5, 10, 6, mask_zero=True)(ids)
    fixed = [FIXED(5, 10, 6, learned_words=yes)(ids) for yes in (True, False)]
    sines = SinePositionEncoding(50)(learned)
    model = keras.Model(ids, [learned, *fixed, sines])
    model.save(tmp_path / "model.keras")
    tensors = [tensor.numpy() for tensor in [*model.weights, *model(IDS)]]
    assert len(tensors) == 6 + 4  # tables and outputs
    np.savez(tmp_path / "expected.npz", *tensors, ids=IDS)
    run = subprocess.run(
        [sys.executable, "-Wignore::DeprecationWarning", "-c", LOAD, tmp_path],
        capture_output=True,
        text=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert run.returncode == 0, run.stderr
    assert "warn" not in run.stderr.lower()


@pytest.mark.parametrize(
    "layer",
    [
        LEARNED(np.int64(5), 10, 6, mask_zero=np.True_, name="a"),
        FIXED(5, 10, 6, mask_zero=True, learned_words=True, dtype="float16"),
        SinePositionEncoding(np.int64(50), dtype="mixed_bfloat16"),
    ],
    ids=["learned", "fixed", "sine"],
)
def test_config_makes_the_same_layer_out_of_plain_values(layer):
    config = json.loads(json.dumps(layer.get_config()))
    twin = type(layer).from_config(config)
    assert twin.get_config() == layer.get_config()
    assert twin.dtype_policy == layer.dtype_policy
    for name in ("mask_zero", "learned_words", "max_wavelength"):
        assert getattr(twin, name, None) == getattr(layer, name, None)


def test_names_that_stored_models_hold_stay():
    for layer in (LEARNED, FIXED, SinePositionEncoding):
        name = keras.saving.get_registered_name(layer)
        assert name == f"posenc>{layer.__name__}"


# Precision.

ROUNDING = {"float32": 2**-24, "float16": 2**-11, "bfloat16": 2**-8}


@every_policy
def test_1024_positions_are_told_apart_and_rounded_once(policy):
    compute = policy.removeprefix("mixed_")
    exact = formula(1024, 64)
    layer = FIXED(1024, 1024, 64, dtype=policy)
    # Word 0 is row [0, 1, 0, 1, ...]. Sums reach 2, and are rounded once.
    sums = layer(np.zeros((1, 1024), int))
    assert sums.dtype == LEARNED(5, 10, 6, dtype=policy)(IDS).dtype == compute
    error = np.abs(as_array(sums)[0] - (exact + exact[0]))
    assert error.max() <= ROUNDING[compute] + 2e-7
    assert {weight.dtype for weight in layer.weights} == {"float32"}
    np.testing.assert_allclose(layer.position_table, exact, rtol=0, atol=6e-8)
    sines = SinePositionEncoding(dtype=policy)
    graph = tf.function(sines, input_signature=[tf.TensorSpec([1, None, 64])])
    for function in (sines, graph):
        rows = function(np.zeros((1, 1024, 64), "float32"))
        assert rows.dtype == compute
        error = np.abs(as_array(rows)[0] - exact)
        assert error.max() <= ROUNDING[compute] + 1e-9


# Where the rows begin, and for which shapes they are made.


@pytest.mark.parametrize("start", [0, 300, 100_000])
def test_start_index_moves_the_first_row(start):
    layer, floats = SinePositionEncoding(100), np.zeros((3, 7, 5), "float32")
    exact = np.broadcast_to(formula(7, 5, start, base=100), (3, 7, 5))
    graph = tf.function(lambda index: layer(floats, start_index=index))
    kinds = (start, np.int64(start), tf.constant(start), tf.Variable(start))
    outputs = [layer(floats, start_index=kind) for kind in kinds]
    for output in (*outputs, graph(tf.constant(start))):
        np.testing.assert_allclose(output, exact, rtol=0, atol=6e-8)


@both
@pytest.mark.parametrize("length", [None, 5])
@pytest.mark.parametrize("jit", [False, True])
def test_graphs_give_what_eager_calls_give(make, length, jit):
    layer = make(5, 10, 6)
    output = in_a_graph(layer, jit, length)(IDS.astype("int32"))
    np.testing.assert_array_equal(output, layer(IDS))


@pytest.mark.parametrize("shape", [(None, None), (None, 7), (3, None), (3, 7)])
@pytest.mark.parametrize("jit", [False, True])
def test_sine_layer_takes_any_length_in_graphs(shape, jit):
    layer, floats = SinePositionEncoding(), np.zeros((3, 7, 5), "float32")
    spec = [tf.TensorSpec([*shape, 5])]
    graph = tf.function(layer, input_signature=spec, jit_compile=jit)
    exact = np.broadcast_to(formula(7, 5), (3, 7, 5))
    np.testing.assert_allclose(graph(floats), exact, rtol=0, atol=6e-8)
    # What a graph made must be of use outside it, and the other way round.
    np.testing.assert_array_equal(graph(floats), layer(floats))
    if shape == (None, None):
        longer = graph(np.zeros((1, 100, 5), "float32"))
        np.testing.assert_allclose(longer[0], formula(100, 5), atol=1e-7)


@pytest.mark.parametrize("batch", [None, 3])
def test_a_graph_for_one_shape_reads_its_rows_and_makes_none(batch):
    spec = tf.TensorSpec((batch, 7, 5))
    graph = tf.function(SINES, input_signature=[spec]).get_concrete_function()
    made = {operation.type for operation in graph.graph.get_operations()}
    assert not made & {"Sin", "Cos", "Cast"}
    assert ("BroadcastTo" in made) == (batch is None)
    assert SINES(np.zeros((0, 7, 5))).shape == (0, 7, 5)


@both
def test_any_batch_and_length_through_a_model(make):
    model = keras.Sequential([any_length(), make(5, 10, 6)])
    assert model.output_shape == (None, None, 6)
    for batch, length in ((2, 5), (1, 3), (0, 5), (2, 0)):
        assert model(IDS[:batch, :length]).shape == (batch, length, 6)
    assert make(1, 1, 1)(np.zeros((2, 1), int)).shape == (2, 1, 1)
    embeddings = keras.Input((None, 6))
    assert SinePositionEncoding()(embeddings).shape == (None, None, 6)


def test_text_becomes_the_published_numbers_in_a_pipeline(published):
    sentences = published["two_sentences"]["sentences"]
    vectorize = keras.layers.TextVectorization(10, output_sequence_length=5)
    vectorize.adapt(sentences)
    layer = FIXED(5, 10, 6)
    data = tf.data.Dataset.from_tensor_slices(sentences).batch(2)
    (output,) = data.map(lambda text: layer(vectorize(text)))
    expected = published["fixed_weights_output"]["values"]
    np.testing.assert_allclose(output, expected, rtol=0, atol=3e-7)
