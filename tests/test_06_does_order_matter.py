"""What notebook 06 claims, for seeds other than those it prints."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to

NAME = Path(__file__).stem.removeprefix("test_")


@pytest.fixture(scope="module")
def names() -> dict:
    """What the notebook defines, before anything is trained."""
    names = run_up_to(NAME, "train") | {"learned_runs": []}
    return run_cells(NAME, "table-rows", "accuracy-with", **names)


def test_held_out_pairs_are_new_and_stand_there_in_both_orders(names):
    known, held_out = (
        {(doer, other) for _, doer, other in rows}
        for rows in (names["known"], names["held_out"])
    )
    assert not known & held_out
    assert {(b, a) for a, b in known | held_out} == known | held_out
    assert {animal for pair in known for animal in pair} == set(
        names["ANIMALS"]
    )
    for sentence, doer, other in names["known"] + names["held_out"]:
        assert sentence.split()[1::3] == [doer, other]
    assert names["test_ids"].min() >= 2  # 0 is padding, 1 is unknown


def with_random_weights(model, seed):
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    return model


@pytest.mark.parametrize("seed", range(20, 23))
def test_without_positions_half_is_right_whatever_the_weights(names, seed):
    model = with_random_weights(names["build_model"]("none"), seed)
    assert names["accuracy"](model) == pytest.approx(0.5, abs=0.01)
    assert names["order_effect"](model) < 1e-3


def test_equal_scores_count_as_wrong(names):
    tied = names["build_model"]("none")
    tied.layers[-1].set_weights([np.zeros((32, 16)), np.zeros(16)])
    assert names["accuracy"](tied) == 0


@pytest.mark.parametrize("pool", ["mean", "sum", "max", "last word"])
def test_what_is_read_at_the_end_may_not_depend_on_the_order(names, pool):
    keras = names["keras"]
    ids = keras.Input([5], dtype="int64")
    words = names["embed"](ids, "none", 32**0.5, 0.05)
    x = names["transformer_block"](words, causal=False)
    pooled = {
        "mean": lambda: keras.ops.mean(x, axis=1),
        "sum": lambda: keras.ops.sum(x, axis=1),
        "max": lambda: keras.ops.max(x, axis=1),
        "last word": lambda: x[:, -1],
    }[pool]()
    model = keras.Model(ids, keras.layers.Dense(16)(pooled))
    effect = names["order_effect"](with_random_weights(model, 30))
    assert (effect > 1e-2) == (pool == "last word")


def test_rows_1_and_4_and_the_same_swapped_add_up_to_one(names):
    """So a mean over random rows would be one half for any weights."""
    model = with_random_weights(names["build_model"]("learned"), 40)
    for rows in np.random.default_rng(41).normal(size=(5, 2, 32)):
        one, other = (
            names["accuracy_with"](model, pair) for pair in (rows, rows[::-1])
        )
        assert one + other == pytest.approx(1, abs=0.01)
        assert one != other


def test_only_the_swap_of_the_two_articles_changes_no_score(names):
    model = with_random_weights(names["build_model"]("learned"), 7)
    table = model.get_layer("tables").position_table
    rows, before = names["position_rows"](model), model(names["test_ids"])
    changed = {}
    for pair in itertools.combinations(range(5), 2):
        order = np.arange(5)
        order[list(pair)] = order[list(pair[::-1])]
        table.assign(rows[order])
        after = np.asarray(model(names["test_ids"]))
        changed[pair] = np.abs(after - before).max()
    assert changed.pop((0, 3)) < 1e-3
    assert min(changed.values()) > 0.01


def zeros_at(names, put_back=True, others=False):
    """The experiment of exercise 1, right or with a slip."""

    def experiment(model, positions):
        table = model.get_layer("tables").position_table
        kept = names["position_rows"](model)
        chosen = np.isin(np.arange(5), positions) != others
        table.assign(np.where(chosen[:, np.newaxis], 0, kept))
        result = names["accuracy"](model)
        if put_back:
            table.assign(kept)
        return result

    return experiment


def test_exercise_1_replies_to_what_people_write(names):
    parts = ("check-1-parts", "judge-1", "check-1")
    cells = run_cells(NAME, *parts, **names)

    def rounded(model: object, positions: list) -> float:
        return round(zeros_at(names)(model, positions), 2)

    for answer, reply in (
        (zeros_at(names), "Correct."),
        (rounded, "Correct."),
        (zeros_at(names, put_back=False), "The old rows are not back."),
        (zeros_at(names, others=True), "not at the others."),
        (lambda model, positions: ..., "Not answered yet"),
        (lambda model, positions: None, "Nothing was returned"),
        (lambda model, positions: 0.5, "Which table does the model hold"),
    ):
        assert_replies(cells["check_1"], [answer], reply)


REPLIES = [
    (2, [(0, 3), np.array([3, 0]), {0, 3}, "0,3", "3 and 0"], "Correct."),
    (2, [(1, 4)], "turns all"),
    (2, [3, (0, 0), "0"], "two different numbers"),
    (2, [(2, 3)], "the same set"),
    (3, [0.69, [0.6931]], "Correct."),
    (3, [1], "base 2"),
    (3, [0.5], "p and q"),
    (3, [-0.69], "minus missing"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    cells = run_cells(NAME, f"check-{number}", **names)
    assert_replies(cells[f"check_{number}"], answers, reply)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 5, 6, 7])
def test_findings_hold_for_other_seeds(names, seed):
    cases = {
        "none": ("none", {}),
        "learned": ("learned", {}),
        "sinusoidal": ("sinusoidal", {}),
        "no factor": ("sinusoidal", {"factor": 1}),
        "small start": ("sinusoidal", {"start": 0.05 / 32**0.5}),
        "mask": ("none", {"causal": True}),
    }
    curves = {
        name: np.array(names["train"](positions, seed, **settings)[1])
        for name, (positions, settings) in cases.items()
    }
    print(curves)
    assert np.allclose(curves.pop("none"), 0.5, atol=0.01)
    assert min(curve[-1] for curve in curves.values()) > 0.95
    needed = {name: np.argmax(curve > 0.9) for name, curve in curves.items()}
    assert needed["sinusoidal"] < needed["no factor"]
    assert needed["small start"] < needed["no factor"]
    assert curves["mask"][0] > 0.8


@pytest.mark.slow
def test_order_is_carried_by_a_difference_on_other_seeds(names):
    seeds = range(3, 9)
    runs = [names["train"]("learned", seed) for seed in seeds]
    ends = [names["position_rows"](model) for model, _ in runs]
    starts = [names["start_rows"](seed) for seed in seeds]
    given = {"learned_runs": runs, "ends": ends, "starts": starts}
    cells = ("reveal-swap", "reveal-reset", "other-rows", "reveal-mean")
    run = run_cells(NAME, *cells, **(names | given))
    assert max(run["swapped"]) <= 0.05
    total = np.add(run["before"], run["swapped"])
    assert total == pytest.approx(1, abs=0.01)
    assert np.allclose(run["equal"], 0.5, atol=0.01)
    assert min(run["reset"]) > 0.8
    others = np.array(run["others"])
    assert np.mean(others >= np.c_[run["reset"]]) < 0.02
    assert others.min() < 0.4
    assert others.max() > 0.6
    for (model, _), end, start in zip(runs, ends, starts, strict=True):
        assert zeros_at(names)(model, [0, 1, 2, 3]) > 0.75
        assert zeros_at(names)(model, [0, 2, 3]) > 0.95
        moves = np.linalg.norm(end - start, axis=1)
        assert moves[[1, 4]].min() > 1.5 * moves[[0, 2, 3]].max()
