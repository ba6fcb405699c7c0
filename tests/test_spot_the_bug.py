"""Notebook 04: its wrong encoders are wrong as named, its checks catch them.

What is expected is written here from the formulas, with `math` and one
entry at a time, or is a known number; never taken from the notebook.
"""

import math
from functools import cache

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
    "suspect-b",
    "suspects-c-d",
    "suspect-d",
    "suspects-e-f",
    "suspect-f",
    "suspects-g",
    "suspect-g",
    "suspects-h-i-j",
    "suspects-i-j",
    "suspects-k-l",
    "suspect-l",
    "line-up",
    "width",
    "easy-checks",
    "easy-dictionary",
    "failures",
    "plot-grid",
    "caught-by",
    "extra-tables-m-n",
    "extra-tables-o-p",
    "must-fail",
    "outcome",
    "try-check",
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
    "library-tensorflow",
    "libraries-2",
    "library-marian",
    "meanings",
    "too-short",
    "other-columns",
    "define-review",
    "slip",
    "rounds-both",
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
# The tables that only try_check uses; m is right.
MORE_FAILS = {
    "m": set(),
    "n": {"row length", "rotation", "wavelengths", "dot products"},
    "o": {"row 2", "wavelengths", "far row"},
    "p": {"first rows"},
}


@pytest.fixture(scope="module")
def names() -> dict:
    return run_cells("04_spot_the_bug", *CELLS)


def notebook_cells() -> dict:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    return {cell.id: cell for cell in notebook.cells}


def said_to(names: dict, cell_id: str, answer: object, capsys) -> str:
    """What an exercise's own cell says to an answer in place of the dots."""
    source = notebook_cells()[cell_id].source
    assert "= ...\n" in source
    exec(source.replace("= ...\n", "= given\n"), names | {"given": answer})
    return capsys.readouterr().out


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
    g = suspects["g"](259, 8)
    np.testing.assert_array_equal(g[256], g[257])
    right_again = [wave(258, k, 2 * (k // 2) / 8) for k in range(8)]
    np.testing.assert_allclose(g[258], right_again, rtol=0, atol=1e-9)
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


def test_more_tables_fail_as_meant(names):
    for letter, expected in MORE_FAILS.items():
        encoder = names["TRIALS"][letter]
        assert set(names["failures"](encoder, names["CHECKS"])) == expected
    assert names["failures"](names["TRIALS"]["m"], names["EASY"]) == []


LAX = "Not yet. Hint: think\n"
STRICT = "Not yet. Hint: It asks too much: "
BROKEN = (
    "Not yet. Hint: It fails position_encoding, which is the right encoder:"
)


def near(left, right, tolerance=1e-3):
    return np.allclose(left, right, rtol=0, atol=tolerance)


def of(encoder, seq_len):
    return np.squeeze(encoder(seq_len, 8))


def dot_pair(encoder, low, high):
    rows = of(encoder, 512)
    return rows[low] @ rows[high]


def clock(encoder):
    rows = of(encoder, 64)[1:]
    return rows[:, 0::2] + 1j * rows[:, 1::2]


def turns_by_the_formula(encoder):
    turn = np.exp(-1j * 10.0 ** -np.arange(4))
    return near(clock(encoder)[1:], clock(encoder)[:-1] * turn)


def is_right(encoder):
    return near(of(encoder, 64), position_encoding(64, 8))


def far_out(encoder):
    return of(encoder, 32_769)[-1]


FAR_RIGHT = position_encoding(1, 8, start_index=32_768)[0]
NEAR_MISSES = {
    "1 grand total": (LAX, lambda e: near(np.sum(of(e, 64) ** 2), 256)),
    "1 two rows": (LAX, lambda e: near(np.sum(of(e, 2) ** 2, axis=1), 4)),
    "1 row 0": (STRICT, lambda e: near(of(e, 64)[0], [0, 1] * 4)),
    "2 row 0": (LAX, lambda e: near(of(e, 3)[0, 0], 0)),
    "2 row 1": (LAX, lambda e: near(of(e, 3)[1, 0], np.sin(1))),
    "2 all row": (
        STRICT,
        lambda e: near(of(e, 3)[2], position_encoding(3, 8)[2]),
    ),
    "3 length": (LAX, lambda e: near(np.abs(clock(e)), 1)),
    "3 right turn": (STRICT, turns_by_the_formula),
    "5 one offset": (
        LAX,
        lambda e: near(dot_pair(e, 3, 5), dot_pair(e, 403, 405)),
    ),
    "5 from row 0": (
        STRICT,
        lambda e: near(np.diag(of(e, 512) @ of(e, 512).T), 4),
    ),
    "6 paper": (
        STRICT,
        lambda e: near(np.sort(far_out(e)), np.sort(FAR_RIGHT), 1e-6),
    ),
    "6 unsorted": (STRICT, lambda e: near(far_out(e), FAR_RIGHT, 1e-6)),
    "7 row 5": (LAX, lambda e: near(of(e, 70_000)[5], of(e, 64)[5])),
    "7 short": (LAX, lambda e: near(of(e, 1000)[:64], of(e, 64))),
    "7 right rows": (
        STRICT,
        lambda e: near(of(e, 70_000)[:64], position_encoding(64, 8)),
    ),
    "8 two axes": (STRICT, lambda e: e(4, 8).ndim == 2),
    "8 shape": (STRICT, lambda e: e(4, 8).shape == (4, 8)),
}


@pytest.mark.parametrize("miss", NEAR_MISSES)
def test_exercises_refuse_near_misses(names, miss, capsys):
    says, ask = NEAR_MISSES[miss]
    assert ask(position_encoding)
    names["try_check"](int(miss[0]), ask, hint="think")
    assert capsys.readouterr().out.startswith(says)


def test_exercise_6_refuses_a_coarse_check(names, capsys):
    def ask(encoder):
        row = np.sort(far_out(encoder))
        return any(near(row, true, 1e-3) for true in names["TRUE_ROWS"])

    names["try_check"](6, ask, hint="think")
    assert capsys.readouterr().out == LAX


@pytest.mark.parametrize(("what", "says"), [("last", LAX), ("tight", STRICT)])
def test_exercise_4_refuses_near_misses(names, what, says, capsys):
    def ask(encoder):
        measured = names["measured_wavelengths"](encoder)
        longest = np.isclose(measured[-1], 2000 * np.pi, rtol=0.1)
        return longest if what == "last" else (longest and is_right(encoder))

    names["try_check"](4, ask, hint="think")
    assert capsys.readouterr().out.startswith(says)


@pytest.mark.parametrize("number", range(1, 9))
def test_exercises_take_the_model_and_what_equals_it_only(
    names, number, capsys
):
    def said(ask):
        names["try_check"](number, ask, hint="think")
        return capsys.readouterr().out

    check, answer = list(names["CHECKS"].items())[number - 1]
    assert said(answer) == "Correct.\n"
    model = cache(answer)  # asked many times below
    assert said(...).startswith("Not answered yet")
    assert said(lambda encoder: True) == LAX
    assert said(is_right).startswith(STRICT)
    assert said(lambda e: model(e) and is_right(e)).startswith(STRICT)
    caught = {x for x, fails in (FAILS | MORE_FAILS).items() if check in fails}
    for letter in caught:
        missed = names["TRIALS"][letter]
        assert said(lambda e, m=missed: e is m or model(e)) == LAX
    for letter in set(names["TRIALS"]) - caught - {"right"}:
        extra = names["TRIALS"][letter]
        heard = said(lambda e, x=extra: e is not x and model(e))
        assert heard == f"{STRICT}{letter} should pass.\n"


@pytest.mark.parametrize("number", range(1, 9))
def test_a_broken_check_is_told_why(names, number, capsys):
    def said(ask):
        names["try_check"](number, ask, hint="think")
        return capsys.readouterr().out

    typo = "it raised NameError: name 'misspelled' is not defined."
    assert said(lambda e: misspelled(e, 64)) == f"{BROKEN} {typo}\n"  # noqa: F821
    assert said(lambda e: None) == f"{BROKEN} it returned None.\n"
    assert said(lambda e: False) == f"{BROKEN} it returned False.\n"
    said_to_3 = "it raised TypeError: 'int' object is not callable."
    assert said(3) == f"{BROKEN} {said_to_3}\n"
    assert "ValueError" in said(lambda e: of(e, 64) < 2)


def test_the_answers_cannot_be_read_by_accident(names):
    word = names["answer_9"]
    cells = notebook_cells()
    for cell_id, cell in cells.items():
        text = cell.source + str(cell.get("outputs", ""))
        if cell_id != "solution-9":
            assert word not in text and word[::-1] not in text, cell_id
    order = list(cells)
    for cell_id in order[: order.index("convention")]:
        shown = str(cells[cell_id].get("outputs", ""))
        assert not any(bug in shown for bug in names["BUGS"]), cell_id
    assert "cln" not in cells["must-fail"].source


WORDS = {
    "a": "doubled",
    "b": "raised to the power",
    "c": "next pair",
    "d": "swapped",
    "e": "the pair number is divided",
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


def test_exercise_9_counts_letters(names, capsys):
    def said(word):
        return said_to(names, "try-9", word, capsys)

    right = names["answer_9"]
    for word in (right, right.upper(), f" {right} "):
        assert said(word) == "Correct.\n"
    swapped = right[1::-1] + right[2:]
    for word in (swapped, swapped.upper()):
        assert said(word) == "Not yet. Hint: 10 of 12 are right.\n"
    for word in (right[:10], right + "x", 7, None, list(right)):
        assert said(word).startswith("Not yet. Hint: Twelve letters")


def test_names_hold_whatever_exercise_9_was_given(names):
    source = notebook_cells()["bug-names"].source
    for word in (names["answer_9"].upper(), 7, ...):
        made = names | {"answer_9": word}
        exec(source, made)
        full = names["NAMES"] if isinstance(word, str) else {}
        assert {k: v for k, v in made["NAMES"].items() if k != "7"} == full


def bfloat(numbers):
    return np.asarray(numbers).astype(ml_dtypes.bfloat16).astype(np.float64)


@pytest.mark.parametrize(
    ("positions", "angles", "says"),
    [
        (bfloat, bfloat, "Correct."),
        (np.asarray, bfloat, "Not yet."),
        (bfloat, np.asarray, "Not yet."),
        (np.asarray, np.asarray, "Not yet."),
    ],
)
def test_exercise_12_wants_both_rounded(
    names, positions, angles, says, capsys
):
    def encoder(seq_len, d_model):
        where = positions(np.arange(float(seq_len)))
        turned = angles(np.outer(where, 10.0 ** -np.arange(d_model // 2)))
        table = np.empty((seq_len, d_model))
        table[:, ::2], table[:, 1::2] = np.sin(turned), np.cos(turned)
        return table

    assert said_to(names, "try-12", encoder, capsys).startswith(says)


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


def test_faster_turns_are_folded(names):
    measured = names["measured_wavelengths"](names["SUSPECTS"]["j"])[::2]
    angles = [math.acos(math.cos(3 * 10**i)) / 3 for i in range(4)]
    expected = sorted(2 * math.pi / angle for angle in angles)
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


@pytest.mark.parametrize("rows", [100, 300, 5000, 40_000])
@pytest.mark.parametrize("raises", [False, True])
def test_review_says_that_a_buffer_is_too_short(names, rows, raises, capsys):
    def buffered(seq_len, d_model):
        if raises and seq_len > rows:
            raise IndexError("out of rows")
        return position_encoding(rows, d_model)[:seq_len]

    names["review"](buffered)
    said = capsys.readouterr().out
    got = "IndexError: out of rows" if raises else rows
    assert f"- Too short: asked for 70000 rows and got {got}.\n" in said
    assert "Perhaps" not in said
    far = names["MEANINGS"]["far row"] in said
    assert far == (rows <= 32_768)


def test_review_of_good_pairs_in_a_strange_order(names, capsys):
    def swapped(seq_len, d_model):
        return position_encoding(seq_len, d_model)[:, [0, 1, 3, 2, 4, 5, 6, 7]]

    def reversed_pairs(seq_len, d_model):
        return position_encoding(seq_len, d_model)[:, [0, 1, 6, 7, 4, 5, 2, 3]]

    for encoder, columns in (
        (swapped, [2, 3]),
        (reversed_pairs, [2, 3, 6, 7]),
    ):
        names["review"](encoder)
        assert capsys.readouterr().out == (
            "0 of 8 checks fail.\nConvention: unknown\n"
            f"Yet columns {columns} are not the paper's.\n"
        )


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
