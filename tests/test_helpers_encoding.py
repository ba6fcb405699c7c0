"""`position_encoding` against facts from outside it."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import mpmath
import numpy as np
import pytest
from conftest import run_cells
from hypothesis import given, settings
from hypothesis import strategies as st

import posenc_helpers
from posenc_helpers import angular_frequencies, position_encoding

widths = st.integers(1, 130)
lengths = st.integers(0, 150)
starts = st.integers(0, 10**6)


def exact_row(position: int, d_model: int, max_wavelength=10_000):
    """The formula of the paper, section 3.5, to 40 digits."""
    with mpmath.workdps(40):
        row = []
        for column in range(d_model):
            power = mpmath.mpf(2 * (column // 2)) / d_model
            angle = position / mpmath.mpf(max_wavelength) ** power
            row.append(mpmath.cos(angle) if column % 2 else mpmath.sin(angle))
        return row


def errors(position: int, d_model: int, dtype):
    row = position_encoding(1, d_model, start_index=position, dtype=dtype)[0]
    with mpmath.workdps(40):
        exact = exact_row(position, d_model)
        return [
            float(abs(mpmath.mpf(float(value)) - true))
            for value, true in zip(row, exact, strict=True)
        ]


def test_hand_table_of_i_am_a_robot(published):
    table = published["hand_table"]
    ours = position_encoding(4, 4, max_wavelength=100)
    np.testing.assert_allclose(
        ours, table["matrix"], rtol=0, atol=table["print_rounding"]
    )


def test_corners_of_the_20_by_200_table(published):
    table = published["layer_20x200"]
    ours = position_encoding(20, 200)[np.newaxis]
    assert ours.shape == (1, 20, 200)
    np.testing.assert_allclose(
        ours[0][np.ix_(table["rows"], table["columns"])],
        table["values"],
        rtol=0,
        atol=table["print_rounding"],
    )


def test_word_plus_position_rows_of_the_two_sentences(published):
    """Both tables of the published fixed layer are this encoding."""
    ids = np.array(published["two_sentences"]["ids"])
    ours = position_encoding(10, 6)[ids] + position_encoding(5, 6)
    np.testing.assert_allclose(
        ours, published["fixed_weights_output"]["values"], atol=1e-6
    )


@pytest.mark.parametrize("d_model", [2, 3, 64, 512, 1024])
@pytest.mark.parametrize("position", [0, 1, 2, 31, 33, 1023, 99_999, 10**6])
def test_as_exact_as_float64_angles_allow(position, d_model):
    bound = 5e-16 * max(1, position) + 2.3e-16
    assert max(errors(position, d_model, np.float64)) <= bound
    assert max(errors(position, d_model, np.float32)) <= 3.1e-8


@settings(max_examples=30)
@given(position=starts, d_model=st.integers(2, 64))
def test_as_exact_anywhere(position, d_model):
    bound = 5e-16 * max(1, position) + 2.3e-16
    assert max(errors(position, d_model, np.float64)) <= bound
    assert max(errors(position, d_model, np.float32)) <= 3.1e-8


def test_odd_width_ends_in_a_sine():
    encoding = position_encoding(50, 7)
    frequency = 10_000 ** (-6 / 7)
    np.testing.assert_allclose(
        encoding[:, 6], np.sin(np.arange(50) * frequency), atol=1e-13
    )


def test_width_one_is_the_sine_of_the_position():
    np.testing.assert_allclose(
        position_encoding(9, 1)[:, 0], np.sin(np.arange(9)), atol=1e-14
    )


def test_float32_is_float64_rounded_once():
    wide = position_encoding(200, 66)
    narrow = position_encoding(200, 66, dtype=np.float32)
    assert wide.dtype == np.float64
    assert narrow.dtype == np.float32
    assert np.array_equal(narrow, wide.astype(np.float32))


def test_row_zero_is_exact_and_positive_zero():
    row = position_encoding(1, 10)[0]
    assert row.tolist() == [0.0, 1.0] * 5
    assert not np.signbit(row).any()


@given(length=lengths, d_model=widths)
def test_shape_and_range(length, d_model):
    encoding = position_encoding(length, d_model)
    assert encoding.shape == (length, d_model)
    assert encoding.flags.c_contiguous
    assert np.abs(encoding).max(initial=0) <= 1 + 1e-15


dtypes = st.sampled_from([np.float32, np.float64])


@given(
    length=lengths, more=lengths, d_model=widths, start=starts, dtype=dtypes
)
def test_longer_tables_begin_with_shorter_ones(
    length, more, d_model, start, dtype
):
    how = {"start_index": start, "dtype": dtype}
    short = position_encoding(length, d_model, **how)
    long = position_encoding(length + more, d_model, **how)
    assert short.tobytes() == long[:length].tobytes()


@given(
    length=lengths, skip=lengths, d_model=widths, start=starts, dtype=dtypes
)
def test_start_index_gives_rows_of_the_long_table(
    length, skip, d_model, start, dtype
):
    long = position_encoding(
        skip + length, d_model, start_index=start, dtype=dtype
    )
    rows = position_encoding(
        length, d_model, start_index=start + skip, dtype=dtype
    )
    assert rows.tobytes() == long[skip:].tobytes()


@pytest.mark.parametrize("cores", [None, 1, 2, 3, 8, 64])
@pytest.mark.parametrize("start", [0, 1, 4_321])
def test_a_large_table_begins_with_the_small_one(start, cores, monkeypatch):
    """The large one is filled in threads, the small one is not."""
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    large = position_encoding(9_001, 130, start_index=start)
    for first in (0, 1_120, 3_000, 4_490, 8_990):
        rows = position_encoding(11, 130, start_index=start + first)
        assert rows.tobytes() == large[first : first + 11].tobytes()


@pytest.mark.parametrize("cores", [2, 3, 8])
@pytest.mark.parametrize("shape", [(1, 2**20), (3, 2**19), (2**19, 2)])
def test_shares_are_each_row_once(shape, cores, monkeypatch):
    """Fewer rows than cores, or many: with positions instead of sines."""

    starts = []

    def write_positions(share, start, frequencies):
        starts.append(start)
        assert len(share) <= -(-shape[0] // cores)
        share += np.arange(start, start + len(share))[:, np.newaxis]

    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr(posenc_helpers, "_turn_blocks", write_positions)
    table = np.zeros(shape, np.float32)
    posenc_helpers._fill(table, 5, np.empty(0))
    assert (table == np.arange(5, 5 + shape[0])[:, np.newaxis]).all()
    assert len(starts) <= cores


class Multiply:
    """`numpy.multiply`, which also notes where its results go."""

    outer = staticmethod(np.multiply.outer)

    def __init__(self):
        self.places = []

    def __call__(self, *arguments, out, **options):
        self.places.append(out)
        return multiply(*arguments, out=out, **options)


multiply = np.multiply


@pytest.mark.parametrize(
    ("rows", "d_model", "whole"), [(480, 6, 10), (100, 6, 2), (480, 7, 0)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_blocks_are_turned_into_the_table(
    rows, d_model, whole, dtype, monkeypatch
):
    """Without a copy between; what is cut short, or odd, needs one."""
    noting = Multiply()
    monkeypatch.setattr(np, "multiply", noting)
    table = position_encoding(rows, d_model, dtype=dtype)
    straight = [np.shares_memory(table, place) for place in noting.places]
    assert sum(straight) == whole
    assert len(straight) == -(-rows // 48)


class Pool(ThreadPoolExecutor):
    """A pool that tells how many threads it was made with."""

    asked: ClassVar[list[int]] = []

    def __init__(self, threads):
        self.asked.append(threads)
        super().__init__(threads)


@pytest.mark.parametrize(
    ("cores", "rows", "threads"),
    [
        (None, 16_384, []),  # not known: as on a single core
        (1, 16_384, []),
        (2, 16_384, [2]),
        (64, 16_384, [8]),
        (2, 16_383, []),  # a small table is not worth a thread
    ],
)
def test_threads(cores, rows, threads, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr("posenc_helpers.ThreadPoolExecutor", Pool)
    monkeypatch.setattr(Pool, "asked", [])
    position_encoding(rows, 64, dtype=np.float32)
    assert Pool.asked == threads


@pytest.mark.parametrize(
    ("rows", "start", "most"), [(32_768, 0, 100), (1, 10**9, 50)]
)
def test_sines_are_few(rows, start, most, monkeypatch):
    """One block, a step, and a turn for each chain that the table meets."""
    counted = []

    def counting(positions, frequencies):
        counted.append(np.size(positions))
        assert sum(counted) <= most
        return clock_hands(positions, frequencies)

    clock_hands = posenc_helpers._clock_hands
    monkeypatch.setattr(posenc_helpers, "_clock_hands", counting)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    position_encoding(rows, 32, start_index=start)
    assert counted


def test_chained_turns_keep_the_length_of_a_hand():
    """Over whole chains, at every pair; 4e-15 is 16 rounding errors."""
    table = position_encoding(2_000, 512, start_index=700)
    norms = np.hypot(table[:, 0::2], table[:, 1::2])
    assert np.abs(norms - 1).max() < 4e-15


def test_buffer_size_of_numpy_is_left_as_it_was():
    with np.errstate():
        np.setbufsize(4_096)
        position_encoding(100, 64, dtype=np.float32)
        assert np.getbufsize() == 4_096


@given(start=starts, half=st.integers(1, 40))
def test_every_pair_has_length_one(start, half):
    pairs = position_encoding(5, 2 * half, start_index=start)
    norms = np.hypot(pairs[:, 0::2], pairs[:, 1::2])
    np.testing.assert_allclose(norms, 1, rtol=0, atol=3e-15)


@given(first=starts, second=starts, offset=st.integers(0, 1000))
def test_dot_products_depend_on_the_offset_alone(first, second, offset):
    def dot(start):
        rows = position_encoding(offset + 1, 32, start_index=start)
        return rows[0] @ rows[-1]

    assert abs(dot(first) - dot(second)) < 1e-7


@given(start=starts, offset=st.integers(0, 10**5))
def test_an_offset_is_a_rotation(start, offset):
    """By the addition theorems, with angles taken from mpmath."""
    here = position_encoding(1, 16, start_index=start)[0]
    there = position_encoding(1, 16, start_index=start + offset)[0]
    for i in range(8):
        angle = offset / mpmath.mpf(10_000) ** (mpmath.mpf(i) / 8)
        sine, cosine = float(mpmath.sin(angle)), float(mpmath.cos(angle))
        turned = here[2 * i] * cosine + here[2 * i + 1] * sine
        assert abs(turned - there[2 * i]) < 2e-9


def test_options_are_named():
    with pytest.raises(TypeError, match="positional"):
        position_encoding(3, 4, 100)
    assert position_encoding(d_model=4, seq_len=3).shape == (3, 4)


def test_the_result_belongs_to_the_caller():
    first = position_encoding(40, 8)
    kept = first.copy()
    first[:] = 7
    assert np.array_equal(position_encoding(40, 8), kept)


def test_angular_frequencies_follow_the_paper():
    np.testing.assert_allclose(angular_frequencies(4, 100), [1, 0.1])
    assert angular_frequencies(5).shape == (3,)
    longest = 2 * np.pi / angular_frequencies(512)[-1]
    assert round(longest) == 60_611


def test_frequencies_of_no_width_are_refused():
    with pytest.raises(ValueError, match=r"d_model .*not 0"):
        angular_frequencies(0)


NOT_SIZES = [True, False, 3.0, "3", None, float("nan"), [3], 3j, np.bool_(1)]


@pytest.mark.parametrize("name", ["seq_len", "d_model", "start_index"])
@pytest.mark.parametrize("value", NOT_SIZES, ids=repr)
def test_a_size_that_is_no_integer(name, value):
    arguments = {"seq_len": 3, "d_model": 4} | {name: value}
    with pytest.raises(TypeError, match=name) as error:
        position_encoding(**arguments)
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"), [("seq_len", -1), ("d_model", 0), ("start_index", -1)]
)
def test_a_size_that_is_too_small(name, value):
    arguments = {"seq_len": 3, "d_model": 4} | {name: value}
    with pytest.raises(ValueError, match=f"{name} .*{value}"):
        position_encoding(**arguments)


@pytest.mark.parametrize(
    "value",
    [0, -1, float("nan"), float("inf"), "100", None, 3j, True, 10**400, [5]],
    ids=lambda value: repr(value)[:9],
)
def test_a_max_wavelength_that_is_none(value):
    with pytest.raises(ValueError, match="max_wavelength"):
        position_encoding(3, 4, max_wavelength=value)
    with pytest.raises(ValueError, match="max_wavelength"):
        angular_frequencies(4, value)


@pytest.mark.parametrize(
    "value", [np.float16, int, "float64x", None, complex, ">f4", object()]
)
def test_a_dtype_that_is_not_offered(value):
    with pytest.raises((TypeError, ValueError), match="dtype"):
        position_encoding(3, 4, dtype=value)


@pytest.mark.parametrize("d_model", [1, 512])
def test_an_absurd_length_is_refused_at_once(d_model):
    start = time.perf_counter()
    with pytest.raises((MemoryError, ValueError), match="seq_len"):
        position_encoding(10**12, d_model)
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("seq_len", [0, 3])
def test_an_absurd_width_is_refused_before_any_allocation(seq_len):
    with pytest.raises(ValueError, match="d_model=1000000000000 "):
        position_encoding(seq_len, 10**12)


def test_the_limit_is_16_gib_of_float64():
    assert 8 * posenc_helpers.MAX_ENTRIES == 16 * 1024**3


@pytest.mark.parametrize(
    ("rows", "d_model", "fits"),
    [(10, 10, True), (1, 100, True), (10, 11, False), (101, 1, False)],
)
def test_the_limit_counts_entries(rows, d_model, fits, monkeypatch):
    monkeypatch.setattr(posenc_helpers, "MAX_ENTRIES", 100)
    if fits:
        assert position_encoding(rows, d_model).shape == (rows, d_model)
        return
    with pytest.raises(ValueError, match=f"by d_model={d_model} is"):
        position_encoding(rows, d_model)


@pytest.mark.parametrize(("rows", "end"), [(2, 2), (2, 1), (9, 1), (1, 1)])
def test_positions_that_float64_cannot_count_are_refused(rows, end):
    start = 2**53 + end - rows
    with pytest.raises(ValueError, match=f"start_index={start} "):
        position_encoding(rows, 4, start_index=start)


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_the_last_positions_that_float64_can_count(rows):
    table = position_encoding(rows, 4, start_index=2**53 - rows)
    assert table.shape == (rows, 4)


@pytest.mark.parametrize("value", [0.5, 1, 1.0])
def test_a_max_wavelength_of_one_or_less_is_a_number_too(value):
    angles = np.outer(np.arange(3), [1, value**-0.5])
    ours = position_encoding(3, 4, max_wavelength=value)
    np.testing.assert_allclose(ours[:, 0::2], np.sin(angles), atol=1e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.float32(100), np.int64(100), 1e2])
def test_any_real_number_is_a_max_wavelength(value):
    ours = position_encoding(4, 4, max_wavelength=value)
    assert np.array_equal(ours, position_encoding(4, 4, max_wavelength=100))


def test_numpy_integers_are_integers():
    ours = position_encoding(np.int64(3), np.uint8(4), start_index=np.int8(2))
    assert np.array_equal(ours, position_encoding(3, 4, start_index=2))


def test_importing_the_helpers_never_imports_tensorflow():
    code = (
        "import sys, posenc_helpers as p; p.position_encoding(2, 2);"
        "sys.exit(any(m.split('.')[0] in ('tensorflow', 'keras')"
        " for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


FORMS = ["by_loop", "by_parity", "vectorized", "by_exp_log"]


@pytest.mark.parametrize("size", [(4, 4), (30, 64), (12, 128)])
@pytest.mark.parametrize("form", FORMS)
def test_the_forms_of_notebook_02_are_the_helper(form, size):
    cells = ["setup", "loop", "parity", "angles", "vectorized"]
    cells += ["exp-log-frequencies", "exp-log"]
    built = run_cells("02_encoding_matrix", *cells)[form](*size)
    np.testing.assert_allclose(built, position_encoding(*size), atol=1e-13)


def test_the_other_encodings_of_notebook_02_are_what_it_says():
    cells = ["setup", "angles", "concatenated", "t2t-frequencies", "t2t"]
    built = run_cells("02_encoding_matrix", *cells)
    ours = position_encoding(100, 512)
    sorted_columns = np.hstack([ours[:, 0::2], ours[:, 1::2]])
    np.testing.assert_allclose(
        built["concatenated"](100, 512), sorted_columns, atol=1e-12
    )
    gap = np.abs(built["tensor2tensor"](100, 512) - sorted_columns).max()
    assert round(gap, 3) == 0.142


def test_the_clock_hands_of_notebook_01_are_an_encoding():
    """With the paper's wavelengths they are the paper's encoding."""
    built = run_cells("01_sine_waves", "setup", "hands")
    wavelengths = 2 * np.pi / angular_frequencies(16)
    hands = built["clock_hands"](60, wavelengths)
    np.testing.assert_allclose(hands, position_encoding(60, 16), atol=1e-12)


def test_self_attention_of_notebook_01_is_the_textbook_one():
    cells = ["setup", "words", "embed", "weights", "attention"]
    built = run_cells("01_sine_waves", *cells)
    inputs = np.random.default_rng(5).normal(size=(4, 6))
    query, key, value = (
        inputs @ built[name] for name in ("w_query", "w_key", "w_value")
    )
    expected = np.empty((4, 6))
    for row in range(4):  # one output row at a time, in plain Python sums
        weights = [np.exp(query[row] @ key[j] / 6**0.5) for j in range(4)]
        total = sum(weights)
        expected[row] = sum(
            w / total * value[j] for j, w in enumerate(weights)
        )
    np.testing.assert_allclose(built["self_attention"](inputs), expected)
