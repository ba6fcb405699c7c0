"""Notebook 04: its drafts, its exercises, and the layer they end in."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import assert_replies
from keras import ops

from posenc.layers import (
    PositionEmbeddingFixedWeights,
    PositionEmbeddingLayer,
    SinePositionEncoding,
)

IDS = np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])


def test_drafts_agree_with_the_layers(names):
    draft, layer = (
        make(5, 10, 6)
        for make in (names["LearnedDraft"], PositionEmbeddingLayer)
    )
    expected = draft(IDS)
    layer.build(IDS.shape)
    layer.set_weights(draft.get_weights())
    np.testing.assert_array_equal(layer(IDS), expected)

    draft, layer = (
        make(5, 10, 6)
        for make in (names["FixedDraft"], PositionEmbeddingFixedWeights)
    )
    np.testing.assert_array_equal(layer(IDS), draft(IDS))

    draft, layer = names["SineDraft"](), SinePositionEncoding()
    for start in (0, 300):
        rows = [
            make(np.zeros((3, 7, 5)), start_index=start)
            for make in (draft, layer)
        ]
        np.testing.assert_allclose(*rows, rtol=0, atol=1e-6)


def refuses(length, longest):
    if length and length > longest:
        raise ValueError(f"{length} is over sequence_length, {longest}")


def sizes_of(layer):
    sizes = ("output_dim", "vocab_size", "sequence_length")
    return {size: int(getattr(layer, size)) for size in sizes}


def as_they_are(layer):
    return {size: getattr(layer, size) for size in sizes_of(layer)}


REPLIES = [
    (1, [refuses], "Correct."),
    (1, [lambda length, longest: None], "Hint: Raise the error"),
    (1, [lambda length, _: refuses(length, 5)], "Hint: Raise ValueError if"),
    (2, [lambda ids: ids != 0, lambda i: ops.cast(i, "bool")], "Correct."),
    (2, [lambda ids: ids == 0], "Hint: Turned round"),
    (2, [lambda ids: ids > 1], "Hint: An unknown word"),
    (2, [lambda i: tf.not_equal(i, 0), ops.sign], "Hint: True and False"),
    (2, [lambda ids: (ids != 0)[..., None], ops.ones_like], "Not yet. "),
    (2, [lambda ids: ids is not None], "Hint: Compare the whole tensor"),
    (3, [sizes_of], "Correct."),
    (3, [as_they_are], "Hint: Some are NumPy's"),
    (3, [lambda layer: {"sequence_length": 7}], "Hint: Read each from"),
    (3, [lambda layer: [*sizes_of(layer).values()]], "Hint: A dictionary"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)


def test_padding_changes_no_score_of_the_whole_recipe(names):
    model, ids = names["build_model"](), names["new_ids"]
    padded = np.pad(ids, ((0, 0), (0, 20)))
    np.testing.assert_allclose(model(padded), model(ids), rtol=0, atol=1e-4)


def test_registering_alone_saves_sizes_of_python_but_not_of_numpy(names):
    own, saved = names["OwnTables"], names["survives_saving"]
    register = keras.saving.register_keras_serializable(package="alone")
    registered = register(type("Registered", (own,), {}))
    assert saved(registered)
    with pytest.raises(NotImplementedError, match="get_config"):
        saved(lambda *sizes: registered(*map(np.int64, sizes)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_model_learns_sooner_with_the_factor(names, seed):
    train = names["train"]
    (_, with_factor), (_, without) = train(32**0.5, seed), train(1, seed)
    print(f"\nseed {seed}: {with_factor.round(2)} {without.round(2)}")
    assert min(with_factor[-1], without[-1]) > 0.95
    assert np.sum(without <= 0.9) > np.sum(with_factor <= 0.9)
