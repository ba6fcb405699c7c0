"""What notebook 07 claims, for seeds other than those it prints."""

import numpy as np
import pytest
from conftest import run_cells

CELLS = [
    "setup",
    "animal-names",
    "animals",
    "pairs",
    "vectorize",
    "two-orders",
    "arrays",
    "arrays-made",
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
    return run_cells("07_does_order_matter", *CELLS)


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
