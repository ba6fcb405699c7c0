"""What notebook 05 claims of its phrases, and what its figures draw."""

import itertools

import numpy as np
import pytest
from conftest import figure_of, run_cells

NAME = "05_phrase_demo"
CELLS = (
    *("setup", "phrases", "sizes", "vectorize", "ids", "tokens", "draw"),
    "draw-both",
    *("fixed", "parts-of", "plot-row", "practical", "scalings", "draw-map"),
    *("distances", "reveal-collision", "different-rows", "hunts", "twin-of"),
    *("rank", "sums", "nearest", "recover", "own-phrase", "own-twin"),
    *(f"check-{number}" for number in range(1, 6)),
)


@pytest.fixture(scope="module")
def names():
    return run_cells(NAME, *CELLS)


def texts(labels):
    return [label.get_text() for label in labels]


@pytest.mark.parametrize(
    ("cell", "limit"), [("figure-learned", 0.1), ("figure-fixed", 2)]
)
def test_both_phrases_share_a_scale_and_name_their_words(names, cell, limit):
    panels = [ax for ax in figure_of(NAME, cell, **names).axes if ax.images]
    phrases = (names["TECHNICAL"], names["WISE"])
    for ax, phrase, ids in zip(panels, phrases, names["ids"], strict=True):
        image = ax.images[0]
        assert image.get_clim() == (-limit, limit)
        assert np.abs(image.get_array()).max() <= limit
        if cell == "figure-fixed":  # both tables are sinusoids: by hand
            angles = np.stack([ids, np.arange(20)])[:, :, np.newaxis]
            angles = angles / 10_000 ** (np.arange(0, 50, 2) / 50)
            image = np.asarray(image.get_array())
            assert image[:, ::2] == pytest.approx(
                np.sin(angles).sum(axis=0), abs=1e-5
            )
            assert image[:, 1::2] == pytest.approx(
                np.cos(angles).sum(axis=0), abs=1e-5
            )
        words = [*phrase.lower().split(), "pad"][:20]
        assert texts(ax.get_yticklabels()) == words


def test_row_is_drawn_as_the_sum_of_word_and_position(names):
    (ax,) = figure_of(NAME, "figure-one-row", **names).axes
    word, position, total = (line.get_ydata() for line in ax.lines)
    assert total == pytest.approx(word + position)
    assert word[0] == pytest.approx(np.sin(22), abs=1e-5)
    assert position[0] == pytest.approx(np.sin(5), abs=1e-5)
    assert ax.get_title() == '"liberty" is word 22 and stands at 5'


def test_lengths_of_word_rows_are_drawn_beside_the_length_of_positions(names):
    (ax,) = figure_of(NAME, "figure-norms", **names).axes
    *words, positions = ax.lines
    assert set(positions.get_ydata()) == {5}
    for line, named in zip(words, names["variants"], strict=True):
        rows = names["variants"][named][names["ids"][1]]
        assert line.get_ydata() == pytest.approx(np.sqrt((rows**2).sum(1)))
        beside = next(t for t in ax.texts if t.get_text() == named)
        assert beside.get_color() == line.get_color()
        assert beside.get_position()[1] == pytest.approx(
            line.get_ydata().mean()
        )


def test_map_of_distances_frames_the_double_of_you_and_me(names):
    panels = [
        ax
        for ax in figure_of(NAME, "figure-distances", **names).axes
        if ax.images
    ]
    layers = (names["fixed"], names["practical"])
    for ax, layer in zip(panels, layers, strict=True):
        first, second = layer(names["ids"]).numpy()
        image = np.asarray(ax.images[0].get_array())
        assert ax.images[0].get_clim() == (0, 9)
        for down, along in [(0, 0), (5, 8), (19, 18), (3, 11)]:
            apart = np.sqrt(((first[down] - second[along]) ** 2).sum())
            assert image[down, along] == pytest.approx(apart, abs=1e-5)
    (frame,) = panels[0].lines
    (along,), (down,) = frame.get_data()
    assert [ax.get_xlabel() for ax in panels] == ["Second phrase"] * 2
    assert panels[0].get_ylabel() == "First phrase"
    assert texts(panels[0].get_xticklabels())[along] == "me"
    assert texts(panels[0].get_yticklabels())[down] == "you"
    assert np.asarray(panels[0].images[0].get_array())[down, along] == 0


def test_each_row_of_the_phrase_is_found_once_in_the_twin(names):
    (ax,) = [
        ax for ax in figure_of(NAME, "figure-own", **names).axes if ax.images
    ]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("The phrase", "Its twin")
    zeros = np.asarray(ax.images[0].get_array()) < 1e-5
    assert zeros.sum(axis=0).tolist() == [1] * 10
    assert zeros.sum(axis=1).tolist() == [1] * 10
    assert " ".join(texts(ax.get_yticklabels())) == names["own"]


def heap(phrase):
    """What both tables fixed leave of a phrase: pairs without order."""
    return sorted(tuple(sorted(pair)) for pair in enumerate(phrase))


@pytest.mark.parametrize(("length", "words"), [(4, 6), (5, 5)])
def test_two_phrases_are_one_heap_only_if_they_are_twins(names, length, words):
    alike = {}
    for phrase in itertools.product(range(words), repeat=length):
        alike.setdefault(tuple(heap(phrase)), set()).add(phrase)
    assert {len(phrases) for phrases in alike.values()} == {1, 2}
    for phrases in alike.values():
        for phrase in phrases:
            twin = tuple(names["twin_of"](np.array(phrase)).tolist())
            assert {phrase, twin} == phrases


def test_phrase_of_two_rings_is_one_heap_with_its_twin(names):
    phrase = np.array([1, 2, 0, 4, 5, 3, 9])
    twin = names["twin_of"](phrase)
    assert twin.tolist() == [2, 0, 1, 5, 3, 4, 9]
    assert heap(phrase) == heap(twin)


def test_foxes_and_hens_are_the_same_rows_only_if_words_are_fixed(names):
    def sorted_rows(layer):
        return [
            rows[np.lexsort(rows.round(4).T)]
            for rows in layer(names["hunt_ids"]).numpy()
        ]

    first, second = sorted_rows(names["fixed"])
    assert first == pytest.approx(second, abs=1e-5)
    first, second = sorted_rows(names["practical"])
    assert np.abs(first - second).max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_attention_and_mean_miss_it_whatever_the_weights(names, seed):
    run = run_cells(NAME, "orders", "look", **names)
    look, rng = run["look"], np.random.default_rng(seed)
    look.set_weights([rng.normal(size=w.shape) for w in look.get_weights()])
    assert not run["tells_apart"](names["fixed"](names["hunt_ids"]))
    assert run["tells_apart"](names["practical"](names["hunt_ids"]))
    assert run["tells_apart"](names["practical"](run["order_ids"]))


def test_relu_before_the_mean_tells_the_orders_apart(names):
    run = run_cells(NAME, "orders", **names)
    rows = names["practical"](run["order_ids"]).numpy()
    first, second = rows.mean(axis=1)
    assert np.abs(first - second).max() < 1e-6
    first, second = np.maximum(rows, 0).mean(axis=1)
    assert np.abs(first - second).max() > 1e-3


def test_neighbors_tell_the_twins_apart_that_attention_does_not(names):
    first, second = names["fixed"](names["hunt_ids"]).numpy()
    pairs = [rows[:-1] * rows[1:] for rows in (first, second)]
    assert np.abs(np.subtract(*(p.mean(0) for p in pairs))).max() > 0.1


def test_every_double_is_a_word_and_a_position_that_trade_places(names):
    pairs = {(min(w, p), max(w, p)) for w in range(38) for p in range(20)}
    assert names["different_rows"](names["fixed"], 38) == len(pairs) == 570
    assert names["different_rows"](names["practical"], 38) == 38 * 20


@pytest.mark.parametrize(
    ("length", "known"),
    [(50, 16), (100, 30), (500, 108), (5000, 236)],
)
def test_directions_agree_with_the_eigenvalues(names, length, known):
    angles = np.arange(length)[:, np.newaxis] / 10_000 ** (
        np.arange(0, 512, 2) / 512
    )
    table = np.hstack([np.sin(angles), np.cos(angles)])
    largest_first = np.linalg.eigvalsh(table.T @ table)[::-1]
    share = np.cumsum(largest_first) / (length * 256)  # sin^2 + cos^2 = 1
    assert names["directions"](length) == known
    assert np.sum(share <= 0.99) + 1 == known


def test_nearest_is_the_row_at_the_smallest_distance(names):
    rng = np.random.default_rng(5)
    sums, rows = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    apart = [[((s - row) ** 2).sum() for row in rows] for s in sums]
    assert (
        names["nearest"](sums, rows).tolist() == np.argmin(apart, 1).tolist()
    )


def test_wide_sums_can_be_taken_apart_and_narrow_ones_cannot(names):
    shares = {width: names["recovered"](width) for width in (8, 32, 128)}
    assert max(shares[8]) < 0.3
    assert shares[32][0] > 0.99 and 0.5 < shares[32][1] < 0.8
    assert min(shares[128]) > 0.98


@pytest.mark.parametrize("seed", range(3))
def test_in_equal_lengths_the_positions_are_the_easier_ones_if_narrow(
    names, seed
):
    def shares(width, scale):
        rng = np.random.default_rng(seed)
        words = scale * rng.normal(size=(1000, width))
        word, position = rng.integers([1000, 100], size=(2000, 2)).T
        angles = np.arange(100)[:, None] / 10_000 ** (
            np.arange(0, width, 2) / width
        )
        table = np.hstack([np.sin(angles), np.cos(angles)])
        sums = words[word] + table[position]
        off_by = np.abs(names["nearest"](sums, table) - position)
        found = names["nearest"](sums, words) == word
        return found.mean(), (off_by <= 2).mean()

    for width in (8, 32):
        of_words, of_places = shares(width, 1)
        assert of_words > of_places
        equal_words, equal_places = shares(width, np.sqrt(0.5))
        assert equal_words < of_words
        assert equal_places > of_places
        assert (equal_words < equal_places) == (width == 8)
        given = names["recovered"](width, np.sqrt(0.5))
        assert given == pytest.approx((equal_words, equal_places), abs=0.06)


def test_bare_list_of_positions_is_no_function(names, capsys):
    names["check_5"](names["random_sums"](32, trials=300)[3])
    assert "Give the function" in capsys.readouterr().out


def exercise_5(guess):
    def answer(one_sum, words, table):
        word = ((words - one_sum) ** 2).sum(axis=1).argmin()
        rest = one_sum - words[word] if guess == "rest" else one_sum
        place = ((table - rest) ** 2).sum(axis=1).argmin()
        if guess == "dot":
            return (
                table @ (one_sum - words[(words @ one_sum).argmax()])
            ).argmax()
        if guess == "print":
            return None
        return {"word": word, "row": table[place]}.get(guess, place)

    return answer


@pytest.mark.parametrize(
    ("number", "answer", "reply"),
    [
        (1, ["convention", "in", "march"], "Correct."),
        (1, "Convention, in March", "Correct."),
        (1, {"march", "in", "convention"}, "Correct."),
        (1, list(np.array(["convention", "in", "march"])), "Correct."),
        (1, ["convention", "in", "march", "pad"], "The pad is no word"),
        (1, ["in", "march"], "The sixteen begin at position 0."),
        (1, 3, "Which words come after"),
        (2, 16, "Correct."),
        (2, np.array([16.0]), "Correct."),
        (2, 22.6, "Count the pairs, not the columns."),
        (2, "16", "is text"),
        (3, ("a", 3), "Correct."),
        (3, ["A", "3"], "Correct."),
        (3, ("a", np.int64(3)), "Correct."),
        (3, ("a", 3.0), "Correct."),
        (3, "a at position 3", "Correct."),
        (3, (7, 3), "7 is the id"),
        (3, (3, "a"), "First the word"),
        (3, "a", "Give a pair"),
        (3, (..., ...), "Not answered yet"),
        (4, 29_565, "Correct."),
        (4, 435, "How many different ones remain?"),
        (4, 30_000, "have the same sum"),
        (4, 29_535, "equal numbers has no double"),
        (4, 29_810, "That is for 20 positions"),
        (5, exercise_5("rest"), "Correct."),
        (5, exercise_5("whole"), "The word is still in it"),
        (5, exercise_5("word"), "That is the word"),
        (5, exercise_5("row"), "Return one number"),
        (5, exercise_5("print"), "Return one number"),
        (5, exercise_5("dot"), "Take off half the squared length"),
        (5, lambda one_sum: 3, "TypeError"),
        (5, 3, "Give the function"),
        (5, lambda one_sum, words, table: ..., "Not answered yet"),
        (5, ..., "Not answered yet"),
    ],
)
def test_exercise_is_answered_with_a_fitting_hint(
    names, capsys, number, answer, reply
):
    names[f"check_{number}"](answer)
    assert reply in capsys.readouterr().out
