"""`rotate` (RoPE) against facts from outside it."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc_helpers import angular_frequencies, rotate

layouts = pytest.mark.parametrize("layout", ["interleaved", "half"])


def vectors(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def columns_of_pair(pair: int, width: int, layout: str) -> tuple[int, int]:
    if layout == "half":
        return pair, pair + width // 2
    return 2 * pair, 2 * pair + 1


def by_matrix(vector, position, layout) -> np.ndarray:
    """The rotation as a matrix, entry by entry, to 40 digits."""
    width = len(vector)
    with mpmath.workdps(40):
        matrix = mpmath.zeros(width)
        for pair in range(width // 2):
            angle = position * mpmath.mpf(10_000) ** mpmath.mpf(
                -2 * pair / mpmath.mpf(width)
            )
            a, b = columns_of_pair(pair, width, layout)
            matrix[a, a] = matrix[b, b] = mpmath.cos(angle)
            matrix[a, b], matrix[b, a] = -mpmath.sin(angle), mpmath.sin(angle)
        return np.array([float(x) for x in matrix * mpmath.matrix(vector)])


@layouts
@pytest.mark.parametrize("position", [0, 1, 7, 1_000, 131_071, -3, 0.25])
def test_it_is_the_papers_rotation(position, layout):
    (vector,) = vectors(1, 12)
    ours = rotate([vector], [position], layout=layout)[0]
    exact = by_matrix(vector.tolist(), position, layout)
    error = np.abs(ours - exact).max()
    assert error <= 1e-15 * max(1, abs(position)) + 1e-15


@layouts
@given(
    query=st.integers(-(10**6), 10**6),
    key=st.integers(-(10**6), 10**6),
    further=st.integers(-(10**6), 10**6),
)
def test_scores_depend_on_the_offset_alone(layout, query, key, further):
    x = vectors(2, 32)
    before = rotate(x, [query, key], layout=layout)
    after = rotate(x, [query + further, key + further], layout=layout)
    assert before[0] @ before[1] == pytest.approx(after[0] @ after[1])
    lengths = np.linalg.norm([x, before], axis=-1)
    np.testing.assert_allclose(lengths[0], lengths[1])


@layouts
def test_rotations_add_up_and_turn_back(layout):
    x = vectors(5, 16)
    twice = rotate(rotate(x, np.arange(5), layout=layout), 7, layout=layout)
    once = rotate(x, np.arange(7, 12), layout=layout)
    np.testing.assert_allclose(twice, once, atol=1e-12)
    back = rotate(once, -np.arange(7, 12), layout=layout)
    np.testing.assert_allclose(back, x, atol=1e-12)
    assert np.array_equal(rotate(x, 0, layout=layout), x)


def test_the_layouts_differ_by_the_order_of_columns():
    x, positions = vectors(9, 16), np.arange(9)
    order = [*range(0, 16, 2), *range(1, 16, 2)]
    by_half = rotate(x[:, order], positions, layout="half")
    assert np.array_equal(by_half, rotate(x, positions)[:, order])
    assert not np.allclose(by_half, rotate(x[:, order], positions))


def test_each_text_of_a_batch_may_have_positions_of_its_own():
    x = vectors(2, 3, 4, 8)  # [batch, heads, seq_len, width]
    positions = np.array([[0, 1, 2, 3], [90, 91, 0, 1]])
    together = rotate(x, positions[:, np.newaxis])
    for text, head in np.ndindex(2, 3):
        alone = rotate(x[text, head], positions[text])
        assert np.array_equal(together[text, head], alone)
    assert rotate(x[:, :, :0], []).shape == (2, 3, 0, 8)


def test_frequencies_may_be_given():
    x, positions = vectors(6, 8), np.arange(6)
    slow = angular_frequencies(8, 500_000)
    assert not np.allclose(
        rotate(x, positions, frequencies=slow), rotate(x, positions)
    )
    # A frequency of 0 leaves its pair alone, as in p-RoPE.
    slow[2:] = 0
    rotated = rotate(x, positions, frequencies=slow, layout="half")
    kept = [2, 3, 6, 7]
    assert np.array_equal(rotated[:, kept], x[:, kept])
    # Positions times 2 are frequencies times 2.
    double = rotate(x, positions, frequencies=2 * slow)
    assert np.array_equal(double, rotate(x, 2 * positions, frequencies=slow))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_angles_are_float64_whatever_the_dtype(dtype):
    x = vectors(3, 8).astype(dtype)
    positions = np.array([131_071, 10**6, 10**7])
    ours = rotate(x, positions)
    assert ours.dtype == dtype
    exact = rotate(x.astype(float), positions)
    assert np.array_equal(ours, exact.astype(dtype))
    ones = rotate(np.ones((1, 2), int), np.float16([1]))
    assert ones.dtype == float
    coarse = angular_frequencies(8).astype(np.float32)
    as_told = rotate(x, positions, frequencies=coarse.astype(float))
    assert np.array_equal(rotate(x, positions, frequencies=coarse), as_told)


def test_the_input_stays_as_it_is():
    x = vectors(3, 8)
    before = x.copy()
    rotated = rotate(x, [0, 1, 2])
    rotated[:] = 7
    assert np.array_equal(x, before)


GOOD = {"x": np.ones((3, 8)), "positions": [0, 1, 2]}


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("x", np.ones((3, 7)), r"even width.*\(3, 7\)"),
        ("x", np.ones((3, 0)), r"even width.*\(3, 0\)"),
        ("x", 1.0, r"even width.*\(\)"),
        ("x", np.ones((3, 8), complex), "real numbers"),
        ("x", [["a", "b"]], "'a'"),
        ("x", [[1, 2], [3]], r"\[\[1, 2\], \[3\]\]"),
        ("positions", [0, 1], r"\(2,\) .*x of shape \(3, 8\)"),
        ("positions", np.zeros((2, 3)), r"\(2, 3\) .*x of shape"),
        ("positions", [0, 1, np.nan], "nan"),
        ("positions", [True] * 3, "True"),
        ("positions", None, "None"),
        ("layout", "halves", "'halves'"),
        ("layout", None, "None"),
        ("frequencies", np.ones(3), r"\(4,\).* 8 columns, not \(3,\)"),
        ("frequencies", np.ones(8), r"\(4,\).* 8 columns, not \(8,\)"),
        ("frequencies", [1, 1, 1, np.inf], "inf"),
        ("frequencies", "fast", "'fast'"),
    ],
)
def test_a_bad_argument_is_named_with_its_value(name, value, shown):
    with pytest.raises((TypeError, ValueError), match=f"^{name} .*{shown}"):
        rotate(**GOOD | {name: value})
