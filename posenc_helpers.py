"""What the notebooks share: the formulas, and how figures are drawn.

First come the formulas in plain NumPy, the sinusoidal position encoding of
notebook 02 and RoPE of 07; then what they accept, and then the figures.
"""

from __future__ import annotations

import math
from base64 import b64encode
from io import BytesIO
from numbers import Integral, Real
from reprlib import repr as shortened
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

MAX_ENTRIES = 2**31  # 16 GiB of float64; a larger request is a mistake
MAX_POSITION = 2**38  # up to there, rows are right to 1e-4


def angular_frequencies(
    d_model: int, max_wavelength: float = 10_000
) -> np.ndarray:
    """Angular frequency of each pair of columns, a sine and a cosine.

    Pair `i` turns by `max_wavelength ** (-2 * i / d_model)` radians per
    position: Vaswani et al. 2017, "Attention is all you need", section 3.5.

    Args:
        d_model: Width of the encoding, at least 1.
        max_wavelength: The paper's 10 000, in positions per radian. At large
            widths, the slowest pair's turn takes nearly 2 pi times as many.

    Returns:
        float64 array of shape `[(d_model + 1) // 2]`, from 1 downwards.

    Raises:
        TypeError: If `d_model` is not an integer.
        ValueError: If one of the two is too small or too large.
    """
    d_model = checked_int("d_model", d_model, highest=MAX_ENTRIES)
    max_wavelength = checked_max_wavelength(max_wavelength)
    powers = -np.arange(0, d_model, 2) / d_model
    return max_wavelength**powers


def encode_positions(
    positions: ArrayLike, d_model: int, max_wavelength: float = 10_000
) -> np.ndarray:
    """Sinusoidal position encoding of any positions, by its formula.

    Column `2i` is `sin(p * w_i)` and column `2i + 1` is `cos(p * w_i)`,
    where `w_i` is the angular frequency of pair `i`: paper, section 3.5.

    Args:
        positions: Finite numbers of any shape, also negative or fractions.
        d_model: Number of columns. If odd, the last one is a sine.
        max_wavelength: The paper's 10 000, in positions per radian.

    Returns:
        float64 array: the shape of `positions`, then `d_model`.

    Raises:
        TypeError: If `positions` or `d_model` is of another kind.
        ValueError: If a number is not finite, too small or too large.
    """
    positions = _real_numbers("positions", positions, finite=True)
    frequencies = angular_frequencies(d_model, max_wavelength)
    angles = positions[..., np.newaxis] * frequencies
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    columns = pairs.reshape(*positions.shape, 2 * len(frequencies))
    return columns[..., :d_model]


def position_encoding(
    seq_len: int,
    d_model: int,
    *,
    max_wavelength: float = 10_000,
    start_index: int = 0,
    dtype: type = np.float64,
) -> np.ndarray:
    """Sinusoidal position encoding of consecutive positions, a table.

    Row `p` encodes position `start_index + p`. `posenc.fast_table` makes
    large tables faster (notebook 10).

    Args:
        seq_len: Number of rows, one per position. May be 0.
        d_model: Number of columns. If odd, the last one is a sine.
        max_wavelength: The paper's 10 000, in positions per radian.
        start_index: Position of the first row. All lie below 2**38, where
            rounded angles put a row off by less than 1e-4.
        dtype: float64 or float32. Angles are float64 in either case.

    Returns:
        Array of shape `[seq_len, d_model]`.

    Raises:
        TypeError: If a size or `start_index` is not an integer.
        ValueError: If an argument is too small, too large or of no use.
    """
    check_table(seq_len, d_model, start_index, dtype)
    positions = np.arange(start_index, start_index + seq_len)
    table = encode_positions(positions, d_model, max_wavelength)
    return np.ascontiguousarray(table, dtype)


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
    Enhanced transformer with rotary position embedding", section 3.4.2. To
    rotate a part of the columns, pass that part as `x`.

    Args:
        x: Real numbers of shape `[..., seq_len, width]`, with an even width.
        positions: Finite numbers that broadcast to `[..., seq_len]`.
        layout: Which columns make pair `i`: `2i` and `2i + 1` for
            "interleaved", `i` and `i + width / 2` for "half".
        frequencies: Radians per position of each pair, of shape
            `[width / 2]`; by default `angular_frequencies(width)`.

    Returns:
        Array of the shape of `x`, and of its dtype if that is a float;
        integers give float64. Angles are float64 in either case.

    Raises:
        TypeError: If `x`, `positions` or `frequencies` are no real numbers.
        ValueError: If a shape, a number or `layout` does not fit.
    """
    x = _real_numbers("x", x)
    positions = _real_numbers("positions", positions, finite=True)
    width = x.shape[-1] if x.ndim else 0
    if width == 0 or width % 2:
        raise ValueError(f"x must have an even width, not the shape {x.shape}")
    if frequencies is None:
        frequencies = angular_frequencies(width)
    frequencies = _real_numbers("frequencies", frequencies, finite=True)
    if frequencies.shape != (width // 2,):
        raise ValueError(
            f"frequencies must have shape {(width // 2,)}, one for each pair"
            f" of columns, not {frequencies.shape}"
        )
    angles = positions[..., np.newaxis] * frequencies.astype(float)
    try:
        np.broadcast_to(angles, (*x.shape[:-1], width // 2))
    except ValueError:
        raise ValueError(
            f"positions of shape {positions.shape} do not fit x of shape"
            f" {x.shape}: they must broadcast to {x.shape[:-1]}"
        ) from None
    if layout == "interleaved":
        firsts, seconds = slice(0, None, 2), slice(1, None, 2)
    elif layout == "half":
        firsts, seconds = slice(0, width // 2), slice(width // 2, None)
    else:
        raise ValueError(
            f"layout must be 'interleaved' or 'half', not {layout!r}"
        )
    cos, sin = np.cos(angles), np.sin(angles)
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


def check_table(
    seq_len: int, d_model: int, start_index: int, dtype: type
) -> None:
    """An error unless a table can be made, before any work is done."""
    seq_len = checked_int("seq_len", seq_len, 0)
    start_index = checked_int("start_index", start_index, 0)
    entries = max(1, seq_len) * checked_int("d_model", d_model)
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
    # None comes first: NumPy takes it for float64.
    if dtype is None or dtype not in (np.dtype("f4"), np.dtype("f8")):
        raise ValueError(f"dtype must be float32 or float64, not {dtype!r}")


def checked_max_wavelength(value: object) -> float:
    """The value as a float; an error unless it is finite and at least 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 1 <= value < math.inf:
        return float(value)
    raise ValueError(
        f"max_wavelength must be a finite number of at least 1, not {value!r}"
    )


def _real_numbers(name: str, value: ArrayLike, finite=False) -> np.ndarray:
    """The value as an array; an error if it is not one of real numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in "iuf":  # integers or floats, no booleans
        raise TypeError(
            f"{name} must be an array of real numbers, not {shortened(value)}"
        )
    if finite and not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite, not {wrong}")
    return array


# Figures. What draws is imported here, since it takes long to load.


def use_series_style() -> None:
    """Set the Matplotlib defaults that all figures of the series share."""
    import matplotlib.pyplot as plt

    plt.style.use("petroff10")
    plt.rc("figure", dpi=100, **{"constrained_layout.use": True})
    plt.rc("axes", titlesize=12)
    plt.rc("axes.spines", top=False, right=False)
    plt.rc("font", size=11)


def show(fig: Figure, alt: str) -> None:
    """Display a figure with its alt text, sharp at half its size; close it."""
    import matplotlib.pyplot as plt
    from IPython.display import display
    from PIL import Image, ImageOps

    full, small = BytesIO(), BytesIO()
    fig.savefig(full, format="png", dpi=200, bbox_inches="tight")
    picture = Image.open(full).convert("RGB")
    # Half of an even size is a whole number of pixels, which are not blurred.
    right, below = picture.width % 2, picture.height % 2
    picture = ImageOps.expand(picture, (0, 0, right, below), "white")
    # 128 colors make a figure a third as large. MAXCOVERAGE keeps rare ones.
    picture = picture.quantize(128, Image.Quantize.MAXCOVERAGE)
    picture.save(small, "png", optimize=True)
    png = b64encode(small.getvalue()).decode()  # Pyodide needs text
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
    limits: tuple[float, float] | None = None,
    colorbar: bool = True,
) -> Axes:
    """Draw a matrix `[position, column]` as a heatmap; return `ax`.

    Args:
        matrix: The values.
        ax: The axes to draw into.
        positions_along: "y" to count positions downwards, "x" to the right.
        signed: True for colors from blue over white to red, False for
            values that begin at 0, from dark to bright.
        limits: The values of the first and the last color. By default these
            are -1 and 1 for signed values, 0 and the largest for others.
        colorbar: Whether to draw a color bar.

    Raises:
        ValueError: If `positions_along` is neither "x" nor "y".
    """
    if positions_along not in ("x", "y"):
        raise ValueError(
            f"positions_along must be 'x' or 'y', not {positions_along!r}"
        )
    across, down = "Column", "Position"
    if positions_along == "x":
        matrix, across, down = np.transpose(matrix), down, across
    cmap, usual = ("RdBu_r", (-1, 1)) if signed else ("viridis", (0, None))
    image = ax.imshow(matrix, cmap, aspect="auto", interpolation="nearest")
    image.set_clim(usual if limits is None else limits)
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="Value")
    ax.set(xlabel=across, ylabel=down)
    return ax
