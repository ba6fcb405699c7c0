"""The check of an exercise: what it takes for right, and what it says."""

import numpy as np
import pytest

import posenc_helpers as helpers


def reply(capsys, *arguments, **options) -> str:
    helpers.check(*arguments, **options)
    return capsys.readouterr().out


def divisible_by_4(number):
    return number % 4 == 0


def name_of(value) -> str:
    """A test's name: a function has an address in its `repr`."""
    return value.__name__ if callable(value) else repr(value)


@pytest.mark.parametrize("answer", [..., (1, ...), [..., 2]], ids=repr)
def test_check_asks_for_an_answer(capsys, answer):
    said = "Not answered yet: replace the dots, then run this again.\n"
    assert reply(capsys, answer, 5, "hint") == said
    assert reply(capsys, answer, divisible_by_4, "hint") == said


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (2, 2.0000001),
        ([1, 2], np.array([1.0, 2.0])),
        (np.array([3.0]), 3),
        (3, [3.0]),
        ([[1, 2]], [1, 2]),
        ([[1], [2]], [1, 2]),
        (1 + 2j, np.array([1 + 2j])),
        ([np.ones(2), np.zeros(2)], [[1, 1], [0, 0]]),
        (" Sine ", "sine"),
        (8, divisible_by_4),
        (np.True_, True),
    ],
    ids=name_of,
)
def test_check_accepts(capsys, answer, expected):
    assert reply(capsys, answer, expected, "hint") == "Correct.\n"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (3, 2),
        (1_000_000.1, 1_000_000),  # the tolerance is absolute
        ([1, 2, 3], [1, 2]),
        (5, [5, 5]),  # of another shape, though they would broadcast
        ([5, 5], 5),
        ([[1, 2], [1, 2]], [1, 2]),
        ("cosine", "sine"),
        ("sines", "sine"),
        (7, divisible_by_4),
        (float("nan"), 1),
    ],
    ids=name_of,
)
def test_check_answers_with_the_hint(capsys, answer, expected):
    assert reply(capsys, answer, expected, "look") == "Not yet. Hint: look\n"


def test_check_tells_when_text_came(capsys):
    said = reply(capsys, "three", 3, "count them")
    assert said == (
        "Not yet. 'three' is text; give numbers. Hint: count them\n"
    )
    assert "is text" not in reply(capsys, "x", "y", "look")
    assert "is text" not in reply(capsys, "x", str.isupper, "look")


def test_check_knows_typical_mistakes(capsys):
    mistakes = [(4, "that is the column"), (8, "that is the row")]
    said = reply(capsys, 8, 2, "look", mistakes=mistakes)
    assert said == "Not yet. Hint: that is the row\n"


def test_check_recognizes_a_mistake_by_a_function(capsys):
    mistakes = [(divisible_by_4, "too even")]
    said = reply(capsys, 8, 2, "look", mistakes=mistakes)
    assert said == "Not yet. Hint: too even\n"
    assert "look" in reply(capsys, 7, 2, "look", mistakes=mistakes)


def test_check_honors_the_tolerance(capsys):
    assert "Correct" in reply(capsys, 3.14, np.pi, "hint", tolerance=0.01)
    assert "Not yet" in reply(capsys, 3.1, np.pi, "hint", tolerance=0.01)
    assert "Correct" in reply(capsys, 1 + 9e-7, 1, "hint")
    assert "Not yet" in reply(capsys, 1 + 2e-6, 1, "hint")
    near = [(3.1, "near")]
    said = reply(capsys, 3.105, np.pi, "hint", tolerance=0.01, mistakes=near)
    assert "near" in said


def test_check_calls_a_function_with_single_numbers(capsys):
    inputs, values = [(0, 1), (4, 2), (9, 3)], [1, 6, 12]
    seen = []

    def add(first, second):
        seen.append((first, second))
        return first + second

    assert reply(capsys, add, values, inputs=inputs) == "Correct.\n"
    assert seen == inputs
    wrong = reply(capsys, lambda a, b: a - b, values, "add", inputs=inputs)
    assert wrong == "Not yet. Hint: add\n"


def test_check_waits_for_a_function_without_a_body(capsys):
    for answer in (..., lambda number: ...):
        said = reply(capsys, answer, [2], "hint", inputs=[(1,)])
        assert said.startswith("Not answered yet")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "Give a function, not None."),
        (lambda x: print(end=""), "Nothing was returned"),
        (lambda x: x if x > 1 else None, "There is a None"),
        (lambda x: x / 0, "Your code raised ZeroDivisionError: division"),
        (7, "Give a function, not 7."),
        (lambda x: str(x), "['1', '2'] is text; give numbers."),
    ],
    ids=["None", "nothing", "one nothing", "raises", "no function", "text"],
)
def test_check_tells_what_is_wrong_with_a_function(capsys, answer, words):
    said = reply(capsys, answer, [1, 2], "look", inputs=[(1,), (2,)])
    assert said.startswith(f"Not yet. {words}")
    assert said.endswith("Hint: look\n")


def test_check_tells_the_readers_error_from_its_own(capsys):
    def judge(function):
        return sum(function(1)) == 3

    said = reply(capsys, lambda x: x.real.nothing, judge, "look")
    assert said.startswith("Not yet. Your code raised AttributeError: ")
    said = reply(capsys, lambda x: None, judge, "look")
    assert "Nothing was returned" in said
    said = reply(capsys, lambda x: 3, judge, "look")  # sum(3) raises
    assert said.startswith("This answer could not be judged")
    assert "'int' object is not iterable" in said
    assert said.endswith("Hint: look\n")
    with pytest.raises(TypeError):  # a call's arguments are a tuple
        reply(capsys, lambda x: x, [1], inputs=[1])


def test_check_does_not_take_a_set_for_a_list(capsys):
    said = reply(capsys, {1, 2}, [1, 2], "look")
    assert said == "Not yet. A set has no order: give a list. Hint: look\n"


def test_check_finds_dots_wherever_they_are(capsys):
    for answer in ({"a": ...}, [(1, ...)], lambda: [1, ...]):
        said = reply(capsys, answer, lambda a: a() == 1, "look")
        assert said.startswith("Not answered yet")


def test_check_does_not_blame_the_reader_for_an_authors_slip(capsys):
    def judge(answer):
        return answer == undefined_name  # noqa: F821

    said = reply(capsys, 8, judge, "look")
    assert "the check itself raised NameError" in said
    assert "Not yet" not in said
    mistakes = [(8, "too even")]  # a known mistake is one all the same
    assert "too even" in reply(capsys, 8, judge, "look", mistakes=mistakes)
    assert "There is a None" in reply(capsys, None, judge, "look")


@pytest.mark.parametrize(
    "expected", [None, ..., {"a": 1}, ["a", "b"], [[1], [1, 2]]], ids=repr
)
def test_an_author_whom_no_answer_can_please_is_told_at_once(expected):
    with pytest.raises(TypeError, match=r"^expected must be numbers"):
        helpers.check(..., expected)


def test_a_long_answer_is_not_printed_whole(capsys):
    assert len(reply(capsys, ["x"] * 500, [1, 2], "look")) < 120
