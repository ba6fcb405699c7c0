"""Notebook 04: its wrong encoders are wrong as named, its checks catch them.

What is expected is written here from the formulas, with `math` and one
entry at a time, or is a known number; never taken from the notebook.
"""

import math

import matplotlib.pyplot as plt
import ml_dtypes
import nbformat
import numpy as np
import pytest
from conftest import ROOT, run_cells

from posenc_helpers import position_encoding

NOTEBOOK = ROOT / "notebooks" / "04_spot_the_bug.ipynb"
LETTERS = "abcdefghijkl"
CELLS = (
    "setup",
    "interleave",
    "suspects-a-b",
    "suspects-c-d",
    "suspects-e-f",
    "suspects-g",
    "suspects-h-i-j",
    "suspects-k-l",
    "line-up",
    "width",
    "easy-checks",
    "easy-dictionary",
    "failures",
    "plot-grid",
    "try-check",
    "caught-by",
    "solution-1",
    "solution-2",
    "hands",
    "solution-3",
    "measured-wavelengths",
    "solution-4",
    "solution-5",
    "true-row",
    "true-rows",
    "solution-6",
    "solution-7",
    "solution-8",
    "checks",
    "reveal-grid",
    "bugs",
    "count-right",
    "solution-9",
    "bug-names",
    "convention-of",
    "libraries-1",
    "libraries-2",
    "meanings",
    "define-review",
    "slip",
)
# Each bug's symptoms, reasoned out by hand; the first is why it is here.
FAILS = {
    "a": {"wavelengths", "far row"},
    "b": {
        "row 2",
        "rotation",
        "wavelengths",
        "dot products",
        "far row",
    },
    "c": {
        "row length",
        "rotation",
        "wavelengths",
        "dot products",
        "far row",
    },
    "d": {"row 2"},
    "e": {"wavelengths"},
    "f": {"far row"},
    "g": {"dot products"},
    "h": {"batch axis"},
    "i": {"rotation"},
    "j": {"wavelengths", "far row"},
    "k": {"first rows"},
    "l": {"row length"},
}


@pytest.fixture(scope="module")
def names() -> dict:
    return run_cells("04_spot_the_bug", *CELLS)


def names_at(width: int) -> dict:
    """The checks at another width, set as the notebook tells a reader to."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert sources["width"].startswith("WIDTH = 8\n")
    sources["width"] = sources["width"].replace("8", str(width), 1)
    namespace: dict = {}
    for cell in CELLS[: CELLS.index("checks") + 1]:
        exec(sources[cell], namespace)
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
    "c": lambda k: wave(3, k, 2 * (k // 2 + k % 2) / 8),
    "d": lambda k: wave(3, k + 1, 2 * (k // 2) / 8),
    "e": lambda k: wave(3, k, (k // 2) / 3),
    "i": lambda k: wave(3, k // 4, 2 * (k % 4) / 8),
    "j": lambda k: wave(3, k, -2 * (k // 2) / 8),
}


@pytest.mark.parametrize("letter", ENTRIES)
def test_a_wrong_formula_is_wrong_as_named(names, letter):
    row = names["SUSPECTS"][letter](4, 8)[3]
    expected = [ENTRIES[letter](column) for column in range(8)]
    np.testing.assert_allclose(row, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("letter", "fghkl")
def test_a_hidden_bug_is_right_where_people_look(names, letter):
    rows = np.squeeze(names["SUSPECTS"][letter](64, 8))[1:]
    expected = [
        [wave(p, k, 2 * (k // 2) / 8) for k in range(8)] for p in range(1, 64)
    ]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-5)


def test_hidden_bugs_are_wrong_elsewhere(names):
    suspects = names["SUSPECTS"]
    assert suspects["f"](2, 8).dtype == np.float32
    g = suspects["g"](258, 8)
    np.testing.assert_array_equal(g[256], g[257])
    assert suspects["h"](5, 8).shape == (5, 1, 8)
    stretched = math.sin(10 / (10_000 * 100_000 / 65_536) ** 0.25)
    assert suspects["k"](100_000, 8)[10, 2] == pytest.approx(stretched)
    assert not suspects["l"](5, 8)[0].any()


def test_bfloat16_rounds_as_the_format_does(names):
    random = np.random.default_rng(4).normal(scale=1e3, size=10_000)
    for numbers in (np.arange(100_000.0), random.astype(np.float32)):
        expected = numbers.astype(ml_dtypes.bfloat16).astype(np.float64)
        np.testing.assert_array_equal(names["bfloat16"](numbers), expected)


@pytest.mark.parametrize("letter", LETTERS)
def test_the_checks_kill_every_mutant_by_the_expected_symptoms(names, letter):
    failed = names["failures"](names["SUSPECTS"][letter], names["CHECKS"])
    assert set(failed) == FAILS[letter]
    assert failed == names["grid"][letter]


def by_logarithms(seq_len, d_model):
    """The right table by another way than the helper's."""
    half = np.arange(d_model // 2)
    angles = np.arange(seq_len)[:, None] * np.exp(
        -math.log(10_000) * half / (d_model / 2)
    )
    table = np.empty((seq_len, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


def cast_at_the_end(seq_len, d_model):
    return by_logarithms(seq_len, d_model).astype(np.float32)


def with_a_batch_axis(seq_len, d_model):
    return by_logarithms(seq_len, d_model)[None]


RIGHT = (position_encoding, by_logarithms, cast_at_the_end, with_a_batch_axis)


@pytest.mark.parametrize("encoder", RIGHT)
def test_the_right_table_passes_all(names, encoder):
    assert names["failures"](encoder, names["EASY"]) == []
    assert names["failures"](encoder, names["CHECKS"]) == []


@pytest.mark.parametrize("width", [4, 6, 16])
def test_other_widths_pass_the_right_table_and_kill_every_mutant(
    width,
):
    names = names_at(width)
    for encoder in (position_encoding, by_logarithms):
        assert names["failures"](encoder, names["EASY"]) == []
        assert names["failures"](encoder, names["CHECKS"]) == []
    for letter, suspect in names["SUSPECTS"].items():
        assert names["failures"](suspect, names["CHECKS"]), letter


def test_without_any_one_check_some_mutant_lives(names):
    for left_out in names["CHECKS"]:
        rest = {k: v for k, v in names["CHECKS"].items() if k != left_out}
        assert any(
            names["failures"](suspect, rest) == []
            for suspect in names["SUSPECTS"].values()
        ), f"{left_out} is decoration"


def test_easy_checks_let_most_bugs_through(names):
    failed = {
        letter: names["failures"](suspect, names["EASY"])
        for letter, suspect in names["SUSPECTS"].items()
    }
    assert "".join(x for x in failed if not failed[x]) == "acefghjk"
    assert all(len(failures) <= 1 for failures in failed.values())


def test_exercises_accept_exactly_checks_that_catch_what_is_asked(
    names, capsys
):
    def said(*arguments):
        names["try_check"](*arguments, hint="think")
        return capsys.readouterr().out

    for number, ask in enumerate(names["CHECKS"].values(), start=1):
        assert said(number, ask) == "Correct.\n"
        assert said(number, lambda encoder: True) == "Not yet. Hint: think\n"
        assert "position_encoding too" in said(number, lambda encoder: False)
        assert "position_encoding too" in said(number, 3)
    half_right = names["row_0"]  # catches l, and lets c pass
    assert said(1, half_right) == "Not yet. Hint: think\n"


WORDS = {
    "a": "doubled",
    "b": "raised to the power",
    "c": "next pair",
    "d": "swapped",
    "e": "d_model / 2 - 1",
    "f": "float32",
    "g": "bfloat16",
    "h": "batch",
    "i": "sines come first",
    "j": "multiplies",
    "k": "seq_len",
    "l": "row 0",
}


def test_every_bug_gets_its_name(names):
    assert names["BUGS"] == sorted(names["BUGS"])
    for letter, words in WORDS.items():
        assert words in names["NAMES"][letter]
    right = names["answer_9"]
    for word in (right[1:2] + right[0] + right[2:], right[:10]):
        hint = [
            say for right_count, say in names["counts"] if right_count(word)
        ]
        assert hint == ["10 of the twelve are right."]


def test_true_rows_have_the_known_digits(names):
    # sin and cos of 32768, 3276.8, 327.68, 32.768, from 50 digits
    known = [
        0.9278563334139247,
        0.372937829327715,
        -0.1185826174765672,
        -0.9929441891830609,
        0.8159462316163892,
        0.5781277947919592,
        0.9761753625648539,
        0.2169830904042435,
    ]
    np.testing.assert_allclose(names["true_row"](32_768, 4), sorted(known))
    last = math.sin(32_768 / 10_000)  # the fourth pair, if divided by 3
    assert min(abs(np.array(names["true_row"](32_768, 3)) - last)) < 1e-12


def test_wavelengths_are_measured(names):
    for encoder in RIGHT:
        measured = names["measured_wavelengths"](encoder)
        expected = 2 * np.pi * np.repeat([1, 10, 100, 1000], 2)
        np.testing.assert_allclose(measured, expected, rtol=0.05)


# The four public formulas, one entry at a time.
def keras_hub_entry(p, k, d):
    angle = p * (1 / 10_000) ** (2 * (k // 2) / d)
    return math.cos(angle) if k % 2 else math.sin(angle)


def tensorflow_entry(p, k, d):
    angle = p / 10_000 ** ((k % (d // 2)) / (d / 2))
    return math.sin(angle) if k < d // 2 else math.cos(angle)


def tensor2tensor_entry(p, k, d):
    pairs = d // 2
    if k == 2 * pairs:
        return 0.0  # the padding of an odd width
    angle = p * math.exp(-math.log(1e4) / max(pairs - 1, 1) * (k % pairs))
    return math.sin(angle) if k < pairs else math.cos(angle)


def marian_entry(p, k, d):
    sines = d // 2 + d % 2
    j = 2 * k if k < sines else 2 * (k - sines) + 1
    angle = p / 10_000 ** (2 * (j // 2) / d)
    return math.sin(angle) if k < sines else math.cos(angle)


FORMULAS = {
    "keras_hub": (keras_hub_entry, "paper, interleaved"),
    "tensorflow_tutorial": (tensorflow_entry, "paper, concatenated"),
    "tensor2tensor": (tensor2tensor_entry, "tensor2tensor"),
    "marian": (marian_entry, "paper, concatenated"),
}


def filled(entry, seq_len, d_model):
    return np.array(
        [
            [entry(p, k, d_model) for k in range(d_model)]
            for p in range(seq_len)
        ]
    )


@pytest.mark.parametrize("d_model", [4, 5, 7, 8, 64, 129])
@pytest.mark.parametrize("library", FORMULAS)
def test_conventions_of_public_formulas(names, library, d_model):
    entry, convention = FORMULAS[library]
    if library == "tensorflow_tutorial":
        d_model += d_model % 2  # its formula is for even widths
    matrix = filled(entry, 20, d_model)
    assert names["convention_of"](matrix) == convention
    single = matrix.astype(np.float32)
    assert names["convention_of"](single) == convention


@pytest.mark.parametrize("library", FORMULAS)
def test_the_notebook_writes_the_public_formulas_right(names, library):
    entry, _ = FORMULAS[library]
    np.testing.assert_allclose(
        names[library](20, 64), filled(entry, 20, 64), rtol=0, atol=1e-12
    )


def test_convention_is_unknown_for_wrong_formulas(names):
    for letter in "abcdejl":
        matrix = names["SUSPECTS"][letter](64, 8)
        assert names["convention_of"](matrix) == "unknown", letter
    moved = position_encoding(64, 8, start_index=1)
    assert names["convention_of"](moved) == "unknown"


def test_convention_names_all_that_fit(names):
    fits = names["convention_of"](position_encoding(10, 2))
    assert fits == "paper, interleaved or paper, concatenated or tensor2tensor"


@pytest.mark.parametrize("letter", LETTERS)
def test_review_says_in_words_what_is_wrong(names, letter, capsys):
    names["review"](names["SUSPECTS"][letter])
    said = capsys.readouterr().out
    for check in names["CHECKS"]:
        assert (names["MEANINGS"][check] in said) == (check in FAILS[letter])
    assert f"encoder_{letter}: {names['NAMES'][letter]}." in said
    assert f"{len(FAILS[letter])} of 8 checks fail." in said


def test_review_of_right_and_of_misshapen_encoders(names, capsys):
    for encoder in RIGHT:
        names["review"](encoder)
        assert capsys.readouterr().out == (
            "0 of 8 checks fail.\nConvention: paper, interleaved\n"
        )
    names["review"](lambda seq_len, d_model: np.zeros((d_model, seq_len)))
    assert capsys.readouterr().out == "Asked for (64, 8) and got (8, 64)\n"


def test_the_slip_of_exercise_11_is_caught(names):
    failed = names["failures"](names["slipped"], names["CHECKS"])
    assert set(failed) == {"wavelengths", "far row"}


def test_the_grid_is_drawn_in_color_and_in_symbols(names):
    grid = {"a": ["two"], "b": []}
    ax = names["plot_grid"](
        grid, {"one": None, "two": None}, plt.figure().gca()
    )
    np.testing.assert_array_equal(
        ax.images[0].get_array(), [[False, True], [False, False]]
    )
    dark, light = (ax.images[0].cmap(ax.images[0].norm(x)) for x in (1, 0))
    assert sum(light[:3]) - sum(dark[:3]) > 1  # readable without color
    assert [text.get_text() for text in ax.texts] == ["✓", "✗", "✓", "✓"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["one", "two"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    plt.close("all")
