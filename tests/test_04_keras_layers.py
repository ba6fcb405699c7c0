"""Notebook 04: its drafts, its exercises, and the layer they end in."""

import numpy as np
import pytest
from conftest import LazyModule, assert_replies, cells_of

from posenc_helpers import position_encoding

keras, ops = LazyModule("keras"), LazyModule("keras.ops")
WITHOUT = ["compare-factor", "reveal-factor", "word-lengths"]


def refuses(length, longest):
    if length and length > longest:
        raise ValueError(f"{length} is over sequence_length, {longest}")


def too_long(length, longest):
    if length > longest:
        raise ValueError(f"{length} is over sequence_length, {longest}")


def returns(length, longest):
    if length and length > longest:
        return ValueError(f"{length} is over sequence_length, {longest}")


def asserts_length(length, longest):
    assert length is None or length <= longest, "over sequence_length"


def asserts(layer):
    assert compares(2, 300, 7)(layer)


def compares(batch, length, width, fill=1.0):
    """A test that compares all rows for inputs of one shape."""

    def test(layer):
        x = np.full((batch, length, width), fill, "float32")
        right = position_encoding(length, width)
        return np.allclose(layer(x), right, rtol=0, atol=1e-5)

    return test


REPLIES = [
    (1, [refuses], "Correct."),
    (1, [lambda *_: None, returns], ("Is an error raised?", "raise V")),
    (1, [lambda *n: refuses(*n) is None], "if 5 ids come, and 5 fit?"),
    (
        1,
        [lambda n, m: refuses(n and n + (n == m), m)],
        ("5 fit?", "not above 5"),
    ),
    (1, [lambda n, _: refuses(n, 5)], "a ValueError if too"),
    (1, [too_long], ("Can Python compare None", "is not None and")),
    (1, [asserts_length], ("does assert raise", "Use if and raise")),
    (2, [lambda ids: ids != 0, lambda i: ops.cast(i, "bool")], "Correct."),
    (2, [lambda ids: ids == 0], ("True or False here?", "Words are True")),
    (2, [lambda ids: ids > 1], ("Is id 1 padding?", "only 0 is padding")),
    (
        2,
        [lambda ids: np.asarray(ids) != 0],
        ("for keras.Input", "whole tensor"),
    ),
    (2, [lambda ids: ops.sign(ids)], ("or numbers?", "A comparison")),
    (2, [lambda ids: (ids != 0)[..., None]], ("What is the sh", "no axis")),
    (2, [lambda ids: ids != ids[:, -1:]], ("Which id is", "Compare the w")),
    (3, [compares(2, 300, 7), compares(3, 999, 1, 0.5)], "Correct."),
    (3, [lambda layer: True], "that counts positions from 1. Where"),
    (3, [compares(1, 300, 7)], "knows the first text only"),
    (3, [compares(2, 300, 8)], "leaves an odd last column 0"),
    (3, [compares(2, 300, 7, 0)], "adds the rows to its input"),
    (3, [compares(2, 30, 7)], "clamps positions at 63"),
    (3, [compares(2, 257, 7)], "rounds 257 to 256"),
    (3, [asserts], "nothing was returned"),
    (3, [lambda layer: False], ("What does it return for zeros?", "np.allc")),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)


def test_padding_changes_no_score_of_the_whole_recipe(names):
    model, ids = names["build_model"](), names["new_ids"]
    padded = np.pad(ids, ((0, 0), (0, 20)))
    np.testing.assert_allclose(model(padded), model(ids), rtol=0, atol=1e-4)


def test_without_a_compiler_the_draft_refuses_a_longer_text(names):
    """On a CPU, and with an error that does not name the argument."""
    too_long = np.zeros((1, 7), int)
    on_cpu = names["tf"].device("CPU")
    with on_cpu, pytest.raises(Exception, match=r"not in \[0, 5\)"):
        names["FixedDraft"](5, 10, 6)(too_long)


def test_both_answers_make_a_layer_that_passes_all_tests(names, monkeypatch):
    monkeypatch.setitem(names, "answer_1", refuses)
    monkeypatch.setitem(names, "answer_2", lambda ids: ids != 0)
    for what, test in names["tests"].items():
        assert names["passes"](test, names["Yours"]), what


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_factor_helps_small_vectors_and_harms_large_ones(names, seed):
    large = keras.initializers.RandomNormal(stddev=1, seed=seed)

    def after_each_pass(factor, start):
        return names["train"](factor, seed, start)[1]

    small = after_each_pass(32**0.5, "uniform")
    small_without = after_each_pass(1, "uniform")
    assert np.sum(small_without <= 0.9) > np.sum(small <= 0.9)
    assert max(after_each_pass(32**0.5, large)) < 0.7
    learned = [small, small_without, after_each_pass(1, large)]
    assert min(curve[-1] for curve in learned) > 0.95


@pytest.mark.slow
def test_the_box_about_pytorch_runs_and_says_what_happens():
    """A job of .github/workflows/tests.yml has PyTorch."""
    torch = pytest.importorskip("torch")
    cells = {cell.id: cell.source for cell in cells_of("04_keras_layers")}
    box = cells["pytorch"].split("```python\n")[1].split("```")[0]
    names = {"position_encoding": position_encoding}
    exec(box, names)
    # Factor: initialized longer than positions.
    model = names["WordsAndPositions"](1_000, 64, max_len=20)
    word, place = model.words.weight[1:].norm(dim=1), model.table.norm(dim=1)
    assert 1.2 < word.mean() / place.mean() < 1.6
    # Mask: True leaves out what Keras's False leaves out.
    vectors, padding = model(torch.tensor([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]]))
    attention = torch.nn.MultiheadAttention(64, 4, batch_first=True)
    mixed, _ = attention(vectors, vectors, vectors, key_padding_mask=padding)
    for row, count in enumerate([4, 3]):
        words = vectors[row : row + 1, :count]
        alone, _ = attention(words, words, words)
        assert torch.allclose(mixed[row, :count], alone[0], atol=1e-6)
    # Frozen: a buffer, even after a thaw.
    model.requires_grad_(False).requires_grad_(True)
    assert not model.table.requires_grad
    # Too long.
    with pytest.raises(ValueError, match=r"21 .*max_len=20"):
        model(torch.ones(1, 21, dtype=int))
