"""Notebook 07: its suspects are wrong as named, its checks catch them.

What is expected is written here from the formulas, with `math` and one
entry at a time, or is a known number; never taken from the notebook.
"""

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_replies, cells_of, run_up_to

from posenc_helpers import position_encoding
from posenc_review import review

NOTEBOOK = "07_spot_the_bug"
# Each bug's symptoms, reasoned out by hand.
FIVE = "rotation, wavelengths, dot products, far row"
FAILS = {
    "a": "wavelengths, far row",
    "b": f"row 2, {FIVE}",
    "c": f"row length, {FIVE}",
    "d": "row 2",
    "e": "wavelengths",
    "f": "far row",
    "g": "dot products",
    "h": "batch axis",
    "k": "rotation",
    "m": "wavelengths, far row",
    "n": "first rows",
    "p": "row length",
}


@pytest.fixture(scope="module")
def names() -> dict:
    """All that the notebook defines when every exercise is solved."""
    namespace: dict = {}
    for cell in cells_of(NOTEBOOK):
        if cell.cell_type == "code":
            exec(cell.source, namespace)
    return namespace


def wave(position: int, column: int, exponent: float) -> float:
    """Sine or cosine, by column, of position * 10000**-exponent."""
    angle = position / 10_000**exponent
    return math.cos(angle) if column % 2 else math.sin(angle)


# Entry [3, column] at d_model = 8, from the formula of each bug.
ENTRIES = {
    "a": lambda k: wave(3, k, 4 * (k // 2) / 8),
    "b": lambda k: (math.cos if k % 2 else math.sin)(
        (3 / 10_000) ** (2 * (k // 2) / 8)
    ),
    "c": lambda k: wave(3, k, 2 * k / 8),
    "d": lambda k: wave(3, k + 1, 2 * (k // 2) / 8),
    "e": lambda k: wave(3, k, (k // 2) / 3),
    "k": lambda k: wave(3, k // 4, 2 * (k % 4) / 8),
    "m": lambda k: wave(3, k, -2 * (k // 2) / 8),
}


@pytest.mark.parametrize("letter", ENTRIES)
def test_a_wrong_formula_is_wrong_as_named(names, letter):
    row = names["SUSPECTS"][letter](4, 8)[3]
    expected = [ENTRIES[letter](column) for column in range(8)]
    np.testing.assert_allclose(row, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("letter", "fghnp")
def test_a_hidden_bug_is_right_where_people_look(names, letter):
    rows = np.squeeze(names["SUSPECTS"][letter](64, 8))[1:]
    expected = [
        [wave(p, k, 2 * (k // 2) / 8) for k in range(8)] for p in range(1, 64)
    ]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-5)


def test_hidden_bugs_are_wrong_elsewhere(names):
    suspects = names["SUSPECTS"]
    assert suspects["f"](2, 8).dtype == np.float32
    g = suspects["g"](259, 8)
    np.testing.assert_array_equal(g[256], g[257])
    assert suspects["h"](5, 8).shape == (5, 1, 8)
    stretched = math.sin(10 / (10_000 * 100_000 / 65_536) ** 0.25)
    assert suspects["n"](100_000, 8)[10, 2] == pytest.approx(stretched)
    assert not suspects["p"](5, 8)[0].any()


def test_bfloat16_rounds_as_the_format_does(names):
    random = np.random.default_rng(4).normal(scale=1e3, size=10_000)
    for numbers in (np.arange(100_000.0), random.astype(np.float32)):
        expected = numbers.astype(ml_dtypes.bfloat16).astype(np.float64)
        np.testing.assert_array_equal(names["bfloat16"](numbers), expected)


def test_the_usual_tests_let_seven_through(names):
    caught = {
        name: [x for x in FAILS if not ask(names["SUSPECTS"][x])]
        for name, ask in names["EASY"].items()
    }
    nobody = {"range": [], "rows differ": []}
    assert caught == nobody | {"shape": ["h"], "row 0": ["b", "d", "k", "p"]}


def test_a_comparison_with_the_right_table_misses_one(names):
    errors = names["errors"]
    assert [x for x in errors if errors[x] < 1e-6] == ["h"]
    assert [x for x in errors if errors[x] < 1] == ["f", "h"]


def test_each_suspect_shows_the_expected_symptoms(names):
    grid = {x: ", ".join(failed) for x, failed in names["grid"].items()}
    assert grid == FAILS
    assert names["failures"](position_encoding) == []


def test_each_check_alone_catches_some_suspect(names):
    alone = {failed for failed in FAILS.values() if "," not in failed}
    assert alone == set(names["CHECKS"])


@pytest.mark.parametrize("letter", FAILS)
def test_the_module_finds_what_the_notebook_finds(names, letter):
    suspect = names["SUSPECTS"][letter]
    found = list(review(suspect, 8, convention="paper, interleaved").findings)
    assert ", ".join(x for x in found if x != "every row") == FAILS[letter]
    assert ("every row" in found) == (letter != "h")


def test_left_open_nothing_breaks(capsys):
    names = run_up_to(NOTEBOOK, "answer-6")
    assert capsys.readouterr().out.count("Not answered yet") == 6
    assert names["failures"](position_encoding) == []
    at_large = [x for x in names["grid"] if not names["grid"][x]]
    assert at_large == ["g", "h", "n", "p"]  # whom only the reader's catch


SUM = "np.sum(table(e, 64) ** 2, axis=1)"
DOTS = "(table(e, 512)[1:] @ table(e, 512)[1:].T)"
BATCH = "(np.zeros((4, 4, 8)) + e(4, 8))"
RIGHT_CHECKS = [
    (1, f"near({SUM}, 4)"),
    (1, "all(abs(sum(x * x for x in row) - 4) < .01 for row in table(e, 64))"),
    (2, f"near({DOTS}[:-1, :-1], {DOTS}[1:, 1:])"),
    (2, f"all(np.ptp(np.diag({DOTS}, k)) < 1e-3 for k in range(0, 511, 50))"),
    (3, "near(table(e, 70_000)[:64], table(e, 64))"),
    (3, "np.abs(table(e, 70_000)[:64] - table(e, 64)).max() < 1e-6"),
    (4, f"{BATCH}.shape == (4, 4, 8) and near({BATCH}[0], {BATCH}[-1])"),
    (4, "e(4, 8).shape in [(4, 8), (1, 4, 8)]"),
]
# With the table that is judged wrongly, which the hint names.
WRONG_CHECKS = [
    (1, f"near({SUM}, 1)", "'the right table' should pass"),
    (1, "near(np.sum(table(e, 64) ** 2), 256)", "uneven rows' should fail"),
    (2, f"near(np.diag({DOTS}), 4)", "'b' should fail"),
    (3, "near(table(e, 1000)[:64], table(e, 64))", "'n' should fail"),
    (3, "near(table(e, 70_000)[:63], table(e, 64)[:63])", "row 63' should"),
    (3, "near(e(70_000, 8)[:64], e(64, 8))", "batch axis' should pass"),
    (4, "e(4, 8).shape == (4, 8)", "batch axis' should pass"),
    (4, f"near({BATCH}[0], {BATCH}[-1])", "shape (1, 4, 1, 8)' should fail"),
    (4, f"near({BATCH}[0], position_encoding(4, 8))", "'a' should pass"),
]


def as_check(body: str, names: dict) -> Callable:
    return eval(f"lambda e: {body}", names)


@pytest.mark.parametrize(("number", "body"), RIGHT_CHECKS)
def test_a_right_check_is_accepted(names, number, body):
    check = names[f"check_{number}"]
    assert_replies(check, [as_check(body, names)], "Correct.")


@pytest.mark.parametrize(("number", "body", "told"), WRONG_CHECKS)
def test_a_wrong_check_hears_what_it_misjudges(
    names, number, body, told, capsys
):
    names[f"check_{number}"](as_check(body, names))
    said = capsys.readouterr().out
    assert said.startswith("Not yet. ") and told in said, said


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_broken_check_hears_its_own_error(names, number, capsys):
    for body, told in (("1 / 0", "ZeroDivisionError"), ("None", "`return`")):
        names[f"check_{number}"](as_check(body, names))
        assert told in capsys.readouterr().out


def test_exercise_5_takes_names_in_several_forms(names):
    both = {"row 2", "far row"}
    right = [both, [*both], "Row 2, far row", both | {"every row"}]
    right += [review(names["from_one"], 8).findings]
    assert_replies(names["check_5"], right, "Correct.")
    wrong = [{"row 2"}, set(), both | {"rotation"}, both | {"first rows"}, 5]
    assert_replies(names["check_5"], wrong, "Not yet. ")
    two = [{"row 2", "rotation"}]  # a set, as the task says: no word of lists
    assert_replies(names["check_5"], two, "Not yet. Hint: Names")
    assert_replies(names["check_5"], [{"row 2", ...}], "Not answered yet")


def changed(rows: object, columns: object, source: object) -> Callable:
    """The right encoder, with some entries taken from other columns."""

    def encoder(seq_len: int, d_model: int) -> np.ndarray:
        encoding = position_encoding(seq_len, d_model)
        encoding[rows, columns] = encoding[rows, source]
        return encoding

    return encoder


def test_exercise_6_takes_what_is_wrong_and_passes_all_eight(names, capsys):
    beaten = [changed(slice(None), [2, 3], [3, 2])]
    beaten += [changed(slice(None), [2, 3, 6, 7], [6, 7, 2, 3])]
    beaten += [changed(slice(600, 700), slice(None), [0])]
    assert_replies(names["check_6"], beaten, "Correct.")
    head_axis = names["encoder_h"]
    noticed = [position_encoding, names["encoder_f"]]
    noticed += [lambda *sizes: head_axis(*sizes)[None]]
    assert_replies(names["check_6"], noticed, "Not yet. ")
    names["check_6"](lambda seq_len, d_model: 1 / 0)
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_libraries_follow_the_conventions_that_the_text_says(names):
    seen = {
        library.__name__: review(library, 64, max_len=600).convention
        for library in names["libraries"]
    }
    assert {name: str(told) for name, told in seen.items()} == {
        "tensorflow_2023": "paper, concatenated",
        "tensor2tensor": "tensor2tensor, concatenated",
        "annotated_transformer": "paper, interleaved",
        "tutorial_example": "paper, interleaved",
    }


def test_a_layer_is_reviewed_by_the_line_in_the_text():
    def layer(batch: np.ndarray) -> np.ndarray:
        return batch + position_encoding(*batch.shape[1:])

    (text,) = [c.source for c in cells_of(NOTEBOOK) if c.id == "review-layers"]
    (line,) = [x for x in text.splitlines() if x.startswith("review(lambda")]
    given = {"review": review, "np": np, "layer": layer}
    assert eval(line, given).findings == {}
