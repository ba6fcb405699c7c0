"""What the notebooks share: the formulas, and how figures are drawn.

The file begins with the two formulas in plain NumPy: the sinusoidal position
encoding, which notebook 02 builds, and RoPE, which notebook 08 builds. After
them come `position_encoding`, which makes the same table faster (notebook
10 explains how), and the figures. `check`, which judges the answers to
exercises, has a file of its own, `posenc_check.py`. Importing this module
never imports TensorFlow.
"""

import math
import os
from base64 import b64encode
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as shortened

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image, ImageOps

from posenc_check import check as check  # notebooks import it from here

MAX_ENTRIES = 2**31  # 16 GiB of float64; a larger request is a mistake
MAX_POSITION = 2**38  # up to there, rows are right to 1e-4


# The formulas.


def angular_frequencies(
    d_model: int, max_wavelength: float = 10_000
) -> np.ndarray:
    """Angular frequency of each pair of columns, a sine and a cosine.

    Pair `i` turns by `max_wavelength ** (-2 * i / d_model)` radians per
    position: Vaswani et al. 2017, "Attention is all you need", section 3.5.

    Args:
        d_model: Width of the encoding, at least 1.
        max_wavelength: The paper's 10 000, in positions per radian.

    Returns:
        float64 array of shape `[(d_model + 1) // 2]`, in radians per
        position. Pair 0 has 1, and no pair has more.

    Raises:
        TypeError: If `d_model` is not an integer.
        ValueError: If `d_model` is below 1 or above 2**31, or
            `max_wavelength` is not a finite number of at least 1.
    """
    d_model = checked_int("d_model", d_model, highest=MAX_ENTRIES)
    max_wavelength = checked_max_wavelength(max_wavelength)
    powers = -np.arange(0, d_model, 2) / d_model
    with np.errstate(under="ignore"):  # the slowest may be hardly a number
        return max_wavelength**powers


def encode_positions(
    positions: ArrayLike, d_model: int, max_wavelength: float = 10_000
) -> np.ndarray:
    """Sinusoidal position encoding of any positions, by its formula.

    Column `2i` is `sin(p * w_i)` and column `2i + 1` is `cos(p * w_i)`,
    where `w_i` is the angular frequency of pair `i`: Vaswani et al. 2017,
    section 3.5. For the table of positions 0, 1, 2, ... use
    `position_encoding`, which is faster.

    Args:
        positions: Finite numbers of any shape, counted from 0. They may be
            negative or fractions.
        d_model: Number of columns. If odd, the last one is a sine.
        max_wavelength: The paper's 10 000, in positions per radian.

    Returns:
        float64 array of shape `[..., d_model]`, with the axes of
        `positions` in front.

    Raises:
        TypeError: If `positions` are no real numbers, or `d_model` is not
            an integer.
        ValueError: If a position is not finite, or as
            `angular_frequencies` says.
    """
    positions = _real_numbers("positions", positions, finite=True)
    frequencies = angular_frequencies(d_model, max_wavelength)
    angles = positions[..., np.newaxis] * frequencies
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    columns = pairs.reshape(*positions.shape, 2 * len(frequencies))
    return columns[..., :d_model]


def rotate(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    layout: str = "interleaved",
    frequencies: ArrayLike | None = None,
) -> np.ndarray:
    """Rotate queries or keys by their positions (RoPE).

    Two columns of `x` make a pair `(a, b)`. At position `p`, pair `i` turns
    by the angle `p * frequencies[i]` and becomes
    `(a * cos - b * sin, a * sin + b * cos)`: Su et al. 2021, "RoFormer:
    Enhanced transformer with rotary position embedding", section 3.4.2.
    The dot product of a rotated query and a rotated key then depends on
    their positions only through the difference.

    To rotate a part of the columns, pass that part as `x`.

    Args:
        x: Real numbers of shape `[..., seq_len, width]`, with an even width.
        positions: Finite numbers of shape `[..., seq_len]`, or of a shape
            that broadcasts to it. They may be negative or fractions.
        layout: Which columns make pair `i`: `2i` and `2i + 1` for
            "interleaved", `i` and `i + width / 2` for "half".
        frequencies: Radians per position of each pair, of shape
            `[width / 2]`; by default `angular_frequencies(width)`.

    Returns:
        Array of the shape of `x`, and of its dtype if that is a float;
        integers give float64. Angles are float64 in either case.

    Raises:
        TypeError: If `x`, `positions` or `frequencies` are no real numbers.
        ValueError: If a shape does not fit, a position or frequency is not
            finite, or `layout` is neither "interleaved" nor "half".

    Example:
    >>> rotate([[1.0, 0.0, 1.0, 0.0]], [1]).round(4).tolist()
    [[0.5403, 0.8415, 1.0, 0.01]]
    """
    if layout not in ("interleaved", "half"):
        raise ValueError(
            f"layout must be 'interleaved' or 'half', not {layout!r}"
        )
    x = _real_numbers("x", x)
    if x.ndim == 0 or x.shape[-1] == 0 or x.shape[-1] % 2:
        raise ValueError(
            "x must have shape [..., seq_len, width] with an even width,"
            f" not {x.shape}"
        )
    positions = _real_numbers("positions", positions, finite=True)
    try:
        np.broadcast_to(positions, x.shape[:-1])
    except ValueError:
        raise ValueError(
            f"positions of shape {positions.shape} do not fit x of shape"
            f" {x.shape}: they must broadcast to {x.shape[:-1]}"
        ) from None
    width = x.shape[-1]
    if frequencies is None:
        frequencies = angular_frequencies(width)
    frequencies = _real_numbers("frequencies", frequencies, finite=True)
    if frequencies.shape != (width // 2,):
        raise ValueError(
            f"frequencies must have shape ({width // 2},), one for each pair"
            f" of the {width} columns, not {frequencies.shape}"
        )

    angles = positions[..., np.newaxis] * frequencies.astype(float)
    cos, sin = np.cos(angles), np.sin(angles)
    if layout == "interleaved":
        firsts, seconds = slice(0, None, 2), slice(1, None, 2)
    else:
        firsts, seconds = slice(0, width // 2), slice(width // 2, None)
    a, b = x[..., firsts], x[..., seconds]
    rotated = np.empty(x.shape, x.dtype if x.dtype.kind == "f" else float)
    rotated[..., firsts] = a * cos - b * sin
    rotated[..., seconds] = a * sin + b * cos
    return rotated


# What the formulas accept.


def checked_int(
    name: str, value: object, lowest: int = 1, highest: float = math.inf
) -> int:
    """The value as Python's integer; an error if it is none, or unfit."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if value < lowest:
        raise ValueError(f"{name} must be at least {lowest}, not {value}")
    if value > highest:
        raise ValueError(f"{name} must be at most {highest}, not {value}")
    return int(value)


def checked_max_wavelength(value: object) -> float:
    """The value as a float; an error unless it is finite and at least 1."""
    try:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if is_number and 1 <= float(value) < math.inf:
            return float(value)
    except OverflowError:  # an integer of hundreds of digits
        pass
    raise ValueError(
        f"max_wavelength must be a finite number of at least 1, not {value!r}"
    )


def _real_numbers(
    name: str, value: ArrayLike, finite: bool = False
) -> np.ndarray:
    """The value as an array; an error if it is not one of real numbers."""
    try:
        array = np.asarray(value)
        is_real = array.dtype.kind in "iuf"  # integers or floats, no booleans
    except ValueError:  # lists of different lengths
        is_real = False
    if not is_real:
        raise TypeError(
            f"{name} must be an array of real numbers, not {shortened(value)}"
        )
    if finite and not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite, not {wrong}")
    return array


# The table of consecutive positions, built fast (notebook 10).

DIGIT_BASE = 32  # positions are counted in digits of this base
HUNDRED = DIGIT_BASE**2
STRIP = 4096  # columns filled at a time (even): all would want much memory
LARGE = 2**22  # entries from which threads pay for their start


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
    Vaswani et al. 2017, section 3.5. Sines are computed for a few rows only,
    and the other rows are rotated from those (notebook 10). The row of a
    position is the same to the last bit in every table.

    Args:
        seq_len: Number of rows, one per position. May be 0.
        d_model: Number of columns. If odd, the last one is a sine.
        max_wavelength: The paper's 10 000, in positions per radian.
        start_index: Position of the first row. The last one must lie below
            2**38. Up to there a row is off by less than 1e-4, because its
            angles are rounded; further out the error may be larger.
        dtype: float64 or float32. Angles are float64 in either case.

    Returns:
        Array of shape `[seq_len, d_model]`, the caller's own.

    Raises:
        TypeError: If a size or `start_index` is not an integer.
        ValueError: If one of these is too small or too large,
            `max_wavelength` is not a finite number of at least 1, or
            `dtype` is neither float64 nor float32.
    """
    seq_len = checked_int("seq_len", seq_len, 0)
    d_model = checked_int("d_model", d_model)
    start_index = checked_int("start_index", start_index, 0)
    _check_reach(seq_len, d_model, start_index)
    # None comes first: NumPy takes it for float64.
    if dtype is None or dtype not in (np.dtype("f4"), np.dtype("f8")):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}")
    encoding = np.empty((seq_len, d_model), dtype)
    frequencies = angular_frequencies(d_model, max_wavelength)
    with np.errstate(under="ignore"):  # what is too small to store is 0
        for left in range(0, d_model, STRIP):
            pairs = frequencies[left // 2 : (left + STRIP) // 2]
            _fill(encoding[:, left : left + STRIP], start_index, pairs)
    return encoding


def _check_reach(seq_len: int, d_model: int, start_index: int) -> None:
    """An error if the table is too large, or leads too far out."""
    entries = max(1, seq_len) * d_model
    if entries > MAX_ENTRIES:
        raise ValueError(
            f"seq_len={seq_len} by d_model={d_model} is {entries:.1e} entries;"
            f" at most {MAX_ENTRIES:.1e} are built at once"
        )
    if start_index + seq_len > MAX_POSITION:
        raise ValueError(
            f"start_index={start_index} and seq_len={seq_len} lead past"
            " position 2**38, where rows may be off by more than 1e-4"
        )


def _fill(encoding: np.ndarray, start: int, frequencies: np.ndarray) -> None:
    """Fill a small table at once, a large one in up to eight threads."""
    cores = min(_usable_cores(), 8)
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


def _usable_cores() -> int:
    """How many cores this process may use; the machine may have more."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not known on this system
        return os.cpu_count() or 1


def _turn_blocks(
    encoding: np.ndarray, start: int, frequencies: np.ndarray
) -> None:
    """Fill `encoding` with the rows for `start` and the positions after.

    A position is the sum of its ones, tens and hundreds, counted in base
    32 (there may be any number of hundreds), and the clock hand of a sum is
    the product of the hands. Sines are therefore computed for ones, tens and
    hundreds only. Multiplying all ones by one hand gives a block of 32 rows.
    A block is always computed whole, so that a row never depends on where
    the table begins or ends.
    """
    stop, width = start + len(encoding), encoding.shape[1]
    # j * exp(-jx) = sin(x) + j cos(x): as two floats, a sine and a cosine.
    ones = 1j * _hands(np.arange(DIGIT_BASE), frequencies)
    last = min(stop, HUNDRED)  # few if the table ends early
    tens = _hands(np.arange(0, last, DIGIT_BASE), frequencies)
    for hundred in range(start - start % HUNDRED, stop, HUNDRED):
        turns = tens * _hands(hundred, frequencies)
        if start <= hundred <= stop - HUNDRED and width % 2 == 0:
            # 32 blocks at once, straight into the table, whose pairs of
            # floats are viewed as complex numbers.
            rows = encoding[hundred - start :][:HUNDRED]
            pairs = rows.view(np.result_type(rows, np.complex64))
            blocks = pairs.reshape(DIGIT_BASE, DIGIT_BASE, -1)
            np.multiply(turns[:, np.newaxis], ones, out=blocks)
            continue
        for ten, turn in enumerate(turns):
            first = hundred + ten * DIGIT_BASE
            low, high = max(first, start), min(first + DIGIT_BASE, stop)
            if low < high:  # some of the block's rows are wanted
                block = (turn * ones).view(float)[low - first :, :width]
                encoding[low - start : high - start] = block[: high - low]


def _hands(positions: np.ndarray | int, frequencies: np.ndarray) -> np.ndarray:
    """Clock hands as complex numbers: exp(-j * position * frequency).

    The result is complex128 of shape `[position, pair]`, or `[pair]` for a
    single position.
    """
    angles = np.multiply.outer(positions, frequencies)
    hands = np.empty(angles.shape, np.complex128)
    hands.real, hands.imag = np.cos(angles), -np.sin(angles)
    return hands


# Figures.


def use_series_style() -> None:
    """Set the Matplotlib defaults that all figures of the series share."""
    plt.style.use("petroff10")
    plt.rc("figure", dpi=100, **{"constrained_layout.use": True})
    plt.rc("axes", titlesize=12)
    plt.rc("axes.spines", top=False, right=False)
    plt.rc("font", size=11)


def show(fig: Figure, alt: str) -> None:
    """Display a figure at half its size, with its alt text, and close it.

    The picture has 200 dots an inch and is shown at half its width, so that
    it is sharp on dense screens and in print.
    """
    full, small = BytesIO(), BytesIO()
    fig.savefig(full, format="png", dpi=200, bbox_inches="tight")
    picture = Image.open(full).convert("RGB")
    # With an even size, half of it is a whole number of pixels: no screen
    # blurs it.
    right, below = picture.width % 2, picture.height % 2
    picture = ImageOps.expand(picture, (0, 0, right, below), "white")
    # 128 colors are plenty for a figure, and make it a third as large.
    # MAXCOVERAGE keeps rare colors, such as that of a single dot.
    picture = picture.quantize(128, Image.Quantize.MAXCOVERAGE)
    picture.save(small, "png", optimize=True)
    png = b64encode(small.getvalue()).decode()  # Pyodide needs text
    shown = {"alt": alt, "width": picture.width // 2}
    data = {"text/plain": repr(fig), "image/png": png}
    display(data, metadata={"image/png": shown}, raw=True)
    plt.close(fig)


# For each figure to play with, its settings: where each begins, and its range.
FIGURES_TO_PLAY = {
    "apart": {"position": (20, 0, 99), "frequency": (1.0, 0.05, 3.1)},
    "hands": {"position": (7, 0, 63)},
    "pair": {"position": (7, 0, 63), "offset": (3, 0, 32)},
    "alike": {
        "position": (40, 0, 127),
        "d_model": (64, 4, 512),
        "max_wavelength": (10_000, 100, 1_000_000),
    },
    "rotary": {
        "query": (20, 0, 63),
        "key": (32, 0, 63),
        "pair": (8, 0, 31),
        "rotary_dim": (64, 16, 64),
        "max_wavelength": (10_000, 100, 1_000_000),
    },
    "unseen": {
        "trained": (20, 4, 64),
        "length": (40, 4, 160),
        "max_wavelength": (10_000, 1, 100_000_000),
        "remedy": (0, 0, 3),
    },
}
PLAY_SCRIPT = Path(__file__).with_name("posenc_play.js")
WHERE_IT_MOVES = (
    "<p><em>This figure moves in JupyterLab once its cell has run, and on the"
    " web page.</em></p>"
)


def play(name: str, **settings: float) -> None:
    """Display a figure to play with, in place of the picture above it.

    Call it right after `show`, in the same cell. The figure runs in the
    reader's browser, by the script `posenc_play.js` beside this file, and
    needs no kernel. Where no script runs, the picture stays: on paper, on
    GitHub, and in JupyterLab until the cell has run.

    Args:
        name: One of the keys of `FIGURES_TO_PLAY`.
        settings: Where the figure begins, such as `position=7`. What is left
            out begins as `FIGURES_TO_PLAY` says.

    Raises:
        TypeError: If the figure has no such setting, or a value is not a
            number.
        ValueError: If there is no such figure, or a value is out of range.
    """
    if name not in FIGURES_TO_PLAY:
        known = ", ".join(FIGURES_TO_PLAY)
        raise ValueError(f"no figure {name!r} to play with; there are {known}")
    known = FIGURES_TO_PLAY[name]
    for setting, value in settings.items():
        if setting not in known:
            raise TypeError(
                f"figure {name!r} has no setting {setting!r}; it has"
                f" {', '.join(known)}"
            )
        start, low, high = known[setting]
        kind = Integral if isinstance(start, int) else Real
        if isinstance(value, bool) or not isinstance(value, kind):
            wanted = "an integer" if kind is Integral else "a number"
            raise TypeError(f"{setting} must be {wanted}, not {value!r}")
        if not low <= value <= high:
            raise ValueError(
                f"{setting} must be between {low} and {high}, not {value}"
            )
    if not PLAY_SCRIPT.exists():
        print(f"The figure stands still: {PLAY_SCRIPT.name} is missing.")
        return
    state = {setting: known[setting][0] for setting in known} | settings
    data = "".join(f' data-{key}="{value}"' for key, value in state.items())
    element = f'<posenc-play figure="{name}"{data}>{WHERE_IT_MOVES}'
    script = PLAY_SCRIPT.read_text("utf-8")
    html = f"{element}</posenc-play><script>{script}</script>"
    plain = f"A figure to play with: {name}"
    display({"text/plain": plain, "text/html": html}, raw=True)


def plot_matrix(
    matrix: np.ndarray,
    ax: Axes,
    *,
    positions_along: str = "y",
    signed: bool = True,
    limits: tuple[float, float] | None = None,
    colorbar: bool = True,
) -> Axes:
    """Draw a matrix of shape `[position, column]` as a labeled heatmap.

    Args:
        matrix: The values.
        ax: The axes to draw into.
        positions_along: "y" to count positions downwards, "x" to the right.
        signed: True for colors from blue over white to red, False for
            values that begin at 0, from dark to bright.
        limits: The values of the first and the last color. By default these
            are -1 and 1 for signed values, 0 and the largest for others.
        colorbar: Whether to draw a color bar. Several heatmaps with the
            same limits need only one.

    Returns:
        `ax`.

    Raises:
        TypeError: If `ax` is not a single `Axes`.
        ValueError: If `positions_along` is neither "x" nor "y", or `limits`
            are not two increasing numbers.
    """
    if not isinstance(ax, Axes):
        raise TypeError(
            "ax must be one Axes, such as axes[0], not"
            f" {type(ax).__name__} of shape {np.shape(ax)}"
        )
    if positions_along not in ("x", "y"):
        raise ValueError(
            f"positions_along must be 'x' or 'y', not {positions_along!r}"
        )
    if limits is None:
        limits = (-1, 1) if signed else (0, None)
    elif len(limits) != 2 or not limits[0] < limits[1]:
        raise ValueError(
            f"limits must be two increasing numbers, not {limits!r}"
        )
    labels = {"xlabel": "Column", "ylabel": "Position"}
    if positions_along == "x":
        matrix = np.transpose(matrix)
        labels = {"xlabel": "Position", "ylabel": "Column"}
    image = ax.imshow(
        matrix,
        aspect="auto",
        interpolation="nearest",
        cmap="RdBu_r" if signed else "viridis",
        vmin=limits[0],
        vmax=limits[1],
    )
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="Value")
    ax.set(**labels)
    return ax


def plot_pipeline(
    words: Sequence[str],
    ids: Sequence[int],
    embeddings: np.ndarray,
    axes: Sequence[Axes],
) -> Sequence[Axes]:
    """Draw the way of a sentence into attention.

    Each word has an id, each id an embedding; a position vector is added to
    each embedding, and the sums go into attention.

    Args:
        words: The tokens of the sentence, in order.
        ids: Their ids, one for each word.
        embeddings: Their vectors, `[words, d_model]`.
        axes: Three axes, side by side.
    """
    vectors = position_encoding(*np.shape(embeddings))
    steps = {
        "Embeddings": (embeddings, "+"),
        "Position vectors": (vectors, "="),
        "Sums": (embeddings + vectors, "\u2192"),
    }
    largest = np.abs(embeddings + vectors).max()
    middle = {"ha": "center", "va": "center"}
    for ax, (title, (matrix, sign)) in zip(axes, steps.items(), strict=True):
        plot_matrix(matrix, ax, limits=(-largest, largest), colorbar=False)
        ax.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")
        ax.spines[:].set_visible(False)
        ax.text(1.12, 0.5, sign, size=20, transform=ax.transAxes, **middle)
    labels = [
        f"{word}  \u2192  id {number}"
        for word, number in zip(words, ids, strict=True)
    ]
    axes[0].set(yticks=range(len(words)), yticklabels=labels)
    axes[1].set(yticks=range(len(words)), ylabel="Position")
    box = {
        "boxstyle": "round,pad=0.6",
        "facecolor": "0.92",
        "edgecolor": "0.5",
    }
    place = {"transform": axes[2].transAxes, "rotation": 90, "bbox": box}
    axes[2].text(1.32, 0.5, "attention", **middle, **place)
    return axes
