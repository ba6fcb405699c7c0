"""The small transformers by another route; test_08 trains all schemes."""

import math

import numpy as np
import pytest
from conftest import LazyModule, run_cells

from posenc_helpers import rotate

letters = LazyModule("posenc.letters")
BACKS = [1, 1, 8, 8]


def definitions() -> dict:
    """What notebook 08 adds to the readers, before anything is trained."""
    cells = ("setup", "added-readers", "alibi-slopes", "alibi-readers")
    return run_cells("08_longer_texts", *cells, "t5-buckets", "t5-readers")


def normal(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(
        x.var(-1, keepdims=True) + 1e-3
    )


def answer_by_numpy(model, text, reader):
    """What a reader answers: one text, one head after the other, float64."""

    def weight(name):
        return np.asarray(getattr(model, name))[reader].astype(float)

    place, positions = list(text).index(letters.MARKER), np.arange(len(text))
    x = weight("letters")[text]
    mixed = []
    for head in range(8):
        columns = slice(16 * head, 16 * head + 16)
        queries, keys, values = (
            normal(x) @ weight(name)[:, columns]
            for name in ("query", "key", "value")
        )
        if isinstance(model, letters.RotaryReaders):
            queries = rotate(queries, positions, layout="half")
            keys = rotate(keys, positions, layout="half")
        scores = keys @ queries[place] / math.sqrt(16)
        powers = np.exp(scores[: place + 1])
        mixed.extend(powers @ values[: place + 1] / powers.sum())
    row = x[place] + np.array(mixed) @ weight("mix")
    hidden = np.maximum(normal(row) @ weight("hidden"), 0)
    return hidden @ weight("answer")


def build(names, kind, seed=0):
    """Four readers of a kind, untrained."""
    first = [10_000] * 4 if kind == "RotaryReaders" else 4
    return names[kind](first, seed=seed)


@pytest.mark.parametrize("kind", ["Readers", "RotaryReaders"])
def test_readers_side_by_side_are_what_one_reader_would_be(kind):
    model = build(definitions(), kind)
    rng = np.random.default_rng(2)
    texts = [letters.make_texts(2, 12, back, rng)[0] for back in BACKS]
    texts = np.stack(texts, axis=1)
    answers = np.asarray(model(texts))
    for text, reader in np.ndindex(2, 4):
        expected = answer_by_numpy(model, texts[text, reader], reader)
        np.testing.assert_allclose(
            answers[text, reader], expected, rtol=0, atol=2e-4
        )


@pytest.mark.parametrize("back", [1, 8])
def test_the_answer_is_the_letter_so_many_places_before_the_marker(back):
    rng = np.random.default_rng(4)
    texts, answers = letters.make_texts(500, 20, back, rng)
    places = np.argmax(texts == letters.MARKER, axis=1)
    assert set(places) == set(range(back, 20))
    assert (answers == texts[np.arange(500), places - back]).all()
    last, answers = letters.make_texts(9, 30, back, rng, marker_last=True)
    assert (last[:, 29] == letters.MARKER).all()
    assert (answers == last[:, 29 - back]).all()
