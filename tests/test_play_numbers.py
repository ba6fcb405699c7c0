"""The numbers of the figures to play with, by NumPy.

A script moves each figure, in a browser that reaches nothing. What the figure
then says below its pictures is compared with NumPy.
"""

import itertools
import re

import numpy as np
import pytest
from in_browser import moved, the
from two_layers import run_by_numpy

from posenc.stored import load_weights
from posenc_helpers import angular_frequencies, position_encoding, rotate


def numbers(text: str) -> list[float]:
    text = text.replace("\N{MINUS SIGN}", "-").replace(" ", "")
    text = text.replace("\N{NO-BREAK SPACE}", "")
    return [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text)]


# Rows of the matrix: hands, apart, pair, alike.


def test_hands_show_the_rows_of_the_matrix(figures):
    rows = position_encoding(64, 16)
    for position in (0, 1, 30, 63):
        _, words = moved(figures, "hands", position=position)
        shown = [
            numbers(w)[0] for w in words if re.fullmatch(r".?\d\.\d\d", w)
        ]
        np.testing.assert_allclose(shown, rows[position], atol=0.00501)


def test_apart_shows_the_nearest_and_how_many_are_too_close(figures):
    frequency, at = 2.4, np.arange(100)
    signals = [
        at[:, np.newaxis] / 999,  # the longest row of 1000 positions
        np.stack([np.sin(0.001 * at), np.cos(0.001 * at)], axis=1),
        np.stack([np.sin(frequency * at), np.cos(frequency * at)], axis=1),
        position_encoding(100, 16) / np.sqrt(8),
    ]
    for position in (0, 20, 50, 99):
        far = [np.linalg.norm(s - s[position], axis=1) for s in signals]
        others = np.delete(far, position, axis=1)
        state = {"position": position, "frequency": frequency}
        said, _ = moved(figures, "apart", **state)
        _, *nearest = numbers(said)
        np.testing.assert_allclose(nearest, others.min(axis=1), atol=5.1e-3)


def test_pair_shows_dot_products(figures):
    rows = position_encoding(96, 16)
    for position, offset in [(0, 0), (7, 3), (63, 32), (40, 12)]:
        said, _ = moved(figures, "pair", position=position, offset=offset)
        *_, product, itself = numbers(said)
        dot = rows[position] @ rows[position + offset]
        assert product == pytest.approx(dot, abs=0.00501)
        assert itself == 8


def test_alike_shows_dot_products(figures):
    d_model, n = 64, 100
    rows = position_encoding(128, d_model, max_wavelength=n)
    said, _ = moved(figures, "alike", d_model=d_model, max_wavelength=n)
    wanted = rows[[20, 21, 30]] @ rows[20]
    np.testing.assert_allclose(numbers(said), wanted, atol=0.00501)


# RoPE: rotary, unseen.


def hands_at_0(choice: int, frequencies: np.ndarray) -> np.ndarray:
    """Angles [query or key, pair] of the figure rotary at position 0."""
    angles = np.full((2, 32), 0.8)
    if choice == 2:
        angles[1] += 40 * frequencies
    return angles


@pytest.mark.parametrize("choice", [0, 2])
def test_rotary_shows_scores_of_rotated_vectors(figures, choice):
    frequencies = np.pad(angular_frequencies(48, 100), (0, 8))
    hands = hands_at_0(choice, frequencies)
    vectors = np.stack([np.cos(hands), np.sin(hands)], axis=-1)
    vectors = vectors.reshape(2, 64)
    for query, key, pair in [(0, 0, 0), (3, 40, 2), (40, 3, 9), (63, 62, 1)]:
        state = {"query": query, "key": key, "pair": pair}
        state |= {"rotary_dim": 48, "base": 100, "vectors": choice}
        said, _ = moved(figures, "rotary", **state)
        assert ("before the query" in said) == (key < query)
        first, second = rotate(vectors, [query, key], frequencies=frequencies)
        products = (first * second).reshape(32, 2).sum(axis=1)
        *_, one, mean = numbers(said)
        assert one == pytest.approx(products[pair], abs=0.00501)
        assert mean == pytest.approx(products.mean(), abs=0.00501)


REMEDIES = ["none", "interpolation", "NTK-aware", "by parts"]


@pytest.mark.parametrize("remedy", REMEDIES)
def test_unseen_names_the_pairs_with_new_angles(figures, remedy):
    trained = 20
    the(figures, "unseen").get_by_role("radio", name=remedy).check()
    for length, n in itertools.product([16, 40, 160], [1, 1000, 10_000]):
        w = angular_frequencies(8, n)
        s = max(1, length / trained)
        full = trained * w >= 2 * np.pi
        ntk = angular_frequencies(8, n * s ** (8 / 6))
        slowed = [w, w / s, ntk, np.where(full, w, w / s)]
        after = slowed[REMEDIES.index(remedy)]
        new = ~full & (length * after > trained * w + 1e-9)
        state = {"trained": trained, "length": length, "base": n}
        said, _ = moved(figures, "unseen", **state)
        pairs, fastest, step = said.split(". ", 2)
        assert numbers(pairs) == np.flatnonzero(new).tolist()
        assert numbers(fastest) == np.flatnonzero(~full)[:1].tolist()
        assert numbers(step)[-1] == pytest.approx(after[0], abs=0.00501)


# Images: patches.


def scores_of_patches(encoding, shape, query, below, base):
    """The scores of one patch for all others, by rotated vectors."""
    row, column = np.indices(shape).reshape(2, -1)
    if encoding == 0:  # trained at a width of 8, so that below is 8 ahead
        places = [np.arange(len(row))]
        waves = angular_frequencies(32, base)[:, np.newaxis]
        ahead = [8]
    else:
        places, ahead = [row, column], [1, 0]
        waves = np.kron(np.eye(2), angular_frequencies(16, base)).T
    if encoding == 3:
        speed = angular_frequencies(32, base)[:, np.newaxis]
        direction = 0.618 * np.pi * np.arange(16)
        waves = speed * np.stack([np.sin(direction), np.cos(direction)], 1)
    angles = np.stack(places, axis=1) @ waves.T
    asked = angles[query] + below * (waves @ ahead)
    return (np.exp(1j * angles) @ np.exp(-1j * asked)).real / 16


@pytest.mark.parametrize("encoding", range(4))
def test_patches_shows_scores_of_rotated_vectors(figures, encoding):
    for height, width, row, column, base, below in [
        (7, 12, 6, 0, 10, 0),
        (12, 8, 3, 7, 10_000, 1),
    ]:
        query = row * width + column
        scores = scores_of_patches(
            encoding, (height, width), query, below, base
        )
        state = {"encoding": encoding, "below": below, "base": base}
        state |= {"height": height, "width": width}
        said, _ = moved(figures, "patches", row=row, column=column, **state)
        highest, y, x, *nearby = numbers(said)
        assert highest == pytest.approx(scores.max(), abs=0.00501)
        best = scores[int(y) * width + int(x)]
        assert best == pytest.approx(scores.max(), abs=1e-6)
        # To the right, where there is a patch, and else the one below.
        neighbor = query + (1 if column + 1 < width else width)
        assert nearby[0] == pytest.approx(scores[neighbor], abs=0.00501)


# A trained model: inside.


def bits(number: int, count: int) -> np.ndarray:
    """The switches of each layer, as the figure packs them in a number."""
    return np.array([number >> place & 1 for place in range(2 * count)])


def by_numpy(letters, heads, pairs, positions):
    """Ratings and maps of the stored model, with these switches on."""
    turns = bits(pairs, 8).reshape(2, 8) * bits(positions, 1)[:, np.newaxis]
    return run_by_numpy(
        load_weights("inside"),
        letters,
        frequencies=turns * angular_frequencies(16),
        heads=bits(heads, 4).reshape(2, 4),
    )


@pytest.mark.parametrize(
    ("heads", "pairs", "positions"), [(251, 65535, 3), (255, 4242, 2)]
)
def test_inside_counts_what_is_right(figures, heads, pairs, positions):
    text, length, head, period = "quizward", 64, 2, 8
    letters = np.resize([ord(letter) - ord("a") for letter in text], length)
    switches = {"heads": heads, "pairs": pairs, "positions": positions}
    ratings, maps = by_numpy(letters, **switches)
    right = ratings.argmax(axis=1)[period:-1] == letters[period + 1 :]
    before = np.diag(maps[head], -1).mean()
    answer = np.diag(maps[head], 1 - period)[1:].mean()
    state = {"text": text, "length": length, "head": head} | switches
    said, _ = moved(figures, "inside", **state)
    *counts, one_back, on_answer = numbers(said)
    assert counts == [right.sum(), right.size]
    assert one_back == pytest.approx(before, abs=0.00501)
    assert on_answer == pytest.approx(answer, abs=0.00501)
