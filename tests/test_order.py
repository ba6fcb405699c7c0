"""What notebook 07 claims, for seeds other than those it prints."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import run_cells

from posenc_helpers import plot_matrix

NAME = "07_does_order_matter"
CELLS = [
    "setup",
    "animal-names",
    "animals",
    "pairs",
    "vectorize",
    "two-orders",
    "arrays",
    "arrays-made",
    "sizes",
    "embed",
    "block",
    "model",
    "accuracy",
    "order-effect",
    "progress",
    "train",
]


@pytest.fixture(scope="module")
def names():
    return run_cells(NAME, *CELLS)


def test_no_held_out_pair_is_ever_seen_in_training(names):
    def pairs(rows):
        return {frozenset(row[1:]) for row in rows}

    assert not pairs(names["known"]) & pairs(names["held_out"])
    animals = set().union(*pairs(names["known"]))
    assert animals == set(names["ANIMALS"])
    assert len(animals) == 16


def test_every_sentence_is_there_in_both_orders(names):
    for rows in (names["known"], names["held_out"]):
        sentences = {row[0] for row in rows}
        assert len(sentences) == len(rows)
        for sentence in sentences:
            the, first, verb, the_too, second = sentence.split()
            assert the == the_too == "the"
            assert f"the {second} {verb} the {first}" in sentences


def test_doer_stands_first_and_no_word_is_unknown(names):
    for sentence, doer, other in names["known"] + names["held_out"]:
        assert sentence.split()[1::3] == [doer, other]
    assert names["test_ids"].min() >= 2  # 0 is padding, 1 is unknown


@pytest.mark.parametrize("seed", range(20, 25))
def test_without_positions_half_is_right_whatever_the_weights(names, seed):
    model = names["build_model"]("none")
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    assert names["accuracy"](model) == pytest.approx(0.5, abs=0.01)
    assert names["order_effect"](model) < 1e-3


@pytest.mark.parametrize(
    ("positions", "causal"),
    [("learned", False), ("sinusoidal", False), ("none", True)],
)
def test_positions_or_a_mask_break_the_tie(names, positions, causal):
    model = names["build_model"](positions, causal)
    rng = np.random.default_rng(1)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    assert names["order_effect"](model) > 0.01


def drawn(*cells, **data):
    """The figure that these cells show, when given such data."""
    figures = []
    data["show"] = lambda figure, alt: figures.append(figure)
    run_cells(NAME, *cells, plt=plt, np=np, plot_matrix=plot_matrix, **data)
    (figure,) = figures
    plt.close(figure)
    return figure


def test_every_run_has_a_line_in_the_color_of_its_way():
    rng = np.random.default_rng(1)
    ways = ["none", "learned", "sinusoidal"]
    curves = dict(zip(ways, rng.random((3, 3, 8)), strict=True))
    (ax,) = drawn("draw-curves", "figure-curves", **curves).axes
    assert len(ax.lines) == 9
    _, labels = ax.get_legend_handles_labels()
    assert labels == ways
    for number, line in enumerate(ax.lines):
        way, run = divmod(number, 3)
        assert line.get_ydata() == pytest.approx(curves[ways[way]][run])
        assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
        assert line.get_color() == ax.lines[3 * way].get_color()
    assert len({line.get_color() for line in ax.lines}) == 3


def test_table_is_drawn_whole_and_its_rows_named():
    rows = np.random.default_rng(2).normal(size=(5, 32))
    ax = drawn("figure-table", rows=rows).axes[0]
    image = np.asarray(ax.images[0].get_array())
    assert image * np.abs(rows).max() == pytest.approx(rows)
    named = [label.get_text() for label in ax.get_yticklabels()]
    assert named == ["0 the", "1 animal", "2 verb", "3 the", "4 animal"]


def test_attention_is_drawn_model_by_model_from_0_to_1():
    maps = np.random.default_rng(3).dirichlet(np.ones(5), size=(3, 5))
    axes = drawn("figure-attention", maps=maps).axes
    for seed, weights in enumerate(maps):
        assert axes[seed].get_title() == f"Seed {seed}"
        image = axes[seed].images[0]
        assert np.asarray(image.get_array()) == pytest.approx(weights)
        assert image.get_clim() == (0, 1)


def test_mask_shows_each_word_itself_and_those_before():
    (ax,) = drawn("figure-mask").axes
    image = np.asarray(ax.images[0].get_array())
    for seeing in range(5):
        for seen in range(5):
            assert image[seeing, seen] == (seen <= seeing)
    words = ["the", "dog", "chased", "the", "cat"]
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        assert [label.get_text() for label in labels] == words


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 5, 6, 7])
def test_findings_hold_for_other_seeds(names, seed):
    for positions, causal in [
        ("none", False),
        ("learned", False),
        ("sinusoidal", False),
        ("none", True),
    ]:
        model, curve = names["train"](positions, seed, causal)
        print(f"\n{positions}{' and mask' * causal} {seed}: {curve}")
        if positions == "none" and not causal:
            assert np.allclose(curve, 0.5, atol=0.01)
            continue
        assert curve[-1] > 0.95
        if positions == "learned":
            rows = np.asarray(model.get_layer("tables").position_table)
            lengths = np.linalg.norm(rows, axis=1)
            cosine = rows[1] @ rows[4] / lengths[1] / lengths[4]
            print(f"lengths {lengths.round(2)}, cosine {cosine:.2f}")
            assert cosine < -0.6
            assert set(np.argsort(lengths)[-2:]) == {1, 4}
