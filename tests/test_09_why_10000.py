"""What notebook 09 builds: its sweep, its reader, and the theory."""

import math

import numpy as np
import pytest
from conftest import run_cells

from posenc_helpers import angular_frequencies, check

NAME = "09_why_10000"
MODEL = ["setup", "make-texts", "weights", "score-parts", "rope-scores"]
MODEL += ["score-table", "look", "attend", "readers", "train", "accuracy"]
MODEL += ["clip", "pair-scores", "half-turn", "falls", "remedies"]
LENGTHS = np.unique(np.round(20 * 1.06 ** np.arange(52)).astype(int))


@pytest.fixture(scope="module")
def sweep():
    cells = ["setup", "similarity", "distance", "relative-weight"]
    return run_cells(NAME, *cells, "margin-and-reach")


@pytest.fixture(scope="module")
def names():
    return run_cells(NAME, *MODEL)


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


@pytest.mark.parametrize("base", [10_000, 1e7])
def test_reach_is_the_first_offset_below(sweep, base):
    reach = sweep["reach"](base)
    similarity = sweep["similarity"](np.arange(reach + 1), base)
    assert (similarity[:-1] >= 0.3).all()
    assert similarity[-1] < 0.3


def test_reach_says_when_it_finds_no_end(sweep):
    with pytest.raises(ValueError, match="base=1000000000000"):
        sweep["reach"](1e12)


def test_half_turn_is_pi_over_the_frequency(names):
    for base, pair, width in [(1e4, 1, 8), (1e8, 1, 8), (5e5, 63, 128)]:
        expected = math.pi * base ** (2 * pair / width)
        assert names["half_turn"](base, pair, width) == pytest.approx(expected)
    assert names["half_turn"](1e8) == pytest.approx(math.pi * 100)


def normalized(x):
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-3)


def read_plainly(weights, text, base):
    """One model and one text, the marker's block vector by vector."""
    weights = {name: np.asarray(w)[0] for name, w in weights.items()}
    rows = normalized(weights["letters"])[text]
    place = text.index(8)
    mixed = []
    for head in range(8):
        part = slice(8 * head, 8 * head + 8)
        query = rows[place] @ weights["query"][:, part]
        scores = []
        for key_place in range(place + 1):
            angles = (key_place - place) * base ** (-np.arange(4) / 4)
            key = rows[key_place] @ weights["key"][:, part]
            turned = (key[:4] + 1j * key[4:]) * np.exp(1j * angles)
            asked = query[:4] + 1j * query[4:]
            scores.append((asked.conj() * turned).sum().real / math.sqrt(8))
        shares = np.exp(np.array(scores) - max(scores))
        values = rows[: place + 1] @ weights["value"][:, part]
        mixed.append(shares / shares.sum() @ values)
    x = weights["letters"][8] + np.concatenate(mixed) @ weights["mix"]
    hidden = np.maximum(normalized(x) @ weights["hidden"], 0)
    return hidden @ weights["answer"]


@pytest.mark.parametrize("base", [10_000, 1.5])
def test_reader_is_a_block_with_rotary_positions(names, base):
    names["keras"].utils.set_random_seed(3)
    model = names["Readers"]([base])
    parts = ["letters", "query", "key", "value", "mix", "hidden", "answer"]
    weights = {part: getattr(model, part) for part in parts}
    texts, _ = names["make_texts"](4, 30, np.random.default_rng(0))
    made = np.asarray(model(texts[:, np.newaxis]))[:, 0]
    for text, scores in zip(texts.tolist(), made, strict=True):
        right = read_plainly(weights, text, base)
        assert scores == pytest.approx(right, abs=1e-4)


def test_training_is_that_of_notebook_08(names):
    of_08 = run_cells("08_beyond_sinusoids", "training-sizes")
    assert (names["STEPS"], names["BATCH"]) == (of_08["STEPS"], of_08["BATCH"])


def test_a_limit_stops_one_pair_and_is_taken_off_again(names, monkeypatch):
    model = names["Readers"]([10_000])
    met = []
    told = lambda model, seq_len: met.append(model.limits.copy())  # noqa: E731
    monkeypatch.setitem(names, "accuracy", told)
    names["stopped"](model, 1, 160)
    assert met[0].tolist() == [np.inf, 19, np.inf, np.inf]
    assert np.isinf(model.limits).all()


def test_limit_and_window_change_the_scores_as_they_say(names):
    model = names["Readers"]([10_000])
    free = np.asarray(names["score_table"](model, 40))
    model.limits = np.float32([19] * 4)
    stopped = np.asarray(names["score_table"](model, 40))
    assert stopped[:, :, :20] == pytest.approx(free[:, :, :20], abs=1e-5)
    assert stopped[:, :, 30] == pytest.approx(free[:, :, 19], abs=1e-5)
    model.window = 3
    assert (np.asarray(names["score_table"](model, 5))[:, :, 3:] == -1e9).all()


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
                assert total == pytest.approx(score / 8**0.5, abs=1e-3)


def test_remedies_slow_the_pairs_that_they_should(names):
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

    given = {"usual": Model(), "accuracy": accuracy, "TRAINED": 20}
    names = run_cells(NAME, "stretched", np=np, **given)
    names["stretched"](lambda usual, s: usual / s, 80)
    assert (seen[80] == 0.25).all()
    assert (names["usual"].frequencies == 1).all()


def test_a_fall_is_the_first_length_below(names, monkeypatch):
    reached = {20: [1, 0.9], 30: [0.31, 0.29], 40: [0.1, 0.8], 50: [1, 1]}
    told = lambda model, n: np.array(reached[n])  # noqa: E731
    monkeypatch.setitem(names, "accuracy", told)
    assert names["falls"](None, [20, 30, 40]).tolist() == [40, 30]
    with pytest.raises(AssertionError, match="never falls"):
        names["falls"](None, [20, 30])


REPLIES = {
    1: [
        ((640 / math.pi) ** 4, "Correct"),
        (0.98 * (640 / math.pi) ** 4, "Correct"),
        (1.72e9, "Correct"),
        ([1.72e9], "Correct"),
        ((640 / math.tau) ** 4, "full turn"),
        ("1.72e9", "Half a turn is at"),
    ],
    3: [(11, "Correct"), (21, "do make"), (22, "Count pairs")],
    4: [(49.87, "Correct"), (49, "Correct"), (44.4, "which power")],
}


@pytest.mark.parametrize(
    ("number", "answer", "reply"),
    [(n, *case) for n, cases in REPLIES.items() for case in cases],
)
def test_answer_in_another_form_or_near_it_is_told(
    capsys, number, answer, reply
):
    given = {"np": np, "check": check}
    run_cells(NAME, f"check-{number}", **given)[f"check_{number}"](answer)
    assert reply in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (lambda model: {1e4: 1, 100: 2}[model], "Correct."),
        (lambda model: 1, "Does it look at the model"),
        (lambda model: 0, "the *best* mean"),
        (lambda model: None, "Nothing was returned"),
        (lambda model: ..., "Not answered yet"),
    ],
)
def test_experiment_of_exercise_2_is_judged(capsys, answer, reply):
    """With the bases themselves in the place of the trained models."""
    given = {"check": check, "train": lambda bases: bases[0]}
    run_cells(NAME, "check-2", **given)["check_2"](answer)
    assert reply in capsys.readouterr().out


@pytest.mark.slow
def test_five_bases_fall_near_their_half_turn_on_other_seeds(names):
    ratios, bases = [], np.repeat(names["bases"][:5], 3)
    for seed in range(1, 6):
        model = names["train"](bases, seed)
        fell = names["falls"](model, LENGTHS)
        ratios.append(fell / names["half_turn"](1) / bases**0.25)
    ratios = np.array(ratios)
    print("\n", ratios.round(2))
    usual, larger = ratios[:, :3], ratios[:, 3:]
    assert usual.min() > 1  # the usual base falls after its half turn
    assert usual.max() < 1.6
    assert larger.min() > 0.7
    assert larger.max() < 1.6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_findings_hold_for_other_seeds(names, seed):
    bases = np.repeat([1e4, 1e10, 1.5, 100], 3)
    model, usual, largest = names["train"](bases, seed), slice(3), slice(3, 6)
    for pair in range(4):
        reached = [names["stopped"](model, pair, n) for n in (40, 80, 160)]
        reached = np.array(reached)
        assert (reached[:, usual].min() > 0.8) == (pair == 1)
        # With base 100 it is pair 2, in the mean that exercise 2 asks for.
        assert (reached[2, 9:].mean() > 0.8) == (pair == 2)
    fell = names["falls"](model, LENGTHS)
    assert fell[6:9].min() > fell[usual].max()  # base 1.5 holds longer
    assert fell[largest].max() < 0.2 * names["half_turn"](1e10)
    # With the largest base pair 0 does it all, until it meets offset 20.
    model.limits = np.float32([np.inf, 0, 0, 0])
    assert names["accuracy"](model, 20)[largest].min() > 0.8
    model.limits = np.float32([np.inf] * 4)
    model.window = 20
    assert names["accuracy"](model, 40)[largest].mean() > 0.7
    model.window = 21
    assert names["accuracy"](model, 40)[largest].mean() < 0.75
