"""`rotate` (RoPE) against facts from outside it."""

import mpmath
import numpy as np
import pytest

from posenc_helpers import angular_frequencies, rotate

layouts = pytest.mark.parametrize("layout", ["interleaved", "half"])


def vectors(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def by_matrix(vector, position, layout) -> np.ndarray:
    """The rotation as a matrix, entry by entry, to 40 digits."""
    half = len(vector) // 2
    with mpmath.workdps(40):
        matrix = mpmath.zeros(2 * half)
        for i in range(half):
            angle = position / mpmath.mpf(10_000) ** (mpmath.mpf(i) / half)
            a, b = (i, i + half) if layout == "half" else (2 * i, 2 * i + 1)
            matrix[a, a] = matrix[b, b] = mpmath.cos(angle)
            matrix[a, b], matrix[b, a] = -mpmath.sin(angle), mpmath.sin(angle)
        return np.array([float(x) for x in matrix * mpmath.matrix(vector)])


@layouts
@pytest.mark.parametrize("position", [0, 131_071, -3, 0.25])
def test_it_is_the_papers_rotation(position, layout):
    (vector,) = vectors(1, 12)
    ours = rotate([vector], [position], layout=layout)[0]
    error = np.abs(ours - by_matrix(vector.tolist(), position, layout))
    assert error.max() <= 1e-15 * max(1, abs(position)) + 1e-15


def test_each_text_of_a_batch_may_have_positions_of_its_own():
    x = vectors(2, 3, 4, 8)  # [batch, heads, seq_len, width]
    positions = np.array([[0, 1, 2, 3], [90, 91, 0, 1]])
    together = rotate(x, positions[:, np.newaxis])
    for text, head in np.ndindex(2, 3):
        alone = rotate(x[text, head], positions[text])
        assert np.array_equal(together[text, head], alone)
    assert np.array_equal(rotate(x, 7), rotate(x, [7] * 4))


def test_frequencies_may_be_given():
    x, positions = vectors(6, 8), np.arange(6)
    slow = angular_frequencies(8, 500_000)
    slow[2:] = 0  # leaves its pair alone, as in p-RoPE
    rotated = rotate(x, positions, frequencies=slow, layout="half")
    kept = [2, 3, 6, 7]
    assert np.array_equal(rotated[:, kept], x[:, kept])
    # Positions times 2 are frequencies times 2.
    double = rotate(x, positions, frequencies=2 * slow)
    assert np.array_equal(double, rotate(x, 2 * positions, frequencies=slow))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, int])
def test_angles_are_float64_whatever_the_dtype(dtype):
    x = (9 * vectors(3, 8)).astype(dtype)
    before = x.copy()
    positions = np.array([131_071, 10**6, 10**7])
    exact = rotate(x.astype(float), positions)
    expected = exact if dtype is int else exact.astype(dtype)
    ours = rotate(x, positions)
    assert ours.dtype == expected.dtype
    assert np.array_equal(ours, expected)
    assert np.array_equal(x, before)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("x", np.ones((3, 7)), r"even width.*\(3, 7\)"),
        ("x", np.ones((3, 8), complex), "real numbers"),
        ("x", [[1, 2], [3]], r"\[\[1, 2\], \[3\]\]"),
        ("positions", [0, 1], r"\(2,\) .*x of shape \(3, 8\)"),
        ("positions", [0, 1, np.nan], "nan"),
        ("layout", "halves", "'halves'"),
        ("frequencies", np.ones(3), r"\(4,\).*not \(3,\)"),
        ("frequencies", [1, 1, 1, np.inf], "inf"),
    ],
)
def test_a_bad_argument_is_named_with_its_value(name, value, shown):
    good = {"x": np.ones((3, 8)), "positions": [0, 1, 2]}
    with pytest.raises((TypeError, ValueError), match=f"^{name} .*{shown}"):
        rotate(**good | {name: value})
