"""The check of an exercise: what it takes for right, and what it says."""

from collections.abc import Callable

import numpy as np
import pytest

from posenc.check import check, confirm, hints_shown


def reply(capsys, *arguments, **options) -> str:
    check(*arguments, **options)
    return capsys.readouterr().out


def is_even(number):
    return number % 2 == 0


def returns(value):
    return lambda *arguments: value


RIGHT, WRONG = "Correct.\n", "Not yet. Hint: look\n"
REPLIES = [
    (2, 2.0000001, RIGHT),
    ([1, 2], np.array([1.0, 2.0]), RIGHT),
    ([[1], [2]], [1, 2], RIGHT),  # an axis more
    (" Sine ", "sine", RIGHT),
    (8, is_even, RIGHT),
    (3, 2, WRONG),
    (1_000_000.1, 1_000_000, WRONG),  # the tolerance is absolute
    (5, [5, 5], WRONG),  # of another shape, though they would broadcast
    (float("nan"), 1, WRONG),
]


@pytest.mark.parametrize(("answer", "expected", "words"), REPLIES)
def test_an_answer_is_right_in_its_usual_forms(
    capsys, answer, expected, words
):
    is_right = check(answer, expected, "look")
    assert capsys.readouterr().out == words
    assert is_right == (words == RIGHT)


PAIRS = ("How many?", "Count the pairs.")


def check_of_pairs(answer):
    """As an author writes it, with the reader's number in the hints."""
    slip = (f"Is {answer} even?", f"{answer} is odd, and 8 is not.")
    cannot_look = (lambda number: number.nothing, "never shown")
    mistakes = [cannot_look, (9, "Nine."), (lambda number: number % 2, slip)]
    check(answer, 8, PAIRS, mistakes=mistakes)


def check_of_columns(answer):
    check(answer, 16, PAIRS)


@pytest.fixture
def hints(capsys) -> Callable:
    """In a new kernel: what answers get, each as a line."""

    def lines(ask, *answers) -> list[str]:
        for answer in answers:
            ask(answer)
        return capsys.readouterr().out.splitlines()

    hints_shown.clear()
    return lines


def test_the_second_hint_comes_when_the_same_mistake_comes_back(hints):
    words = ["Is 3 even?", "How many?", "5 is odd, and 8 is not.", "Nine."]
    words += ["Count the pairs."]
    printed = [f"Not yet. Hint: {each}" for each in words]
    assert hints(check_of_pairs, 3, 2, 5, 9, 4, 8) == [*printed, "Correct."]
    # Another check with the same hints begins at the first.
    assert hints(check_of_columns, 2) == ["Not yet. Hint: How many?"]


def test_an_answer_that_cannot_be_judged_uses_no_hint_up(hints):
    confirm(check_of_columns, 2)
    printed = hints(check_of_columns, ..., None, "two", 2, 2)[1:]
    hinted = [line.partition("Hint: ")[2] for line in printed]
    assert hinted == ["", PAIRS[0], PAIRS[0], PAIRS[0], PAIRS[1]]


DOTS = [..., (1, ...), [..., 2], {"a": ...}, [(1, ...)], returns([1, ...])]


@pytest.mark.parametrize("answer", DOTS)
def test_dots_are_asked_for_wherever_they_are(capsys, answer):
    printed = "Not answered yet: replace the dots, then run this again.\n"
    assert reply(capsys, answer, lambda a: a() == 1, "look") == printed
    if callable(answer) or answer is ...:
        assert reply(capsys, answer, [2], "look", inputs=[(1,)]) == printed


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (lambda a, b: a + b, "Correct."),
        (
            lambda a, b: a + abs(b),
            "Not yet. Right for the input (1, 2), but not for (4, -2). Hint:",
        ),
        (lambda a, b: a - b, "Not yet. Hint"),  # wrong everywhere
    ],
)
def test_the_place_is_named_where_a_function_begins_to_fail(
    capsys, answer, place
):
    inputs = [(1, 2), (np.float64(5), 1), (4, -2), (7, -3)]
    printed = reply(capsys, answer, [3, 6, 2, 4], "add", inputs=inputs)
    assert printed.startswith(place)


def test_a_solution_passes_in_words_of_its_own(capsys):
    def check_1(answer):
        if check(answer, 2, "one and one"):
            print("Correct. And 2 is even.")

    confirm(check_1, 2)
    printed = capsys.readouterr().out
    assert printed == "The solution passes.\nCorrect. And 2 is even.\n"
    confirm(check_1, 3)
    assert capsys.readouterr().out == "Not yet. Hint: one and one\n"


def first_is_3(answer):
    return (answer(0) if callable(answer) else answer)[0] == 3


CALLS = {"inputs": [(1,), (2,)]}
TROUBLES = [
    (None, [1, 2], CALLS, "Give a function, not None."),
    (returns(None), [1, 2], CALLS, "Nothing was returned: is `return` miss"),
    (lambda x: x if x > 1 else None, [1, 2], CALLS, "For the input (1), no"),
    (lambda x: x / 0, [1, 2], CALLS, "Your code raised ZeroDivisionError: "),
    (str, [1, 2], CALLS, "['1', '2'] is text; give numbers."),
    ("three", 3, {}, "'three' is text; give numbers."),
    ({1, 2}, [1, 2], {}, "A set has no order: give a list."),
    (None, first_is_3, {}, "There is a None, perhaps from"),
    (3, first_is_3, {}, "Does your answer have the form that"),
]


@pytest.mark.parametrize(("answer", "expected", "how", "words"), TROUBLES)
def test_what_is_wrong_is_said(capsys, answer, expected, how, words):
    printed = reply(capsys, answer, expected, "look", **how)
    assert printed.startswith(f"Not yet. {words}")
    assert printed.endswith("Hint: look\n")


def test_no_answer_is_wrong_because_the_check_lacks_a_name(capsys):
    printed = reply(capsys, 8, lambda answer: answer == nothing)  # noqa: F821
    assert printed.startswith("Not judged: run all cells above")
    assert "name 'nothing' is not defined" in printed
