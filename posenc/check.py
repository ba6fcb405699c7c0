"""The check of an exercise: what the folded cells above all answers call."""

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout, suppress
from functools import wraps
from inspect import isroutine
from reprlib import repr as shortened
from types import CodeType

import numpy as np

NOT_ANSWERED = "Not answered yet: replace the dots, then run this again."
CORRECT = "Correct."
PASSES = "The solution passes."
CANNOT_JUDGE = "Not judged: run all cells above, and then this one again"
UNFIT = """Does your answer have the form that the exercise asks for?
Judging it raised"""

Hint = str | tuple[str, str]  # of a pair, the second comes the next time

# For each check, how often it has shown which hint since the kernel started:
# a mistake's place among the mistakes, or None where no mistake fitted.
hints_shown: dict[CodeType, Counter[int | None]] = {}


def check(
    answer: object,
    expected: object,
    hint: Hint = "",
    *,
    inputs: Iterable[tuple] | None = None,
    mistakes: Iterable[tuple[object, Hint]] = (),
    tolerance: float = 1e-6,
) -> bool:
    """Say whether an exercise is answered, and if not, give a hint.

    What is the same in every exercise is said here: dots that are left,
    nothing returned, an error in the reader's own code, text or a set
    instead of numbers, an answer that `expected` cannot judge, the first
    of the `inputs` for which a function that is right for others is wrong.

    Args:
        answer: The reader's answer; `...` means none yet.
        expected: The right numbers or text, or a function that takes the
            answer and returns whether it is right (for a dict, for
            example).
        hint: What to think of next, if none of `mistakes` fits. A pair is
            a question that makes one look, and nearly the answer, which
            comes when the same check finds the same mistake again.
        inputs: For an answer that is a function, the arguments of each
            call. `expected` is then the list of values it should return.
        mistakes: Pairs of a wrong value (or a function that recognizes
            it) and the hint that fits it, which may be a pair, too.
        tolerance: Absolute difference that still counts as right.

    Returns:
        Whether the answer is right, for a check that has more to show then.
    """
    if inputs is not None:
        inputs = [tuple(each) for each in inputs]
    # The code of the function that called, such as check_2, is the same at
    # each call, whatever numbers its hints hold.
    shown = hints_shown.setdefault(sys._getframe(1).f_code, Counter())
    reply = _reply(answer, expected, hint, inputs, mistakes, tolerance, shown)
    print(reply)
    return reply == CORRECT


def confirm(check_of_exercise: Callable, solution: object) -> None:
    """Give a solution to the check of its exercise, and say that it passes.

    A reader who runs all cells of a notebook would otherwise read "Correct."
    below an answer that is still open. No hint is used up here.

    Args:
        check_of_exercise: The function that takes a reader's answer, such
            as `check_2`.
        solution: What it takes for right.
    """
    printed = io.StringIO()
    before = {code: shown.copy() for code, shown in hints_shown.items()}
    with redirect_stdout(printed):
        check_of_exercise(solution)
    hints_shown.clear()
    hints_shown.update(before)
    print(printed.getvalue().replace(CORRECT, PASSES, 1), end="")


def _reply(
    answer: object,
    expected: object,
    hint: Hint,
    inputs: list[tuple] | None,
    mistakes: Iterable[tuple[object, Hint]],
    tolerance: float,
    shown: Counter[int | None],
) -> str:
    """What `check` prints."""
    calls, trouble = _Calls(), ""
    if inputs is None:
        if isroutine(answer):  # a class or a model is looked into as it is
            answer = calls.watch(answer)
    elif callable(answer):
        answer = calls.values(answer, inputs)
    else:
        trouble = f"Give a function, not {shortened(answer)}."
    if _has_dots(answer):
        return NOT_ANSWERED

    unfit = ""
    try:
        if _matches(answer, expected, tolerance):
            return CORRECT
    except Exception as error:  # in `expected`, or in the reader's function
        if isinstance(error, NameError) and not calls.error:
            return f"{CANNOT_JUDGE} ({error})."
        unfit = f"{UNFIT} {type(error).__name__}: {error}."

    # Now, because mistakes are recognized by further calls.
    trouble = trouble or calls.trouble() or _trouble_with(answer, expected)
    if trouble == NOT_ANSWERED:
        return NOT_ANSWERED
    for place, (wrong, fitting) in enumerate(mistakes):
        with suppress(Exception):  # this mistake cannot look at the answer
            if _matches(answer, wrong, tolerance):
                shown[place] += 1
                return f"Not yet. Hint: {_level(fitting, shown[place])}"

    # What could not be judged uses no hint up: its trouble is named.
    if not trouble and not unfit:
        shown[None] += 1
        if inputs is not None:
            trouble = _where_wrong(inputs, answer, expected, tolerance)
    reply = f"Not yet. {trouble or unfit} Hint: {_level(hint, shown[None])}"
    return " ".join(reply.split())


def _level(hint: Hint, times: int) -> str:
    """The words for a hint that is shown for the first or a later time."""
    return hint if isinstance(hint, str) else hint[times > 1]


class _Calls:
    """The calls of a reader's function, and what went wrong in them."""

    def __init__(self) -> None:
        self.returned: list[tuple[tuple, object]] = []  # arguments and value
        self.error = ""  # of the last call

    def watch(self, function: Callable) -> Callable:
        """Return the function, made to keep its calls here."""

        @wraps(function, updated=())
        def watched(*arguments: object, **named: object) -> object:
            self.error = ""
            try:
                value = function(*arguments, **named)
            except Exception as error:
                kind = type(error).__name__
                self.error = f"Your code raised {kind}: {error}."
                raise
            self.returned.append((arguments, value))
            return value

        return watched

    def values(self, function: Callable, inputs: list[tuple]) -> list | None:
        """What the function returns for each input; None if it fails."""
        call = self.watch(function)
        try:
            return [call(*arguments) for arguments in inputs]
        except Exception:  # the reader's own
            return None

    def trouble(self) -> str:
        """What went wrong, in words; empty if nothing did."""
        values = [value for _, value in self.returned]
        empty = [args for args, value in self.returned if value is None]
        if self.error:
            return self.error
        if _has_dots(values):
            return NOT_ANSWERED
        if not empty:
            return ""
        if len(empty) == len(values):
            return "Nothing was returned: is `return` missing?"
        call = _as_call(empty[0])
        return f"For the input {call}, nothing was returned."


def _has_dots(answer: object) -> bool:
    """Whether an answer, or anything in it, is still `...`."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, list | tuple | set):
        return any(_has_dots(part) for part in answer)
    return answer is ...


def _matches(answer: object, expected: object, tolerance: float) -> bool:
    """Whether they agree. What a function raises is passed on."""
    if callable(expected):
        return bool(expected(answer))
    if isinstance(expected, str):
        return str(answer).strip().lower() == expected.lower()
    try:
        # An axis of length 1 more or less makes no difference.
        answer, expected = np.squeeze(answer), np.squeeze(expected)
        return answer.shape == expected.shape and np.allclose(
            answer, expected, rtol=0, atol=tolerance
        )
    except Exception:  # the answer cannot be compared with numbers
        return False


def _where_wrong(
    inputs: list[tuple], values: list, expected: object, tolerance: float
) -> str:
    """The first input with a wrong value, if another has the right one."""
    if callable(expected) or len(values) != len(expected):
        return ""
    right, wrong = [], []
    for arguments, value, wanted in zip(inputs, values, expected, strict=True):
        is_right = _matches(value, wanted, tolerance)
        (right if is_right else wrong).append(arguments)
    if not right or not wrong or not _is_short(right[0] + wrong[0]):
        return ""
    works, fails = _as_call(right[0]), _as_call(wrong[0])
    return f"Right for the input {works}, but not for {fails}."


def _is_short(arguments: tuple) -> bool:
    """Whether a reader can read what a function was called with."""
    kinds = int | float | str | list | tuple | np.generic | None
    return all(isinstance(argument, kinds) for argument in arguments)


def _as_call(arguments: tuple) -> str:
    """Arguments in brackets, as in a call."""
    plain = [a.item() if isinstance(a, np.generic) else a for a in arguments]
    return f"({', '.join(shortened(argument) for argument in plain)})"


def _trouble_with(answer: object, expected: object) -> str:
    """What is wrong with an answer of another kind than it should have."""
    if isinstance(answer, set):
        return "A set has no order: give a list."
    parts = answer if isinstance(answer, list | tuple) else [answer]
    if any(part is None for part in parts):
        return "There is a None, perhaps from a function without `return`."
    wants_numbers = not isinstance(expected, str | Callable)
    if wants_numbers and any(isinstance(part, str) for part in parts):
        return f"{shortened(answer)} is text; give numbers."
    return ""
