"""The Keras layers, beside facts that do not come from them."""

import copy
import json
import os
import subprocess
import sys
from inspect import signature
from math import cos, sin

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import run_cells
from keras import ops

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
NOT_IN_TABLE = tf.errors.InvalidArgumentError


def as_array(tensor) -> np.ndarray:
    return np.asarray(ops.cast(tensor, "float64"))


def formula(length: int, width: int, start: int = 0, base: float = 1e4):
    """Section 3.5 of the paper, entry by entry, with Python's own sine."""
    return np.array(
        [
            [
                (cos if k % 2 else sin)(p / base ** ((k - k % 2) / width))
                for k in range(width)
            ]
            for p in range(start, start + length)
        ]
    )


def pooled_model(layer, length=None) -> keras.Model:
    ids = keras.Input((length,), dtype="int32")
    pooled = keras.layers.GlobalAveragePooling1D()(layer(ids))
    model = keras.Model(ids, keras.layers.Dense(1)(pooled))
    model.compile("sgd", "mse")
    return model


def compiled(layer, jit: bool, length=None):
    """The layer in a graph that is traced for any batch and any length."""
    spec = tf.TensorSpec([None, length], tf.int32)
    return tf.function(
        lambda ids: layer(ids), input_signature=[spec], jit_compile=jit
    )


# What the tutorials print.


def test_fixed_layer_gives_the_60_published_numbers(published):
    expected = published["fixed_weights_output"]["values"]
    output = FIXED(5, 10, 6)(IDS)
    assert output.shape == (2, 5, 6)
    np.testing.assert_allclose(output, expected, rtol=0, atol=3e-7)


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


def test_word_table_can_be_learned_while_positions_are_fixed():
    layer = FIXED(5, 10, 6, learned_words=True)
    model = pooled_model(layer)
    words, positions = map(as_array, layer.weights)
    np.testing.assert_allclose(positions, formula(5, 6), atol=1e-7)
    assert np.abs(words).max() < 0.06  # small random numbers, no sines
    model.fit(IDS, np.ones((2, 1)), verbose=0)
    assert not np.array_equal(layer.word_table, words)
    np.testing.assert_array_equal(layer.position_table, positions)


# Input that does not fit.


@both
def test_longer_input_is_refused_at_build_and_at_call(make):
    message = r"7.*sequence_length=5"
    with pytest.raises(ValueError, match=message):
        make(5, 10, 6).build((None, 7))
    with pytest.raises(ValueError, match=message):
        make(5, 10, 6)(keras.Input((7,), dtype="int32"))
    layer = make(5, 10, 6)
    layer(IDS)  # built now, for a length that fits
    with pytest.raises(ValueError, match=message):
        layer(keras.Input((7,), dtype="int32"))
    with pytest.raises(ValueError, match=message):
        layer(np.zeros((1, 7), "int32"))


@both
@pytest.mark.parametrize("jit", [False, True])
def test_longer_input_is_refused_inside_graphs(make, jit):
    layer = make(5, 10, 6)
    with pytest.raises(ValueError, match=r"7.*sequence_length=5"):
        compiled(layer, jit, length=7)(np.zeros((1, 7), "int32"))
    # Under XLA the slice raises, and can only say what did not fit.
    message = r"5.*7" if jit else r"(?s)sequence_length=5.*\b7\b"
    with pytest.raises(NOT_IN_TABLE, match=message):
        compiled(layer, jit)(np.zeros((1, 7), "int32"))
    # A batch of seven is no text of seven.
    assert compiled(layer, jit)(np.zeros((7, 1), "int32")).shape == (7, 1, 6)


@both
@pytest.mark.parametrize("wrong", [10, 11, -1])
def test_unknown_ids_are_refused_in_eager_calls_graphs_and_fit(make, wrong):
    ids = np.array([[1, wrong]], "int32")
    message = rf"(?s)vocab_size.*{wrong}"
    with pytest.raises(NOT_IN_TABLE, match=message):
        make(5, 10, 6)(ids)
    with pytest.raises(NOT_IN_TABLE, match=message):
        compiled(make(5, 10, 6), jit=False)(ids)
    with pytest.raises(NOT_IN_TABLE, match=message):
        pooled_model(make(5, 10, 6)).fit(ids, np.ones((1, 1)), verbose=0)


@both
def test_unknown_ids_under_xla_do_what_the_docstring_says(make):
    layer = make(5, 10, 6)
    rows = compiled(layer, jit=True)(
        np.array([[10], [-1], [9], [-2], [-10], [-11]], "int32")
    )
    last, before, first = layer(np.array([[9], [8], [0]]))
    expected = [last, last, last, before, first, first]
    np.testing.assert_array_equal(rows, expected)


MISFITS = {
    "list": ([[1, 2]], "convert_to_tensor"),
    "list of text": (["you too robot"], "convert_to_tensor"),
    "ragged": (tf.ragged.constant([[1, 2], [3]]), "to_tensor()"),
    "ragged input": (
        keras.Input((None,), dtype="int32", ragged=True),
        "to_tensor()",
    ),
    "array of text": (np.array([["you", "too"]]), "TextVectorization"),
    "tensor of text": (tf.constant([["you", "too"]]), "TextVectorization"),
    "text": ("you too robot", "TextVectorization"),
    "array of lists": (np.array([[1, 2], [3]], object), "is object: "),
    "floats": (np.zeros((1, 5)), "float64: cast it"),
    "float input": (keras.Input((5,)), r"keras.Input\(dtype='int32'\)"),
    "truths": (np.zeros((1, 5), bool), "bool: cast it"),
    "one axis": (np.zeros(5, int), r"shape \(5,\): add"),
    "three axes": (np.zeros((1, 5, 1), int), "drop an axis"),
}


@both
@pytest.mark.parametrize("misfit", MISFITS)
def test_misfit_input_is_told_what_to_do(make, misfit):
    wrong, advice = MISFITS[misfit]
    message = rf"word ids, integers of shape \[batch, seq_len\].*{advice}"
    with pytest.raises(ValueError, match=message):
        make(5, 10, 6)(wrong)


SINE_MISFITS = {
    "integers": (IDS, "int64: cast it"),
    "two axes": (np.zeros((4, 6)), "add or drop an axis"),
    "list": ([[[0.5]]], "convert_to_tensor"),
    "ragged": (tf.ragged.constant([[0.5, 1], [2]]), "to_tensor()"),
    "text": (tf.constant([[["you"]]]), "TextVectorization"),
}


@pytest.mark.parametrize("misfit", SINE_MISFITS)
def test_sine_layer_tells_what_to_do_too(misfit):
    wrong, advice = SINE_MISFITS[misfit]
    with pytest.raises(ValueError, match=f"embeddings, floats.*{advice}"):
        SinePositionEncoding()(wrong)


@both
def test_sizes_of_one_will_do(make):
    assert make(1, 1, 1)(np.zeros((2, 1), int)).shape == (2, 1, 1)


@both
@pytest.mark.parametrize(
    "name", ["sequence_length", "vocab_size", "output_dim"]
)
@pytest.mark.parametrize("value", [True, 5.0, "5", None, 0, -1])
def test_bad_sizes_are_named(make, name, value):
    sizes = {"sequence_length": 5, "vocab_size": 10, "output_dim": 6}
    with pytest.raises((TypeError, ValueError), match=rf"{name}.*{value!r}"):
        make(**sizes | {name: value})


@pytest.mark.parametrize("value", [True, "5", None, 0, -1, float("nan")])
def test_bad_max_wavelength_is_named(value):
    with pytest.raises(ValueError, match=rf"max_wavelength.*{value!r}"):
        SinePositionEncoding(value)


# Masks.


@both
def test_mask_reaches_the_next_layer(make):
    model = pooled_model(make(6, 10, 4, mask_zero=True))
    padded = np.array([[5, 6, 7, 0, 0, 0]])
    np.testing.assert_allclose(
        model(padded), model(padded[:, :3]), rtol=0, atol=1e-6
    )
    unmasked = pooled_model(make(6, 10, 4))
    assert np.abs(unmasked(padded) - unmasked(padded[:, :3])).max() > 1e-4


def test_mask_passes_through_the_sine_layer():
    ids = keras.Input((None,), dtype="int32")
    rows = keras.layers.Embedding(10, 4, mask_zero=True)(ids)
    mean = keras.layers.GlobalAveragePooling1D()(SinePositionEncoding()(rows))
    output = keras.Model(ids, mean)(np.array([[5, 6, 7, 0, 0, 0]]))
    np.testing.assert_allclose(output[0], formula(3, 4).mean(0), atol=1e-6)


# Frozen, saved, copied.


@pytest.mark.parametrize("learned_words", [False, True])
def test_frozen_tables_stay_frozen(learned_words):
    layer = FIXED(5, 10, 6, learned_words=learned_words)
    model = pooled_model(layer)
    model.trainable = False
    model.trainable = True
    model.compile("sgd", "mse")
    model.fit(IDS, np.ones((2, 1)), verbose=0)
    np.testing.assert_allclose(
        layer.position_table, formula(5, 6), rtol=0, atol=1e-7
    )
    if not learned_words:
        np.testing.assert_allclose(
            layer.word_table, formula(10, 6), rtol=0, atol=1e-7
        )


def model_with_every_layer() -> keras.Model:
    ids = keras.Input((None,), dtype="int32")
    learned = LEARNED(5, 10, 6, mask_zero=True)(ids)
    fixed = FIXED(5, 10, 6, learned_words=True)(ids)
    sines = SinePositionEncoding(50)(learned)
    return keras.Model(ids, [learned, FIXED(5, 10, 6)(ids), fixed, sines])


LOAD = """
import sys
import numpy as np
import keras
import posenc_layers
model = keras.models.load_model(sys.argv[1])
tensors = [*model.weights, *model(np.load(sys.argv[2]))]
np.savez(sys.argv[3], *map(keras.ops.convert_to_numpy, tensors))
"""


def test_fresh_process_loads_the_same_tables(tmp_path):
    model = model_with_every_layer()
    model.save(tmp_path / "model.keras")
    np.save(tmp_path / "ids.npy", IDS)
    names = [tmp_path / f for f in ("model.keras", "ids.npy", "out.npz")]
    run = subprocess.run(
        [sys.executable, "-c", LOAD, *names],
        capture_output=True,
        text=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert run.returncode == 0, run.stderr
    assert "warn" not in run.stderr.lower()
    expected = map(ops.convert_to_numpy, [*model.weights, *model(IDS)])
    loaded = np.load(names[2])
    assert len(loaded.files) == 6 + 4  # tables and outputs
    for name, array in zip(loaded.files, expected, strict=True):
        assert loaded[name].tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "layer",
    [
        LEARNED(5, 10, 6, mask_zero=True, name="a"),
        FIXED(5, 10, 6, mask_zero=True, learned_words=True, dtype="float16"),
        SinePositionEncoding(50, dtype="mixed_bfloat16"),
    ],
    ids=["learned", "fixed", "sine"],
)
def test_config_makes_the_same_layer(layer):
    twin = type(layer).from_config(layer.get_config())
    assert twin.get_config() == layer.get_config()
    assert twin.dtype_policy == layer.dtype_policy
    for name in ("mask_zero", "learned_words", "max_wavelength"):
        assert getattr(twin, name, None) == getattr(layer, name, None)


@pytest.mark.parametrize("layer", [LEARNED, FIXED, SinePositionEncoding])
def test_saved_files_call_the_layers_by_a_name_that_stays(layer):
    name = keras.saving.get_registered_name(layer)
    assert name == f"posenc>{layer.__name__}"


def test_signatures_name_the_sizes_and_not_just_args():
    sizes = ["sequence_length", "vocab_size", "output_dim", "mask_zero"]
    expected = {LEARNED: sizes, FIXED: [*sizes, "learned_words"]}
    for layer, names in expected.items():
        assert list(signature(layer).parameters) == [*names, "kwargs"]


def test_config_holds_plain_numbers():
    for layer in (
        LEARNED(np.int64(5), np.int32(10), np.uint8(6)),
        SinePositionEncoding(np.int64(50)),
    ):
        json.dumps(layer.get_config())


def test_clones_and_copies_give_the_same_output():
    model = model_with_every_layer()
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    # Fixed tables are in a clone from the start.
    np.testing.assert_array_equal(
        copy.deepcopy(FIXED(5, 10, 6))(IDS),
        FIXED.from_config(FIXED(5, 10, 6).get_config())(IDS),
    )
    twin = copy.deepcopy(model)
    layers = [copy.deepcopy(layer) for layer in model.layers[1:2]]
    np.testing.assert_array_equal(layers[0](IDS), model.layers[1](IDS))
    for other in (clone, twin):
        for output, expected in zip(other(IDS), model(IDS), strict=True):
            np.testing.assert_array_equal(output, expected)


# Precision.


@every_policy
def test_policy_decides_the_output_and_keeps_float32_tables(policy):
    compute = policy.removeprefix("mixed_")
    floats = np.zeros((2, 5, 6), "float32")
    for layer, inputs in (
        (LEARNED(5, 10, 6, dtype=policy), IDS),
        (FIXED(5, 10, 6, dtype=policy), IDS),
        (SinePositionEncoding(dtype=policy), floats),
    ):
        assert layer(inputs).dtype == compute
        assert [w.dtype for w in layer.weights] == ["float32"] * len(
            layer.weights
        )


ROUNDING = {"float32": 2**-24, "float16": 2**-11, "bfloat16": 2**-8}


@every_policy
def test_1024_positions_are_told_apart_and_rounded_once(policy):
    compute = policy.removeprefix("mixed_")
    exact = formula(1024, 64)
    layer = FIXED(1024, 1024, 64, dtype=policy)
    layer.build((None, 1024))
    assert len(np.unique(layer.position_table, axis=0)) == 1024
    np.testing.assert_allclose(layer.position_table, exact, rtol=0, atol=6e-8)
    # Word 0 is row [0, 1, 0, 1, ...]. Sums reach 2, and are rounded once.
    sums = as_array(layer(np.zeros((1, 1024), int)))[0]
    error = np.abs(sums - (exact + exact[0]))
    assert error.max() <= ROUNDING[compute] + 2e-7
    sines = SinePositionEncoding(dtype=policy)
    for rows in (
        sines(np.zeros((1, 1024, 64), "float32")),
        tf.function(sines, input_signature=[tf.TensorSpec([1, None, 64])])(
            np.zeros((1, 1024, 64), "float32")
        ),
    ):
        error = np.abs(as_array(rows)[0] - exact)
        assert error.max() <= ROUNDING[compute] + 1e-9


@pytest.mark.parametrize("start", [0, 300, 100_000])
def test_start_index_moves_the_first_row(start):
    layer, floats = SinePositionEncoding(), np.zeros((3, 7, 5), "float32")
    exact = np.broadcast_to(formula(7, 5, start), (3, 7, 5))
    for index in (start, tf.constant(start), np.int64(start)):
        output = layer(floats, start_index=index)
        np.testing.assert_allclose(output, exact, rtol=0, atol=6e-8)


def test_max_wavelength_is_used():
    output = SinePositionEncoding(100)(np.zeros((1, 4, 4), "float32"))
    np.testing.assert_allclose(output[0], formula(4, 4, base=100), atol=1e-7)


# Shapes, graphs, pipelines.


@both
def test_output_shape_is_known_before_any_input(make):
    layer = make(5, 10, 6)
    assert layer.compute_output_shape((None, None)) == (None, None, 6)
    assert layer(keras.Input((None,), dtype="int32")).shape == (None, None, 6)
    shape = (None, None, 6)
    assert SinePositionEncoding().compute_output_shape(shape) == shape
    assert SinePositionEncoding()(keras.Input((None, 6))).shape == shape


@both
@pytest.mark.parametrize("length", [None, 5])
def test_xla_equals_eager(make, length):
    layer = make(5, 10, 6)
    expected = layer(IDS)
    for jit in (False, True):
        output = compiled(layer, jit, length)(IDS.astype("int32"))
        np.testing.assert_array_equal(output, expected)


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


def operations(layer, shape) -> set[str]:
    graph = tf.function(layer, input_signature=[tf.TensorSpec(shape)])
    made = graph.get_concrete_function().graph.get_operations()
    return {operation.type for operation in made}


def test_a_graph_for_one_shape_makes_no_rows_of_its_own():
    layer = SinePositionEncoding()
    made = {"Sin", "Cos", "Cast", "BroadcastTo"}
    assert not operations(layer, [3, 7, 5]) & made
    assert operations(layer, [None, 7, 5]) & made == {"BroadcastTo"}
    assert operations(layer, [3, None, 5]) >= made
    assert layer.weights == []


def test_start_and_dtype_are_heeded_from_one_call_to_the_next():
    layer, floats = SinePositionEncoding(), np.zeros((1, 7, 5), "float32")
    for start in (0, 3, 0):
        rows = layer(floats, start_index=start)
        np.testing.assert_allclose(rows[0], formula(7, 5, start), atol=6e-8)
    assert SinePositionEncoding(dtype="float16")(floats).dtype == "float16"
    assert layer(floats).dtype == "float32"


@both
def test_any_batch_and_length_through_a_model(make):
    entry = keras.Input((None,), dtype="int32")
    model = keras.Sequential([entry, make(5, 10, 6)])
    assert model.predict(IDS, verbose=0).shape == (2, 5, 6)
    assert model.predict(IDS[:1, :3], verbose=0).shape == (1, 3, 6)
    assert model(IDS[:0]).shape == (0, 5, 6)
    assert model(IDS[:, :0]).shape == (2, 0, 6)


def adapted() -> keras.layers.TextVectorization:
    vectorize = keras.layers.TextVectorization(
        max_tokens=10, output_sequence_length=5
    )
    vectorize.adapt(["I am a robot", "you too robot"])
    return vectorize


def test_text_pipeline_and_layer_give_the_published_numbers(published):
    vectorize, layer = adapted(), FIXED(5, 10, 6)
    sentences = published["two_sentences"]["sentences"]
    data = tf.data.Dataset.from_tensor_slices(sentences).batch(2)
    (output,) = data.map(lambda text: layer(vectorize(text)))
    expected = published["fixed_weights_output"]["values"]
    np.testing.assert_allclose(output, expected, rtol=0, atol=3e-7)


def test_saved_model_takes_text(tmp_path):
    text = keras.Input((1,), dtype="string")
    model = keras.Model(text, FIXED(5, 10, 6)(adapted()(text)))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    sentences = tf.constant([["I am a robot"], ["you too robot"]])
    np.testing.assert_array_equal(loaded(sentences), model(sentences))
    np.testing.assert_array_equal(loaded(sentences), FIXED(5, 10, 6)(IDS))


# Notebook 04 builds these layers first.


@pytest.fixture(scope="module")
def built_in_notebook():
    return run_cells(
        "04_keras_layers",
        *("setup", "vectorize", "get-vocabulary", "ids"),
        *("learned-draft", "fixed-draft", "fixed-class", "yours-or-ours"),
        *("in-model", "stays-frozen", "sinusoids", "own-tables"),
        *("reply-3", "ours-3", "slips-3", "check-3", "answer-3"),
        *("refuses-longer", "asks-first", "passes-mask"),
        *("ours-4", "reply-4", "check-reply", "slips-4", "check-4"),
        *("answer-4", "masks-padding"),
        *("saved-and-loaded", "survives-saving", "registered"),
        *("ours-5", "check-5", "answer-5", "writes-config"),
        *("follows-policy", "scoreboard", "finished", "sine-draft"),
        *("check-1", "check-2"),
    )


def test_drafts_of_the_notebook_agree_with_the_layers(built_in_notebook):
    draft, layer = (
        built_in_notebook["LearnedDraft"](5, 10, 6),
        LEARNED(5, 10, 6),
    )
    expected = draft(IDS)
    layer.build(IDS.shape)
    layer.set_weights(draft.get_weights())
    np.testing.assert_array_equal(layer(IDS), expected)
    draft = built_in_notebook["FixedDraft"](5, 10, 6)
    np.testing.assert_array_equal(FIXED(5, 10, 6)(IDS), draft(IDS))


def test_mended_layer_of_the_notebook_agrees_with_the_layer(built_in_notebook):
    mended = built_in_notebook["WritesConfig"](5, 10, 6)
    expected = mended(IDS)
    layer = FIXED(5, 10, 6, mask_zero=True, learned_words=True)
    layer.build(IDS.shape)
    layer.word_table.assign(mended.word_table)
    np.testing.assert_array_equal(layer(IDS), expected)
    with pytest.raises(ValueError, match=r"7.*sequence_length=5"):
        mended(np.zeros((1, 7), "int32"))


def test_sine_draft_of_the_notebook_agrees_with_the_layer(built_in_notebook):
    draft, floats = built_in_notebook["SineDraft"](), np.zeros((3, 7, 5))
    for start in (0, 300):
        np.testing.assert_array_equal(
            draft(floats, start_index=start),
            SinePositionEncoding()(floats, start_index=start),
        )


def too_long(length, longest):
    if length and length > longest:
        raise ValueError(f"{length} is over sequence_length, {longest}")


def never(length, longest):
    return None


def asserts(length, longest):
    assert length is None or length <= longest, "sequence_length"


def forgets_dots(length, longest):
    too_long(length, longest)
    return ...


def adds_text(length, longest):
    if length and length > longest:
        raise ValueError("sequence_length is " + longest)


def sizes_of(layer):
    names = ("output_dim", "vocab_size", "sequence_length")
    return {name: getattr(layer, name).item() for name in names}


def knows_5(length, longest):
    if length is not None and length > 5:
        raise ValueError(f"{length} is over sequence_length, {longest}")


def misspells(length, longest):
    return lengths  # noqa: F821


ANSWERS = [  # exercise, answer, what the reply begins with or hints at
    (1, (3, 1, 7, 2, 0), "Correct"),
    (1, [3, 7, 2, 0, 0], "id 1"),
    (2, " Too", "Correct"),
    (2, ["too"], "Correct"),
    (2, np.array(["too"]), "Correct"),
    (2, np.array(["robot"]), "The other word"),
    (2, 4, "its id"),
    (3, too_long, "Correct"),
    (3, never, "refuses nothing"),
    (3, asserts, "python -O"),
    (3, knows_5, "above the longest"),
    (3, lambda length, longest: len(length) > longest, "With 7 and 9"),
    (3, lambda length, longest: length.shape, "With 7 and 9"),
    (3, misspells, "a name that Python does not know"),
    (3, lambda a, b: ..., "Not answered"),
    (3, forgets_dots, "with `return ...` away"),
    (3, adds_text, "raised TypeError here; a ValueError is wanted"),
    (4, lambda ids: ids != 0, "Correct"),
    (4, lambda ids: ids > 0, "Correct"),
    (4, lambda ids: ids == 0, "Turned round"),
    (4, lambda ids: ids > 1, "Id 1"),
    (4, lambda ids: tf.not_equal(ids, 0), "no values yet"),
    (4, lambda ids: ~(ids == 0), "no values yet"),
    (4, ops.sign, "True and False"),
    (4, lambda ids: (ids != 0)[..., None], "One entry for each id"),
    (4, lambda ids: np.asarray(ids) != 0, "without a loop"),
    (4, lambda ids: None, "One entry for each id"),
    (4, lambda ids: ..., "Not answered"),
    (5, sizes_of, "Correct"),
    (5, lambda layer: (7, 12, 8), "name: value"),
    (5, lambda layer: {"vocab_size": 12}, "Three names"),
    (5, lambda layer: ..., "Not answered"),
    (5, lambda layer: None, "name: value"),
    (5, lambda layer: layer.get_config(), "raised NotImplementedError"),
]


@pytest.mark.parametrize(
    ("number", "answer", "reply"),
    ANSWERS,
    ids=[f"{place}-exercise-{row[0]}" for place, row in enumerate(ANSWERS)],
)
def test_checks_of_the_notebook_take_any_right_form_and_no_other(
    built_in_notebook, capsys, number, answer, reply
):
    capsys.readouterr()
    built_in_notebook[f"check_{number}"](answer)
    printed = capsys.readouterr().out
    assert reply in printed
    assert printed.count("\n") == 1  # no long error from Keras
    assert printed.startswith("Correct") == (reply == "Correct")
    if number in (3, 4, 5):
        ours = built_in_notebook[f"ours_{number}"]
        is_right = built_in_notebook[f"right_{number}"]
        kept = built_in_notebook["yours_or_ours"](answer, is_right, ours)
        assert kept is (answer if reply == "Correct" else ours)


def test_scoreboard_of_the_notebook_with_every_exercise_open(
    built_in_notebook,
):
    passed = {
        name: [test(built_in_notebook[name]) for test in tests]
        for tests in [built_in_notebook["TESTS"].values()]
        for name in ("LearnedDraft", "FixedDraft", "WritesConfig")
    }
    assert passed["LearnedDraft"] == [True] + [False] * 5
    assert not any(passed["FixedDraft"])
    assert all(passed["WritesConfig"])
