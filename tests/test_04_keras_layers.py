"""Notebook 04: its drafts, its exercises, and the layer they end in."""

import os
import subprocess

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import ROOT, assert_replies, cells_of, run_up_to
from keras import ops
from test_layers import python_with

from posenc.layers import (
    PositionEmbeddingFixedWeights,
    PositionEmbeddingLayer,
    SinePositionEncoding,
)

IDS = np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])


@pytest.fixture(scope="module")
def names() -> dict:
    """What the notebook defines; what it trains is not needed here."""
    trained = ["train-once", "reveal-factor"]
    return run_up_to("04_keras_layers", "nav-end", without=trained)


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


def returns(length, longest):
    if length and length > longest:
        return ValueError(f"{length} is over sequence_length, {longest}")


def sizes_of(layer):
    sizes = ("output_dim", "vocab_size", "sequence_length")
    return {size: int(getattr(layer, size)) for size in sizes}


def as_they_are(layer):
    return {size: getattr(layer, size) for size in sizes_of(layer)}


def as_text(layer):
    return {name: str(size) for name, size in sizes_of(layer).items()}


def mixed_up(layer):
    sizes = sizes_of(layer)
    return dict(zip(sizes, reversed(sizes.values()), strict=True))


REPLIES = [
    (1, [refuses], "Correct."),
    (1, [lambda length, longest: None, returns], "Hint: Raise an error that"),
    (
        1,
        [lambda *sizes: refuses(*sizes) is None],
        "Hint: No error and no value",
    ),
    (
        1,
        [lambda n, m: refuses(n and n + (n == m), m)],
        "Hint: No error and no value",
    ),
    (1, [lambda length, _: refuses(length, 5)], "Hint: Raise ValueError if"),
    (2, [lambda ids: ids != 0, lambda i: ops.cast(i, "bool")], "Correct."),
    (2, [lambda ids: ids == 0], "Hint: Turned round"),
    (2, [lambda ids: ids > 1], "Hint: An unknown word"),
    (2, [lambda i: tf.not_equal(i, 0), ops.sign], "Hint: True and False"),
    (2, [lambda ids: (ids != 0)[..., None], ops.ones_like], "Not yet. "),
    (2, [lambda ids: ids is not None], "Hint: Compare the whole tensor"),
    (3, [sizes_of], "Correct."),
    (3, [as_they_are, as_text], "Hint: Make each a Python integer"),
    (3, [mixed_up], "each with its own size"),
    (3, [lambda layer: {"sequence_length": 7}], "Hint: Read each from"),
    (3, [lambda layer: {"words": layer.vocab_size}], "Hint: Name keys"),
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


# The box about PyTorch, and what it says of each line.
IN_PYTORCH = """
from posenc_helpers import position_encoding
import torch
torch.manual_seed(0)
ids = torch.tensor([[3, 4, 2, 0, 0]])
{box}
def raises(error, function, *arguments):
    try:
        function(*arguments)
    except error as raised:
        return str(raised)
    raise AssertionError(f"no {{error}}")

# Factor: initialized longer than positions, far longer with it.
model = WordsAndPositions(1_000, 64, max_len=20)
word, place = model.words.weight[1:].norm(dim=1), model.table.norm(dim=1)
assert 1.2 < word.mean() / place.mean() < 1.6
# Mask: vector 0 is zero, and True leaves out what Keras's False leaves out.
assert model.words.weight[0].abs().max() == 0
alone = attention(*[x[:, :3]] * 3)[0]
assert torch.allclose(mixed[:, :3], alone, atol=1e-6)
assert torch.allclose(mean, alone[0].mean(dim=0), atol=1e-6)
assert not torch.allclose(attention(x, x, x)[0][:, :3], alone, atol=1e-3)
heads, mask = x[:, None], ~padding[:, None, None]
dot = nn.functional.scaled_dot_product_attention
wanted = dot(heads, heads[..., :3, :], heads[..., :3, :])
assert torch.allclose(dot(heads, heads, heads, mask), wanted, atol=1e-6)
# Frozen: a buffer through a thaw, and a table from_pretrained not.
model.requires_grad_(False).requires_grad_(True)
assert not model.table.requires_grad
assert [name for name, _ in model.named_parameters()] == ["words.weight"]
table = nn.Embedding.from_pretrained(model.table)
assert not table.weight.requires_grad
assert table.requires_grad_(True).weight.requires_grad
# Too long.
said = raises(ValueError, model, torch.ones(1, 21, dtype=int))
assert "21" in said and "max_len=20" in said
raises(IndexError, table, torch.arange(21))
raises(RuntimeError, torch.compile(table), torch.arange(21))
raises(RuntimeError, lambda: torch.zeros(1, 21, 64) + model.table[:21])
# Saving.
assert list(model.state_dict()) == ["words.weight"]
WordsAndPositions(1_000, 64, max_len=50).load_state_dict(model.state_dict())
stored = [nn.Module(), nn.Module()]
for each, rows in zip(stored, (20, 50)):
    each.register_buffer("table", torch.zeros(rows, 64))
raises(RuntimeError, stored[1].load_state_dict, stored[0].state_dict())
"""


@pytest.mark.slow
def test_the_box_about_pytorch_runs_and_says_what_happens(tmp_path):
    python = python_with("torch", tmp_path / "torch")
    cells = {cell.id: cell.source for cell in cells_of("04_keras_layers")}
    box = cells["pytorch"].split("```python\n")[1].split("```")[0]
    run = subprocess.run(
        [python, "-c", IN_PYTORCH.format(box=box)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
