"""What notebook 09 builds: its sweep, its reader, and the theory."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import run_cells

from posenc_helpers import angular_frequencies, check

NAME = "09_why_10000"
MODEL = ["setup", "make-texts", "model-sizes", "normalize", "add-weights"]
MODEL += ["rope-scores", "angles-of", "score-table", "look", "attend"]
MODEL += ["readers", "train", "accuracy", "clip", "pair-scores", "half-turn"]
MODEL += ["looks", "remedies"]
POWERS = [4, 5, 6, 7, 8, 10]
LENGTHS = [20, 40, 80, 120, 240, 320]


@pytest.fixture(scope="module")
def sweep():
    cells = ["setup", "similarity", "distance", "relative-weight"]
    return run_cells(NAME, *cells, "margin-and-reach")


@pytest.fixture(scope="module")
def names():
    return run_cells(NAME, *MODEL)


@pytest.fixture(scope="module")
def of_08():
    cells = "setup rotate-pairs alibi-slopes t5-buckets task-sizes"
    cells += " make-texts model-sizes rope-scores t5-bias scores-of embed"
    cells += " normalize add-weights look readers"
    return run_cells("08_beyond_sinusoids", *cells.split())


def row(position, base):
    """A row of the matrix of width 512, number by number."""
    pairs = [position / base ** (2 * i / 512) for i in range(256)]
    return [f(angle) for angle in pairs for f in (math.sin, math.cos)]


@pytest.mark.parametrize("base", [1, 10, 10_000, 1e6])
def test_similarity_and_distance_are_those_of_two_rows(sweep, base):
    for offset in (1, 17, 710):
        here, there = np.array(row(40, base)), np.array(row(40 + offset, base))
        cosine = here @ there / 256
        apart = math.dist(here, there)
        assert sweep["similarity"](offset, base) == pytest.approx(cosine)
        assert sweep["distance"](offset, base) == pytest.approx(apart)


def test_weight_is_what_a_softmax_gives_two_keys(sweep):
    scores = np.array([0.3 * 256, 256]) / math.sqrt(512)
    key, own = np.exp(scores - scores.max())
    assert sweep["relative_weight"](0.3) == pytest.approx(key / own)


def test_margin_is_at_710_for_base_1_and_at_a_neighbor_for_others(sweep):
    smallest, offset = sweep["margin"](1)
    assert offset == 710
    assert smallest == pytest.approx(math.dist(row(0, 1), row(710, 1)))
    for base in (10, 10_000):
        assert sweep["margin"](base) == (sweep["distance"](1, base), 1)


def test_reach_is_the_first_offset_below(sweep):
    reach = sweep["reach"](10_000)
    similarity = sweep["similarity"](np.arange(reach + 1), 10_000)
    assert (similarity[:-1] >= 0.3).all()
    assert similarity[-1] < 0.3


def test_half_turn_is_pi_over_the_frequency(names):
    for base, pair, width in [(1e4, 1, 8), (1e8, 1, 8), (5e5, 63, 128)]:
        expected = math.pi * base ** (2 * pair / width)
        assert names["half_turn"](base, pair, width) == pytest.approx(expected)
    assert names["half_turn"](1e8) == pytest.approx(math.pi * 100)


def test_reader_is_the_one_of_notebook_08(names, of_08):
    rng = np.random.default_rng(0)
    texts, answers = names["make_texts"](6, 20, 1, rng)
    again = of_08["make_texts"](6, 20, 1, np.random.default_rng(0))
    assert texts.tolist() == again[0].tolist()
    assert answers.tolist() == again[1].tolist()
    side_by_side = np.stack([texts] * 4, axis=1)
    names["keras"].utils.set_random_seed(3)
    here = names["Readers"]([10_000] * 4)(side_by_side)
    names["keras"].utils.set_random_seed(3)
    there = of_08["Readers"]("RoPE", 4)(side_by_side)
    assert np.asarray(here) == pytest.approx(np.asarray(there), abs=1e-5)


def test_training_is_that_of_notebook_08(names, monkeypatch):
    of_08 = run_cells("08_beyond_sinusoids", "training-sizes")
    assert (names["STEPS"], names["BATCH"]) == (of_08["STEPS"], of_08["BATCH"])
    told = {}

    class Reader:
        def __init__(self, bases):
            told["bases"] = bases

        def compile(self, optimizer, loss):
            told["rate"] = optimizer._learning_rate.initial_learning_rate

        def fit(self, texts, answers, batch, verbose):
            told["shapes"] = texts.shape, answers.shape, batch

    monkeypatch.setitem(names, "Readers", Reader)
    names["train"]([10, 100])
    assert told["bases"] == [10, 100]
    assert told["shapes"] == ((9600, 2, 20), (9600, 2), 32)
    assert told["rate"] == 6e-3


def test_each_model_has_its_own_base(names):
    bases = [10_000, 1e8]
    model = names["Readers"](bases)
    angles = names["angles_of"](model, np.array([0, 1, 30, 200]))
    assert angles.shape == (2, 4, 4)
    for m, base in enumerate(bases):
        for k, offset in enumerate([0, 1, 30, 200]):
            expected = [offset * base ** (-i / 4) for i in range(4)]
            assert angles[m, k] == pytest.approx(expected, rel=1e-5)


def test_a_limit_stops_one_pair_and_is_taken_off_again(names, monkeypatch):
    model = names["Readers"]([10_000])
    met = []

    def accuracy(model, seq_len):
        angles = names["angles_of"](model, np.array([5, 19, 100]))
        met.append(angles[0] / model.frequencies[0])

    monkeypatch.setitem(names, "accuracy", accuracy)
    names["clipped"](model, 1, 160)
    assert met[0][:, 1] == pytest.approx([5, 19, 19])
    assert met[0][:, [0, 2, 3]] == pytest.approx(
        np.repeat([[5], [19], [100]], 3, axis=1)
    )
    assert np.isinf(model.limits).all()


def test_window_hides_what_is_farther_back(names):
    model = names["Readers"]([10_000])
    model.window = 3
    texts = np.array([[[1, 2, 3, 4, 8, 5]]])
    weights = np.asarray(names["look"](model, texts))[0, 0]
    assert (weights.min(axis=1) > 0).tolist() == [0, 0, 1, 1, 1, 0]


def test_pair_scores_add_up_to_the_score_of_an_average_letter(names):
    model = names["Readers"]([10_000, 1e6])
    offsets = np.array([0, 1, 7, 50])
    parts = [names["pair_scores"](model, pair, offsets) for pair in range(4)]
    for m, base in enumerate([10_000, 1e6]):
        symbols = np.asarray(model.letters)[m]
        symbols = symbols - symbols.mean(axis=1, keepdims=True)
        symbols /= np.sqrt((symbols**2).mean(axis=1, keepdims=True) + 1e-3)
        query = symbols[8] @ np.asarray(model.query)[m]
        keys = symbols[:8] @ np.asarray(model.key)[m]
        for head in range(8):
            columns = slice(8 * head, 8 * head + 8)
            asked, key = query[columns], keys.mean(axis=0)[columns]
            for o, offset in enumerate(offsets):
                score = 0
                for i in range(4):
                    c = math.cos(offset * base ** (-i / 4))
                    s = math.sin(offset * base ** (-i / 4))
                    a, b = key[i], key[i + 4]  # turned back by the angle
                    score += asked[i] * (a * c + b * s)
                    score += asked[i + 4] * (b * c - a * s)
                total = sum(part[m, head, o] for part in parts)
                assert total == pytest.approx(score, abs=1e-3)


def test_remedies_slow_the_pairs_that_they_should():
    names = run_cells(NAME, "setup", "make-texts", "model-sizes", "remedies")
    usual = np.float32([angular_frequencies(8)] * 2)
    assert names["interpolated"](usual, 4) == pytest.approx(usual / 4)
    slower = usual / names["ntk_aware"](usual, 4)
    # With base b * s ** (w / (w - 2)), pair i is s ** (i / 3) slower.
    for row in slower:
        assert row == pytest.approx([4 ** (i / 3) for i in range(4)])
    slower = usual / names["by_parts"](usual, 4)
    assert slower == pytest.approx(np.array([[1, 4, 4, 4]] * 2))


def test_stretching_is_undone():
    class Model:
        frequencies = np.ones((3, 4), "float32")

    seen = {}

    def accuracy(model, seq_len):
        seen[seq_len] = model.frequencies

    given = {"first": Model(), "accuracy": accuracy, "TRAINED": 20}
    names = run_cells(NAME, "stretched", np=np, **given)
    names["stretched"](lambda usual, s: usual / s, 80)
    assert (seen[80] == 0.25).all()
    assert (Model.frequencies == 1).all()
    assert (names["first"].frequencies == 1).all()


@pytest.mark.parametrize(
    ("best", "length"),
    [
        ([1, 1, 1, 1, 1, 0.7], None),
        ([1, 0.59, 0.5, 0.1, 0.1, 0.1], 40),
        ([1, 0.61, 0.5, 0.1, 0.1, 0.1], 80),
        ([1, 1, 1, 1, 1, 0.3], 320),
    ],
)
def test_lost_from_is_the_first_length_that_no_model_finds(best, length):
    given = {"accuracy": lambda *_: np.ones(3), "first": None, "np": np}
    cells = ["found", "lost-from"]
    lost = run_cells(NAME, *cells, LENGTHS=LENGTHS, **given)["lost_from"]
    assert lost(np.outer(best, [0.1, 1, 0.5])) == length


def test_found_means_all_and_lost_means_none():
    cells = ["setup", "found"]
    given = {"accuracy": lambda *_: np.ones(3), "first": None}
    verdict = run_cells(NAME, *cells, **given)["verdict"]
    assert verdict(np.array([0.81, 0.9, 1])) == "found"
    assert verdict(np.array([0.59, 0.1, 0.2])) == "lost"
    assert verdict(np.array([0.79, 0.9, 1])) == "partly"


REPLIES = {
    1: [
        ((640 / math.pi) ** 4, "Correct"),
        (1.7e9, "Correct"),
        ([1.72e9], "Correct"),
        ("1.72e9", "is text"),
        ([1, 2], "One number"),
        ((640 / math.tau) ** 4, "full turn"),
    ],
    2: [
        (lambda b, i, w: math.tau * b ** (2 * i / w), "Correct"),
        (lambda b, i, w: round(math.tau * b ** (2 * i / w)), "rounded"),
        (lambda b, i, w: math.pi * b ** (2 * i / w), "half a turn"),
        (lambda b, i, w: math.tau * b ** (i / w), "two columns"),
        (lambda b, i, w: None, "What is omega"),
    ],
    3: [(11, "Correct"), (list(range(21, 32)), "How many"), (21, "do make")],
    4: [
        (50, "Correct"),
        ([49.87] * 3, "Correct"),
        ([49.87, 49.87, 30], "Which base"),
        (math.pi * 40_000**0.25, "which power"),
        ("50", "is text"),
    ],
}


@pytest.mark.parametrize(
    ("number", "answer", "reply"),
    [(n, *case) for n, cases in REPLIES.items() for case in cases],
)
def test_answer_in_another_form_or_near_it_is_told(
    capsys, number, answer, reply
):
    given = {"np": np, "check": check}
    given["angular_frequencies"] = angular_frequencies
    run_cells(NAME, f"check-{number}", **given)[f"check_{number}"](answer)
    said = capsys.readouterr().out
    assert reply in said
    assert "raised" not in said


def drawn(*cells, **data):
    """The figure that these cells show, when given such data."""
    figures = []
    data["show"] = lambda figure, alt: figures.append(figure)
    run_cells(NAME, *cells, plt=plt, np=np, **data)
    (figure,) = figures
    plt.close(figure)
    return figure


def test_sweep_is_drawn_with_neighbors_margins_and_reaches():
    data = {"bases": 10 ** np.arange(7), "reaches": np.arange(1, 8)}
    data |= {"neighbors": np.arange(7) + 3.0, "margins": np.arange(7) + 0.5}
    left, right = drawn("figure-n", **data).axes
    lines = {line.get_label(): line.get_ydata() for line in left.lines}
    assert lines["neighbors"].tolist() == data["neighbors"].tolist()
    assert lines["margin"].tolist() == data["margins"].tolist()
    assert right.lines[0].get_ydata().tolist() == data["reaches"].tolist()
    for ax in (left, right):
        assert ax.lines[-1].get_xdata()[0] == 10_000


def test_each_base_has_its_runs_and_its_half_turn():
    results = np.random.default_rng(1).random((6, 6, 3))
    given = {"results": results, "powers": POWERS, "LENGTHS": LENGTHS}
    given["half_turn"] = lambda base: math.pi * base**0.25
    figure = drawn("figure-bases", **given)
    for i, (ax, power) in enumerate(zip(figure.axes, POWERS, strict=True)):
        *runs, mark = ax.lines
        for run, line in enumerate(runs):
            assert line.get_ydata() == pytest.approx(results[:, i, run])
        assert len(runs) == 3
        assert mark.get_xdata()[0] == pytest.approx(
            math.pi * 10 ** (power / 4)
        )
        assert ax.get_title() == f"Base $10^{{{power}}}$"


def test_looks_are_drawn_on_one_scale():
    looked = {"first": np.random.default_rng(2).random((3, 40))}
    looked["others"] = np.random.default_rng(3).random((15, 40))
    given = {"powers": POWERS, "RUNS": 3, "TRAINED": 20, **looked}
    figure = drawn("figure-looks", looks=lambda x: x, **given)
    bases = [looked["first"], looked["others"][3:6], looked["others"][12:]]
    for ax, runs in zip(figure.axes, bases, strict=True):
        for line, run in zip(ax.lines, runs, strict=False):
            assert line.get_ydata() == pytest.approx(run)
        assert ax.lines[-1].get_xdata()[0] == 19.5
    assert len({ax.get_ylim() for ax in figure.axes}) == 1


def test_pair_is_drawn_over_its_largest_with_half_a_turn():
    curves = np.random.default_rng(4).normal(size=(3, 8, 64))
    given = {"first": None, "TRAINED": 20}
    given["pair_scores"] = lambda model, pair, offsets: curves
    (ax,) = drawn("figure-pair", **given).axes
    *lines, mark = ax.lines
    for line, curve in zip(lines, curves.reshape(24, 64), strict=True):
        assert line.get_ydata() == pytest.approx(curve / abs(curve).max())
    assert mark.get_xdata()[0] == pytest.approx(math.pi * 10_000**0.25)


def test_remedies_are_drawn_by_name():
    order = ["none", "interpolated", "ntk_aware", "by_parts"]
    remedies = {name: (lambda usual, s: None) for name in order[1:]}

    def stretched(remedy, length):
        known = [k for k, f in remedies.items() if f is remedy] or ["none"]
        return np.array([1, 2, 3]) * length + 1000 * order.index(known[0])

    given = {"RUNS": 3, "stretched": stretched, **remedies}
    (ax,) = drawn("figure-remedies", **given).axes
    for i in range(4):
        for run in range(3):
            line = ax.lines[3 * i + run]
            expected = [(run + 1) * n + 1000 * i for n in (20, 40, 80, 160)]
            assert line.get_ydata().tolist() == expected
    _, labels = ax.get_legend_handles_labels()
    assert labels == ["none", "interpolation", "NTK-aware", "by parts"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_the_cliff_is_at_half_a_turn_for_other_seeds(names, seed):
    model = names["train"]([10.0**power for power in POWERS], seed)
    reached = np.array([names["accuracy"](model, n) for n in LENGTHS])
    print(f"\n{seed}:\n{reached.T}")
    for i, power in enumerate(POWERS[:-1]):
        in_half_turns = np.divide(LENGTHS, math.pi * 10 ** (power / 4))
        assert reached[in_half_turns < 0.75, i].mean() > 0.7
        assert reached[in_half_turns > 1, i].max() < 0.6
    assert reached[0].min() > 0.8
    assert reached[1, -1] < 2 / 3
    for pair in range(4):
        usual = [names["clipped"](model, pair, n)[0] for n in (40, 80, 160)]
        print(f"pair {pair} stopped at 19: {usual}")
        assert min(usual) > 0.8 if pair == 1 else max(usual) < 0.6
    # With the largest base pair 0 does it all, until it meets offset 20.
    model.limits = np.float32([np.inf, 0, 0, 0])
    assert names["accuracy"](model, 20)[-1] > 0.8
    assert names["accuracy"](model, 40)[-1] < 0.6
    model.limits = np.float32([np.inf] * 4)
    model.window = 20
    assert names["accuracy"](model, 40)[-1] > 0.8
    model.window = 21
    assert names["accuracy"](model, 40)[-1] < 0.75
