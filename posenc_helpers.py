"""NumPy and Matplotlib helpers that the notebooks share.

The encoding is built in notebook 02 first, and its speed in 10; notebook 01
introduces the rest. Importing this never imports TensorFlow.
"""

import math
import os
from base64 import b64encode
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from inspect import isroutine
from io import BytesIO
from numbers import Integral, Real
from reprlib import repr as shortened

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

BASE = 32  # of the digits of positions, not of wavelengths
STRIP = 4096  # columns filled at a time (even): all would want much memory
LARGE = 2**22  # entries from which threads pay for their start
MAX_ENTRIES = 2**31  # 16 GiB of float64; more is likelier a slip than a wish
MAX_POSITION = 2**38  # up to there, rows are right to 1e-4


def angular_frequencies(
    d_model: int, max_wavelength: float = 10_000
) -> np.ndarray:
    """Angular frequency of each sine and cosine pair.

    Pair `i` turns by `max_wavelength ** (-2 * i / d_model)` radians per
    position: Vaswani et al. 2017, "Attention is all you need", section 3.5.

    Args:
        d_model: Width of the encoding, at least 1.
        max_wavelength: The paper's 10 000, in positions per radian.

    Returns:
        float64 array of shape `[(d_model + 1) // 2]`, in radians per
        position; pair 0 has 1, and no pair has more.

    Raises:
        TypeError: If `d_model` is not an integer.
        ValueError: If `d_model` is below 1, or `max_wavelength` is not a
            finite number of at least 1.
    """
    _check_size("d_model", d_model, 1)
    is_bool = isinstance(max_wavelength, bool)
    is_number = isinstance(max_wavelength, Real) and not is_bool
    try:
        base = float(max_wavelength) if is_number else math.nan
    except OverflowError:  # an integer of hundreds of digits
        base = math.inf
    if not 1 <= base < math.inf:
        raise ValueError(
            "max_wavelength must be a finite number of at least 1,"
            f" not {max_wavelength!r}"
        )
    powers = -np.arange(0, d_model, 2) / d_model
    with np.errstate(under="ignore"):  # the slowest may be hardly a number
        return base**powers


def position_encoding(
    seq_len: int,
    d_model: int,
    *,
    max_wavelength: float = 10_000,
    start_index: int = 0,
    dtype: type = np.float64,
) -> np.ndarray:
    """Sinusoidal position encoding, sines and cosines interleaved.

    Entry `[p, 2i]` is `sin(p * w_i)` and entry `[p, 2i + 1]` is
    `cos(p * w_i)`, with `w_i = max_wavelength ** (-2 * i / d_model)`:
    Vaswani et al. 2017, section 3.5. Sines are taken for a few rows only;
    the others are turned from those (notebook 10). The row of a position
    is the same to the last bit in every table that holds it.

    Args:
        seq_len: Number of rows, one per position. May be 0.
        d_model: Number of columns. If odd, the last one is a sine.
        max_wavelength: The paper's 10 000, in positions per radian.
        start_index: Position of the first row. The last one must lie below
            2**38: up to there a row is off by less than 1e-4, since its
            angles are rounded, and further out it may be off by more.
        dtype: float64 or float32. Angles are float64 in either case.

    Returns:
        Array of shape `[seq_len, d_model]`, the caller's own.

    Raises:
        TypeError: If a size or `start_index` is not an integer.
        ValueError: If one of these is too small or too large,
            `max_wavelength` is not a finite number of at least 1, or
            `dtype` is neither float64 nor float32.
    """
    _check_table(seq_len, d_model, start_index)
    # None comes first: NumPy takes it for float64.
    if dtype is None or dtype not in (np.dtype("f4"), np.dtype("f8")):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}")
    angular_frequencies(1, max_wavelength)  # raises if it is unfit
    encoding = np.empty((seq_len, d_model), dtype)
    frequencies = angular_frequencies(d_model, max_wavelength)
    with np.errstate(under="ignore"):  # what is too small to store is 0
        for left in range(0, d_model, STRIP):
            pairs = frequencies[left // 2 : (left + STRIP) // 2]
            _fill(encoding[:, left : left + STRIP], int(start_index), pairs)
    return encoding


def _check_size(name: str, value: object, minimum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {value}")


def _check_table(seq_len: int, d_model: int, start_index: int) -> None:
    _check_size("seq_len", seq_len, 0)
    _check_size("start_index", start_index, 0)
    _check_size("d_model", d_model, 1)
    entries = max(1, int(seq_len)) * int(d_model)
    if entries > MAX_ENTRIES:
        raise ValueError(
            f"seq_len={seq_len} by d_model={d_model} is {entries:.1e} entries;"
            f" at most {MAX_ENTRIES:.1e} are built at once"
        )
    if int(start_index) + int(seq_len) > MAX_POSITION:
        raise ValueError(
            f"start_index={start_index} and seq_len={seq_len} lead past"
            " position 2**38, where rows may be off by more than 1e-4"
        )


def _fill(encoding: np.ndarray, start: int, frequencies: np.ndarray) -> None:
    """Fill a small table at once, a large one in up to eight threads."""
    cores = min(os.cpu_count() or 1, 8)
    if cores == 1 or encoding.size < LARGE:
        _turn_blocks(encoding, start, frequencies)
        return
    size = math.ceil(len(encoding) / cores)

    def fill_share(row: int) -> None:
        _turn_blocks(encoding[row : row + size], start + row, frequencies)

    try:
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(fill_share, range(0, len(encoding), size)))
    except RuntimeError:  # no thread can be started: in a browser, at exit
        _turn_blocks(encoding, start, frequencies)


def _turn_blocks(
    encoding: np.ndarray, start: int, frequencies: np.ndarray
) -> None:
    """Fill `encoding` with the rows for `start` and the positions after.

    As in base ten, a position is a sum of ones, tens and hundreds (which
    may be many), and the clock hand of a sum is the product of the hands.
    So sines are taken for ones, tens and hundreds alone. A block is the ones,
    turned by one hand; always the whole block, so that rows never change.
    """
    stop, width = start + len(encoding), encoding.shape[1]
    pair = np.result_type(encoding, np.complex64)  # two floats of the table
    # j * exp(-jx) = sin(x) + j cos(x): seen as floats, an interleaved row.
    ones = 1j * _hands(np.arange(BASE), frequencies)
    last = min(stop, BASE**2)  # few if the table ends early
    tens = _hands(np.arange(0, last, BASE), frequencies)
    for hundred in range(start - start % BASE**2, stop, BASE**2):
        turns = tens * _hands(hundred, frequencies)
        if start <= hundred <= stop - BASE**2 and width % 2 == 0:
            rows = encoding[hundred - start :][: BASE**2]
            blocks = rows.view(pair).reshape(BASE, BASE, -1)
            np.multiply(turns[:, np.newaxis], ones, out=blocks)
            continue
        for ten, turn in enumerate(turns):
            first = hundred + ten * BASE
            low, high = max(first, start), min(first + BASE, stop)
            if low < high:  # cut out what is wanted
                block = (turn * ones).view(float)[low - first :, :width]
                encoding[low - start : high - start] = block[: high - low]


def _hands(positions: np.ndarray | int, frequencies: np.ndarray) -> np.ndarray:
    """Clock hands as complex numbers: exp(-j * position * frequency).

    Of shape `[position, pair]` and complex128; without the first axis for a
    single position.
    """
    angles = np.multiply.outer(positions, frequencies)
    hands = np.empty(angles.shape, np.complex128)
    hands.real, hands.imag = np.cos(angles), -np.sin(angles)
    return hands


def use_series_style() -> None:
    """Set the Matplotlib defaults that all figures of the series share."""
    plt.style.use("petroff10")
    plt.rc("figure", dpi=100, **{"constrained_layout.use": True})
    plt.rc("axes", titlesize=12)
    plt.rc("axes.spines", top=False, right=False)
    plt.rc("font", size=11)


def show(fig: Figure, alt: str) -> None:
    """Display a figure in 128 colors, with a text in its place; close it."""
    full, small = BytesIO(), BytesIO()
    # Shown at half size: sharp on today's screens, and in print.
    fig.savefig(full, format="png", dpi=200, bbox_inches="tight")
    # 128 colors are plenty for a figure, and make it a third as large;
    # this way of choosing them keeps the rare ones, such as a single dot.
    picture = Image.open(full).convert("RGB")
    picture = picture.quantize(128, Image.Quantize.MAXCOVERAGE)
    picture.save(small, "png", optimize=True)
    png = b64encode(small.getvalue()).decode()  # text shows in Pyodide too
    shown = {"alt": alt, "width": picture.width // 2}
    data = {"text/plain": repr(fig), "image/png": png}
    display(data, metadata={"image/png": shown}, raw=True)
    plt.close(fig)


def plot_matrix(
    matrix: np.ndarray,
    ax: Axes,
    *,
    positions_along: str = "y",
    signed: bool = True,
) -> Axes:
    """Draw a matrix `[position, column]` as a labeled heatmap.

    `positions_along` is "y" (counted downwards) or "x". Signed values lie
    in [-1, 1], in blue, white and red; unsigned ones begin at 0, dark.
    """
    if positions_along not in ("x", "y"):
        raise ValueError(
            f"positions_along must be 'x' or 'y', not {positions_along!r}"
        )
    labels = {"xlabel": "Column", "ylabel": "Position"}
    if positions_along == "x":
        matrix = np.transpose(matrix)
        labels = {"xlabel": "Position", "ylabel": "Column"}
    colors = {"cmap": "RdBu_r", "vmin": -1, "vmax": 1}
    if not signed:
        colors = {"cmap": "viridis", "vmin": 0}
    image = ax.imshow(matrix, aspect="auto", interpolation="nearest", **colors)
    ax.figure.colorbar(image, ax=ax, label="Value")
    ax.set(**labels)
    return ax


NOT_ANSWERED = "Not answered yet: replace the dots, then run this again."


def check(
    answer: object,
    expected: object,
    hint: str = "",
    *,
    inputs: Iterable[tuple] | None = None,
    mistakes: Iterable[tuple[object, str]] = (),
    tolerance: float = 1e-6,
) -> None:
    """Say whether an exercise is answered, and if not, give a hint.

    What can be said of any exercise is said here: dots that are left,
    nothing returned, an error in the reader's own code, text or a set where
    numbers are wanted. An answer that cannot be compared is a wrong answer;
    an error in comparing is never called the reader's.

    Args:
        answer: The reader's answer; `...` means none yet.
        expected: The right numbers or text, or a function that takes the
            answer and tells whether it is right (for a dict, for example).
        hint: What to think of next, if none of `mistakes` fits.
        inputs: If the answer is a function: the arguments of each call.
            `expected` is then the list of values that it should return.
        mistakes: Pairs of a wrong value (or a function that recognizes
            it) and the hint that fits it.
        tolerance: Absolute difference that still counts as right.
    """
    trouble, tolerance = _Trouble(), float(tolerance)
    if inputs is not None and callable(answer):
        call, calls = trouble.watch(answer), [tuple(each) for each in inputs]
        try:
            answer = [call(*arguments) for arguments in calls]
        except Exception:  # the reader's own
            answer = None
    elif inputs is not None and answer is not ...:
        trouble.words = f"Give a function, not {shortened(answer)}."
    elif isroutine(answer):  # a check looks into a class or a model as it is
        answer = trouble.watch(answer)

    if _has_dots(answer):
        print(NOT_ANSWERED)
    elif _matches(answer, expected, tolerance):
        print("Correct.")
    else:
        print(_reply(answer, expected, hint, mistakes, tolerance, trouble))


class _Trouble:
    """What went wrong in the last call of a reader's function, in words."""

    words = ""

    def watch(self, function: Callable) -> Callable:
        """Return the function, made to tell of its errors here."""

        @wraps(function, updated=())
        def watched(*arguments: object, **named: object) -> object:
            self.words = ""
            try:
                value = function(*arguments, **named)
            except Exception as error:
                kind = type(error).__name__
                self.words = f"Your code raised {kind}: {error}."
                raise
            if _has_dots(value):
                self.words = NOT_ANSWERED
            elif value is None:
                self.words = "Nothing was returned: is `return` missing?"
            return value

        return watched


def _has_dots(answer: object) -> bool:
    """Whether an answer, or anything in it, is still `...`."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, list | tuple | set):
        return any(_has_dots(part) for part in answer)
    return answer is ...


def _matches(answer: object, expected: object, tolerance: float) -> bool:
    """Whether they agree; what cannot be compared does not agree."""
    try:
        if callable(expected):
            return bool(expected(answer))
        if isinstance(expected, str):
            return str(answer).strip().lower() == expected.lower()
        # An axis of length 1 more or less is no matter.
        answer, expected = np.squeeze(answer), np.squeeze(expected)
        return answer.shape == expected.shape and np.allclose(
            answer, expected, rtol=0, atol=tolerance
        )
    except Exception:  # of the comparison, or of the reader's function
        return False


def _reply(
    answer: object,
    expected: object,
    hint: str,
    mistakes: Iterable[tuple[object, str]],
    tolerance: float,
    trouble: _Trouble,
) -> str:
    """What to say to an answer that is not right."""
    words = trouble.words  # before `mistakes` call the function again
    if words == NOT_ANSWERED:
        return words
    for wrong, fitting in mistakes:
        if _matches(answer, wrong, tolerance):
            return f"Not yet. Hint: {fitting}"
    parts = answer if isinstance(answer, list | tuple | set) else [answer]
    if not words and any(part is None for part in parts):
        words = "There is a None: is a `return` missing?"
    elif not words and isinstance(answer, set):
        words = "A set has no order: give a list."
    elif not isinstance(expected, str | Callable) and any(
        isinstance(part, str) for part in parts
    ):
        words = f"{answer!r} is text; give numbers."
    return " ".join(f"Not yet. {words} Hint: {hint}".split())
