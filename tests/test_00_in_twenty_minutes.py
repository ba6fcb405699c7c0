"""Notebook 00: its wishes, its formula, its experiment and its exercise."""

import io
from contextlib import redirect_stdout

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import assert_replies, run_up_to

import posenc_helpers

NAME = "00_in_twenty_minutes"


@pytest.fixture(scope="module")
def built() -> dict:
    with plt.rc_context(), redirect_stdout(io.StringIO()):
        return run_up_to(NAME, "nav-end")


def test_the_formula_is_the_one_of_the_series(built):
    for seq_len, d, n in [(1, 2, 10_000), (100, 64, 10_000), (4, 4, 100)]:
        made = built["position_encoding"](seq_len, d, n)
        wanted = posenc_helpers.encode_positions(range(seq_len), d, n)
        np.testing.assert_allclose(made, wanted, rtol=0, atol=1e-12)


def test_the_word_checked_by_hand_is_as_published(built, published):
    row = published["hand_table"]["matrix"][1]
    made = built["position_encoding"](4, 4, n=100)[1]
    np.testing.assert_allclose(made, row, atol=1e-8)


def wishes_by_hand(vectors, of_eight) -> dict[str, bool]:
    """The five wishes, from all distances between any two of the rows."""
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=-1)
    neighbors = np.diagonal(apart, 1)
    pairs = apart[np.triu_indices(len(vectors), 1)]
    spread = [np.ptp(np.diagonal(apart, k)) for k in range(1, len(vectors))]
    return {
        "bounded": bool(np.abs(vectors).max() <= 1),
        "any length": bool(np.abs(of_eight - vectors[:8]).max() < 1e-9),
        "distinct": bool(
            neighbors.min() >= 0.1 * np.linalg.norm(vectors, axis=1).max()
        ),
        "smooth": bool(neighbors.max() < pairs.min() + 1e-9),
        "comparable": bool(max(spread) < 1e-9),
    }


@pytest.mark.parametrize(
    "signal",
    [
        lambda n: np.arange(n)[:, None],
        lambda n: np.arange(n)[:, None] / n,
        lambda n: np.arange(n)[:, None] / 100_000,
        lambda n: np.arange(n)[:, None] >> np.arange(10) & 1,
        lambda n: posenc_helpers.position_encoding(n, 64),
        lambda n: posenc_helpers.position_encoding(n, 8),
        lambda n: np.random.default_rng(0).uniform(-1, 1, (n, 64)),
    ],
    ids=["index", "share", "fixed", "binary", "32 hands", "4", "random"],
)
def test_the_wishes_are_told_right(built, signal):
    assert built["wishes"](signal) == wishes_by_hand(signal(1000), signal(8))


def test_the_experiment_comes_out_so_on_seeds_that_are_not_printed(built):
    share, encoding = built["share_right"], built["position_encoding"]
    seeds = range(1000, 1015)
    none = [share(seed, np.zeros((5, 32)), 16) for seed in seeds]
    assert none == [0.5] * len(seeds)

    def mean(positions, heads):
        return np.mean([share(seed, positions, heads) for seed in seeds])

    share_of_five = np.repeat(np.arange(5)[:, None] / 5, 32, axis=1)
    assert mean(encoding(5, 32), 16) > 0.99
    assert mean(share_of_five, 16) > 0.98
    assert mean(encoding(5, 32), 4) < 0.95


REPLIES = [
    (lambda p, a: complex(*p) * np.exp(1j * a), "two numbers"),
    (lambda p, a: [p[0] * np.cos(a) + p[1] * np.sin(a),
                   p[1] * np.cos(a) - p[0] * np.sin(a)], "clockwise"),
    (lambda p, a: np.array([[np.cos(a), -np.sin(a)],
                            [np.sin(a), np.cos(a)]]) @ p, "Correct."),
    (lambda p, a: None, "`return` missing"),
    (3, "Give a function"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "reply"), REPLIES)
def test_the_exercise_replies_to_what_people_write(built, answer, reply):
    assert_replies(built["check_1"], [answer], reply)


def test_the_right_answer_shows_the_point_of_rope(built, capsys):
    def rotate(pair, angle):
        turned = complex(*pair) * np.exp(1j * angle)
        return turned.real, turned.imag

    built["check_1"](rotate)
    first, second = capsys.readouterr().out.splitlines()[1:]
    assert first.split()[-1] == second.split()[-1]
