"""Notebook 12: the module finds what it finds; its exercises."""

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_replies, cells_of
from posenc_review import review

from posenc_helpers import position_encoding

NAME = Path(__file__).stem.removeprefix("test_")


@pytest.fixture(scope="module")
def names() -> dict:
    """All that the notebook defines when every exercise is solved."""
    namespace: dict = {}
    for cell in cells_of(NAME):
        if cell.cell_type == "code":
            exec(cell.source, namespace)
    return namespace


def test_bfloat16_rounds_as_the_format_does(names):
    random = np.random.default_rng(4).normal(scale=1e3, size=10_000)
    numbers = np.append(np.arange(100_000), random).astype(np.float32)
    expected = numbers.astype(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(names["bfloat16"](numbers), expected)


@pytest.mark.parametrize("letter", "abcdefghkmnp")
def test_the_module_finds_each_suspect(names, letter):
    suspect = names["SUSPECTS"][letter]
    found = review(suspect, 8, convention="paper, interleaved").findings
    others = {"h": ["batch axis"], "n": ["first rows", "every row"]}
    assert list(found) == others.get(letter, ["every row"])
    assert ("No known cause" in str(found)) == (letter == "b")


def test_a_table_from_position_1_is_accepted_with_its_start(names):
    assert review(names["from_one"], 8, start=1).findings == {}


SUM = "np.sum(table(e, 64) ** 2, axis=1)"
DOTS = "(table(e, 512)[1:] @ table(e, 512)[1:].T)"
BATCH = "(np.zeros((4, 4, 8)) + e(4, 8))"
# The body of a check `e`; a wrong one hears what it misjudges.
REPLIES = [
    (1, f"near({SUM}, 4)", "Correct."),
    (1, "near(np.sum(table(e, 64) ** 2), 256)", "uneven rows' should fail"),
    (2, f"near({DOTS}[:-1, :-1], {DOTS}[1:, 1:])", "Correct."),
    (2, f"all(np.ptp(np.diag({DOTS}, k)) < 1e-3 for k in (0, 9))", "Correct."),
    (2, f"near(np.diag({DOTS}), 4)", "'b' should fail"),
    (3, "near(table(e, 70_000)[:64], table(e, 64))", "Correct."),
    (3, "near(table(e, 1000)[:64], table(e, 64))", "'n' should fail"),
    (4, f"{BATCH}.ndim == 3 and near({BATCH}[0], {BATCH}[-1])", "Correct."),
    (4, "e(4, 8).shape in [(4, 8), (1, 4, 8)]", "four sentences' should pass"),
    (4, f"near({BATCH}[0], {BATCH}[-1])", "(1, 4, 1, 8)' should fail"),
]


@pytest.mark.parametrize(("number", "body", "reply"), REPLIES)
def test_exercises_1_to_4_judge_a_check(names, number, body, reply):
    answer = eval(f"lambda e: {body}", names)
    assert_replies(names[f"check_{number}"], [answer], reply)


def changed(rows: object, columns: object, source: object) -> Callable:
    """The right encoder, with some entries taken from other columns."""

    def encoder(seq_len: int, d_model: int) -> np.ndarray:
        encoding = position_encoding(seq_len, d_model)
        encoding[rows, columns] = encoding[rows, source]
        return encoding

    return encoder


def test_exercise_5_takes_what_is_wrong_and_passes_all_eight(names):
    exchanged = changed(slice(None), [2, 3, 6, 7], [6, 7, 2, 3])
    constant = changed(slice(600, 700), slice(None), [0])
    for answers, reply in (
        ([exchanged, constant], "Correct."),
        ([position_encoding, names["encoder_f"]], "Not yet. "),
    ):
        assert_replies(names["check_5"], answers, reply)


def test_a_layer_is_reviewed_by_the_line_in_the_text():
    def layer(batch: np.ndarray) -> np.ndarray:
        return batch + position_encoding(*batch.shape[1:])

    (text,) = [c.source for c in cells_of(NAME) if c.id == "review-layers"]
    (line,) = [x for x in text.splitlines() if x.startswith("review(lambda")]
    given = {"review": review, "np": np, "layer": layer}
    assert eval(line, given).findings == {}
