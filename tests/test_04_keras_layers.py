"""Notebook 04: its drafts, its exercises, and the layer they end in."""

import keras
import matplotlib.pyplot as plt
import numpy as np
import pytest
import tensorflow as tf
from conftest import assert_replies, run_up_to
from keras import ops

from posenc_layers import (
    PositionEmbeddingFixedWeights,
    PositionEmbeddingLayer,
    SinePositionEncoding,
)

IDS = np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])


@pytest.fixture(scope="module")
def notebook_names():
    with plt.rc_context():
        return run_up_to("04_keras_layers", "scoreboard")


def test_drafts_agree_with_the_layers(notebook_names):
    draft = notebook_names["LearnedDraft"](5, 10, 6)
    expected = draft(IDS)
    layer = PositionEmbeddingLayer(5, 10, 6)
    layer.build(IDS.shape)
    layer.set_weights(draft.get_weights())
    np.testing.assert_array_equal(layer(IDS), expected)
    draft = notebook_names["FixedDraft"](5, 10, 6)
    layer = PositionEmbeddingFixedWeights(5, 10, 6)
    np.testing.assert_array_equal(layer(IDS), draft(IDS))
    draft, floats = notebook_names["SineDraft"](), np.zeros((3, 7, 5))
    for start in (0, 300):
        np.testing.assert_allclose(
            draft(floats, start_index=start),
            SinePositionEncoding()(floats, start_index=start),
            rtol=0,
            atol=1e-6,
        )


class TooLongError(ValueError):
    """An error of one's own, which is a ValueError all the same."""


def refuses(length, longest):
    if length and length > longest:
        raise TooLongError(f"{length} is over sequence_length, {longest}")


def knows_5(length, longest):
    refuses(length, 5)


def forgets_none(length, longest):
    return None if length <= longest else refuses(length, longest)


def asserts(length, longest):
    assert length is None or length <= longest, "sequence_length"


def sizes_of(layer):
    sizes = ("output_dim", "vocab_size", "sequence_length")
    return {size: int(getattr(layer, size)) for size in sizes}


def only_of_numpy(layer):
    return {size: getattr(layer, size).item() for size in sizes_of(layer)}


def half_done(layer):
    return {"sequence_length": int(layer.sequence_length), "vocab_size": ...}


LENGTHS = {
    "Correct.": [refuses],
    "Not yet. Hint: Raise the error": [lambda length, longest: None],
    "Not yet. Hint: Raise ValueError if": [knows_5],
    "Not yet. Your code raised": [forgets_none, asserts],
}
MASKS = {
    "Correct.": [lambda ids: ids != 0, lambda ids: ops.cast(ids, "bool")],
    "Not yet. Hint: Turned round": [lambda ids: ids == 0],
    "Not yet. Hint: An unknown word": [lambda ids: ids > 1],
    "Not yet. Hint: True and False": [lambda i: tf.not_equal(i, 0), ops.sign],
    "Not yet. ": [lambda ids: (ids != 0)[..., None], ops.ones_like],
}
CONFIGS = {
    "Correct.": [sizes_of],
    "Not yet. Hint: Some are NumPy's": [
        lambda layer: {size: getattr(layer, size) for size in sizes_of(layer)}
    ],
    "Not yet. Hint: Read each from": [
        lambda layer: {"sequence_length": 7, "vocab_size": 12, "output_dim": 8}
    ],
    "Not yet. Hint: A dictionary": [lambda layer: [*sizes_of(layer).values()]],
    "Not yet. Nothing was returned": [lambda layer: None],
    "Not yet. Your code raised AttributeError": [only_of_numpy],
    "Not answered": [half_done],
}


@pytest.mark.parametrize(
    ("number", "answers"), [(1, LENGTHS), (2, MASKS), (3, CONFIGS)]
)
def test_checks_take_every_right_form_and_no_other(
    notebook_names, number, answers
):
    for begin, functions in answers.items():
        assert_replies(notebook_names[f"check_{number}"], functions, begin)


ANSWERS = {
    "answer_1": (refuses, "longer"),
    "answer_2": (lambda ids: ids != 0, "mask"),
    "answer_3": (sizes_of, "saved"),
}


@pytest.mark.parametrize("left_open", [None, *ANSWERS])
def test_each_open_answer_costs_yours_one_test_and_none_is_left(
    notebook_names, monkeypatch, left_open
):
    for name, (answer, _) in ANSWERS.items():
        if name != left_open:
            monkeypatch.setitem(notebook_names, name, answer)
    passes, yours = notebook_names["passes"], notebook_names["Yours"]
    tests = notebook_names["TESTS"].items()
    failed = [name for name, test in tests if not passes(test, yours)]
    assert failed == ([ANSWERS[left_open][1]] if left_open else [])


def test_a_reader_with_three_answers_has_built_the_finished_layer(
    notebook_names, monkeypatch
):
    for name, (answer, _) in ANSWERS.items():
        monkeypatch.setitem(notebook_names, name, answer)
    yours = notebook_names["Yours"](5, 10, 6)
    expected = yours(IDS)
    layer = PositionEmbeddingFixedWeights(
        5, 10, 6, mask_zero=True, learned_words=True
    )
    layer.build(IDS.shape)
    layer.word_table.assign(yours.word_table)
    np.testing.assert_array_equal(layer(IDS), expected)


def test_yours_refuses_a_second_text_too(notebook_names, monkeypatch):
    """A table of one row, which would be added to every position."""
    monkeypatch.setitem(notebook_names, "answer_1", refuses)
    yours = notebook_names["Yours"](1, 10, 6)
    yours(IDS[:, :1])
    with pytest.raises(ValueError, match="sequence_length"):
        yours(IDS)


def test_padding_changes_no_score_of_the_whole_recipe(notebook_names):
    model, ids = notebook_names["build_model"](), notebook_names["new_ids"]
    padded = np.pad(ids, ((0, 0), (0, 20)))
    np.testing.assert_allclose(model(padded), model(ids), rtol=0, atol=1e-4)


def test_registering_alone_saves_sizes_of_python_but_not_of_numpy(
    notebook_names,
):
    own, saved = notebook_names["OwnTables"], notebook_names["survives_saving"]
    register = keras.saving.register_keras_serializable(package="alone")
    registered = register(type("Registered", (own,), {}))
    assert saved(registered)
    with pytest.raises(NotImplementedError, match="get_config"):
        saved(lambda *sizes: registered(*map(np.int64, sizes)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_model_learns_sooner_with_the_factor(notebook_names, seed):
    train = notebook_names["train"]
    (_, with_factor), (_, without) = train(32**0.5, seed), train(1, seed)
    print(f"\nseed {seed}: {with_factor.round(2)} {without.round(2)}")
    assert with_factor[-1] > 0.95
    assert without[-1] > 0.95
    assert np.argmax(without > 0.9) > np.argmax(with_factor > 0.9)
