"""posenc_review on good and bad encoders, and on the command line.

The good ones are written here from the formulas, with `math` alone.
"""

import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from conftest import ROOT

import posenc_review
from posenc_review import CONVENTIONS, Review, convention_of, review


def entry(position: int, column: int, d_model: int, words: str) -> float:
    """One entry of a table in a convention, from its definition."""
    half = (d_model + 1) // 2
    if "concatenated" in words:
        pair, second = column % half, column // half
        if "cosine first" in words and d_model % 2:
            raise NotImplementedError
    else:
        pair, second = divmod(column, 2)
    steps = d_model / 2 if "paper" in words else max(d_model / 2 - 1, 1)
    angle = position / 10_000 ** (pair / steps)
    is_sine = second == ("cosine first" in words)
    return math.sin(angle) if is_sine else math.cos(angle)


def spelled_out(seq_len: int, d_model: int, words: str) -> np.ndarray:
    rows = [
        [entry(p, k, d_model, words) for k in range(d_model)]
        for p in range(seq_len)
    ]
    return np.array(rows)


def right(seq_len: int, d_model: int) -> np.ndarray:
    """The paper's table: a float64 formula that shares no code with ours."""
    table = np.empty((seq_len, d_model))
    for column in range(d_model):
        speed = math.exp(-math.log(10_000) * (column // 2 * 2) / d_model)
        wave = np.cos if column % 2 else np.sin
        table[:, column] = wave(np.arange(seq_len) * speed)
    return table


def found(encoder, d_model=8, **given) -> list[str]:
    return list(review(encoder, d_model, **given).findings)


@pytest.mark.parametrize("words", CONVENTIONS)
@pytest.mark.parametrize("d_model", [8, 64])
def test_each_convention_is_told_and_is_no_bug(words, d_model):
    def encoder(seq_len, d_model):
        return spelled_out(seq_len, d_model, words)

    seen = review(encoder, d_model, max_len=128)
    assert seen.findings == {}
    assert seen.convention == words
    others = [x for x in CONVENTIONS if x != words]
    for other in others[:: 3 if d_model == 8 else 7]:
        assert found(encoder, d_model, max_len=100, convention=other)


@pytest.mark.parametrize("d_model", [1, 2, 3, 7, 16, 64])
def test_right_at_every_width(d_model):
    seen = review(right, d_model)
    assert seen.findings == {}
    assert CONVENTIONS[0] in seen.convention
    assert len(seen.errors) == 70_000
    assert seen.errors.max() < 1e-9


@pytest.mark.parametrize("d_model", [5, 7])
def test_odd_widths_concatenated(d_model):
    words = "paper, concatenated"
    table = spelled_out(64, d_model, words)
    assert convention_of(table) == words
    assert convention_of(spelled_out(64, d_model, CONVENTIONS[0])) != words


def test_convention_of_reads_a_batch_axis_and_says_what_it_cannot_tell():
    table = right(64, 16)
    assert convention_of(table[None].astype(np.float32)) == CONVENTIONS[0]
    assert convention_of(table.tolist()) == CONVENTIONS[0]
    assert convention_of(table[:, ::-1]) == "unknown"
    assert convention_of(np.where(table == 0, 0.002, table)) == "unknown"
    assert convention_of(table + 9e-4) == CONVENTIONS[0]
    assert convention_of(table[:1]) == (
        "paper, interleaved or tensor2tensor, interleaved"
    )


class Tensor:
    """What Torch's tensors do, as far as a review asks."""

    def __init__(self, array):
        self.array, self.done = array, ()

    def detach(self):
        return self.after("detach")

    def cpu(self):
        assert self.done == ("detach",)
        return self.after("cpu")

    def double(self):
        assert self.done == ("detach", "cpu")
        return self.array.astype(np.float64)

    def after(self, step):
        self.done += (step,)
        return self


class Arrayable:
    """What TensorFlow's tensors do."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype)


@pytest.mark.parametrize(
    "made",
    [
        Tensor,
        Arrayable,
        np.ndarray.tolist,
        lambda table: table[None],
        lambda table: table.astype(np.float32),
        np.asfortranarray,
    ],
    ids=["torch", "tensorflow", "list", "batch", "float32", "fortran"],
)
def test_whatever_numpy_can_read_will_do(made):
    assert found(lambda n, d: made(right(n, d)), max_len=600) == []


def test_bfloat16_is_read_and_its_lost_digits_are_found():
    def rounded(seq_len, d_model):
        return right(seq_len, d_model).astype(ml_dtypes.bfloat16)

    assert "every row" in found(rounded)
    assert found(rounded, max_len=600, tolerance=0.01)[-1:] != ["every row"]


def changed(rows, factor):
    """An encoder that is right but for some rows."""

    def encoder(seq_len, d_model):
        table = right(seq_len, d_model)
        table[rows] *= factor
        return table

    return encoder


def from_one(seq_len, d_model):
    return right(seq_len + 1, d_model)[1:]


def other_base(seq_len, d_model):
    return right(seq_len, d_model + 2)[:, :d_model]


def backwards(seq_len, d_model):
    return right(seq_len, d_model)[:, ::-1]


def position_first(seq_len, d_model):
    return right(seq_len, d_model)[:, None]


def long_ones_differ(seq_len, d_model):
    table = right(seq_len, d_model)
    table[5:6] *= seq_len < 60_000
    return table


def float32_angles(seq_len, d_model):
    positions = np.arange(seq_len, dtype=np.float32)
    speeds = np.float32(10_000) ** np.float32(
        -np.arange(0, d_model, 2) / d_model
    )
    angles = np.outer(positions, speeds)
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(seq_len, -1)


def wrong_when_short(seq_len, d_model):
    return right(seq_len, d_model) * (seq_len > 3)


FOUND = {
    "wrong when short": (wrong_when_short, "row 2"),
    "blank from 600 to 32 000": (changed(slice(600, 32_000), 0), ""),
    "the last row": (changed(slice(69_999, None), 0.5), ""),
    "blank from 300 to 310": (changed(slice(300, 310), 0), "dot products"),
    "row 0 blank": (changed(slice(0, 1), 0), "row length"),
    "row 32 768": (changed(slice(32_768, 32_769), 1 + 3e-6), "far row"),
    "from one": (from_one, "row 2, far row"),
    "another base": (other_base, "wavelengths, far row"),
    "backwards": (backwards, "row 2"),
    "a long one differs": (long_ones_differ, "first rows"),
    "float32 angles": (float32_angles, "far row"),
    "position first": (position_first, "batch axis"),
    "twice as fast": (
        lambda n, d: right(2 * n, d)[::2],
        "row 2, wavelengths, far row",
    ),
    "columns in another order": (
        lambda n, d: right(n, d)[:, [0, 3, 2, 1, *range(4, d)]],
        "rotation",
    ),
}


@pytest.mark.parametrize("bug", FOUND)
def test_a_bug_is_found_by_name(bug):
    encoder, expected = FOUND[bug]
    seen = review(encoder, 16)
    names = [name for name in seen.findings if name != "every row"]
    assert ", ".join(names) == expected
    hidden = bug in ("position first", "wrong when short")
    assert ("every row" in seen.findings) == (not hidden)


def test_each_check_alone_finds_some_bug():
    alone = {expected for _, expected in FOUND.values() if "," not in expected}
    pairs = {"wavelengths"}  # alone in one suspect of notebook 07
    names = {x.__name__.replace("_", " ") for x in posenc_review.CHECKS}
    assert names == (alone - {""}) | pairs


def test_rows_and_digits_are_told():
    seen = review(changed(slice(600, 32_000), 0), 16)
    assert seen.findings == {
        "every row": "Row 600 is the first that is wrong; "
        "the worst is off by 1."
    }
    assert str(seen).splitlines() == [
        "- every row: Row 600 is the first that is wrong; "
        "the worst is off by 1.",
        "Findings: 1. Convention: paper, interleaved.",
        "Rows: 70000, the first 600 right to 1e-06.",
    ]
    assert "Rows: 70000, the first 70000 right" in str(review(right, 16))
    assert found(float32_angles, 16, tolerance=0.1) == []
    assert found(float32_angles, 16, max_len=64) == []
    assert found(changed(slice(5, 6), 1 + 3e-6), tolerance=1e-6) == [
        "every row"
    ]
    assert found(changed(slice(5, 6), 1 + 3e-6), tolerance=1e-5) == []


def numbered_by_column(seq_len, d_model):
    angles = [
        np.arange(seq_len) / 10_000 ** (2 * k / d_model)
        for k in range(d_model)
    ]
    waves = [(np.sin, np.cos)[k % 2](x) for k, x in enumerate(angles)]
    return np.transpose(waves)


@pytest.mark.parametrize("d_model", [8, 64, 512])
def test_an_unknown_table_is_held_to_what_it_fails_least(d_model):
    seen = review(numbered_by_column, d_model, max_len=600)
    assert seen.convention == "unknown"
    assert seen.errors[0] == 0  # interleaved, sine first
    assert seen.findings["every row"].startswith("Row 1 is the first that")
    assert "row 2" not in seen.findings

    def blank_row_0(seq_len, d_model):
        table = spelled_out(seq_len, d_model, "tensor2tensor, concatenated")
        table[:1] = 0
        return table

    told = "Convention: unknown; held to paper, interleaved.\n"
    assert told in str(seen)
    assert found(blank_row_0, 8, max_len=128) == ["row length", "every row"]


def test_a_sign_turned_is_no_wrong_rotation():
    seen = review(lambda n, d: -right(n, d), 64, max_len=600)
    assert list(seen.findings) == ["row 2", "far row", "every row"]
    assert "; the worst is off by 2." in seen.findings["every row"]
    assert seen.held_to == CONVENTIONS[0]


def test_a_named_convention_is_told_beside_the_one_seen():
    def concatenated(seq_len, d_model):
        return spelled_out(seq_len, d_model, "paper, concatenated")

    told = "Convention: paper, concatenated"
    assert f"{told}.\n" in str(review(concatenated, 8, max_len=64))
    named = review(concatenated, 8, max_len=64, convention=CONVENTIONS[0])
    assert f"{told}; held to paper, interleaved.\n" in str(named)
    assert list(named.findings) == ["rotation", "every row"]


@pytest.mark.parametrize("d_model", [8, 64, 512])
@pytest.mark.parametrize(
    ("format", "tolerance"),
    [(np.float16, 1e-2), (ml_dtypes.bfloat16, 1e-2), (np.float16, 1e-3)],
)
def test_structure_is_judged_by_the_tolerance(d_model, format, tolerance):
    def rounded(seq_len, d_model):
        return right(seq_len, d_model).astype(format)

    seen = review(rounded, d_model, max_len=600, tolerance=tolerance)
    assert seen.findings == {}
    assert seen.convention == CONVENTIONS[0]
    assert convention_of(rounded(64, d_model), 0.01) == CONVENTIONS[0]
    assert "every row" in found(rounded, d_model, max_len=600)


def test_wide_long_tables_are_looked_at_to_the_end():
    def stretched_when_long(seq_len, d_model):
        columns = np.arange(0, d_model, 2)
        speeds = (10_000 * max(1, seq_len / 65_536)) ** (-columns / d_model)
        angles = np.outer(np.arange(seq_len), speeds)
        table = np.empty((seq_len, d_model))
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
        return table

    seen = review(stretched_when_long, 256)
    assert "first rows" in seen.findings
    assert len(seen.errors) == 70_000
    assert posenc_review.ENTRIES // 512 >= 70_000


def boom(seq_len, d_model):
    raise RuntimeError("out of order")


def nan_far_out(seq_len, d_model):
    table = right(seq_len, d_model)
    table[600:601] = math.nan
    return table


@pytest.mark.parametrize(
    ("encoder", "said", "rows"),
    [
        (boom, "RuntimeError('out of order')", 0),
        (lambda n, d: "a table", "ValueError", 0),
        (lambda n, d: None, "the shape is ()", 0),
        (lambda n, d: right(n, d).T, "the shape is (8, 3)", 0),
        (lambda n, d: right(n, d)[:, 1:], "the shape is (3, 7)", 0),
        (lambda n, d: right(n + 1, d), "the shape is (4, 8)", 0),
        (lambda n, d: np.ones((0, n, d)), "the shape is (0, 3, 8)", 0),
        (lambda n, d: right(n, d)[None, None], "", 70_000),
        (lambda n, d: [[1], [1, 2]], "ValueError", 0),
        (lambda n, d: right(n, d) * math.inf, "NaN or infinity", 0),
        (lambda n: right(n, 8), "TypeError", 0),
        (nan_far_out, "Asked for 32769 rows: ", 512),
        (lambda n, d: right(50, d)[:n], "the shape is (50, 8)", 0),
        (lambda n, d: right(100, d)[:n], "Asked for 256 rows", 64),
        (lambda n, d: right(5000, d)[:n], "the shape is (5000, 8)", 512),
        (lambda n, d: right(50_000, d)[:n], "Asked for 70000 rows", 32_769),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_encoder_that_gives_no_table_is_a_finding(encoder, said, rows):
    seen = review(encoder, 8)
    assert said in seen.findings.get("table", "")
    assert list(seen.findings) == (["table"] if said else [])
    assert len(seen.errors) == rows
    asked = "" if rows == 70_000 else " of the 70000 asked for"
    assert f"Rows: {rows}{asked}, the first {rows} right" in str(seen)
    assert (seen.convention == "unknown") == (rows == 0)


def test_how_near_is_near():
    seen = posenc_review.Tables(lambda rows: right(rows, 8), 8, 1e-4, rows=64)
    assert seen.near(1, 1 + 1.599e-3)
    assert not seen.near(1, 1 + 1.601e-3)
    assert seen.near(1, 1 + 2.9e-4, 2, least=1e-4)
    assert not seen.near(1, 1 + 3.1e-4, 2, least=1e-4)
    assert [check(seen) for check in posenc_review.CHECKS] == [True] * 8
    seen.ask = lambda rows: right(rows, 8)[::-1] ** 2
    assert False in [check(seen) for check in posenc_review.CHECKS]
    assert None not in [check(seen) for check in posenc_review.CHECKS]


@pytest.mark.parametrize("off", [0.9, 1.1])
@pytest.mark.parametrize(
    ("check", "row", "size"), [("row length", 3, 2), ("dot products", 300, 4)]
)
def test_sums_over_a_row_are_judged_by_the_width(check, row, size, off):
    """Of a row that is too long, by so many times what is forgiven."""

    def encoder(seq_len, d_model):
        table = right(seq_len, d_model)
        forgiven = 1e-3 + size * d_model * 1e-4
        longer = math.sqrt(1 + off * forgiven / (d_model / 2))
        table[row : row + 1] *= longer
        return table

    names = found(encoder, 64, max_len=600, tolerance=1e-4)
    assert (check in names) == (off > 1)


def test_row_1_is_looked_at():
    def encoder(seq_len, d_model):
        table = right(2 * seq_len, d_model)[::2]
        late = right(seq_len, d_model)
        late[1:2] = table[1:2]  # row 2 in the place of row 1
        return late

    names = found(encoder, 16, max_len=600)
    assert names == ["rotation", "wavelengths", "dot products", "every row"]


def test_few_lengths_are_asked_for_and_each_once():
    asked = []

    def encoder(seq_len, d_model):
        asked.append(seq_len)
        return right(seq_len, d_model)

    assert review(encoder, 8).findings == {}
    assert asked == [3, 4, 64, 256, 512, 32_769, 70_000]


def test_the_tolerance_itself_is_allowed():
    def encoder(seq_len, d_model):
        table = right(seq_len, d_model)
        table[5:6] += 3e-6
        return table

    worst = review(encoder, 8, max_len=600).errors.max()
    assert found(encoder, max_len=600, tolerance=worst) == []
    assert found(encoder, max_len=600, tolerance=worst * (1 - 1e-12)) == [
        "every row"
    ]
    table = right(64, 8) + 1e-4
    off = abs(table - posenc_review.formula(range(64), 8, CONVENTIONS[0]))
    assert convention_of(table, off.max()) == CONVENTIONS[0]
    assert convention_of(table, off.max() * (1 - 1e-12)) == "unknown"


def test_what_is_said_of_a_broken_table():
    assert str(review(lambda n, d: right(n, d)[:60], 8)) == (
        "- table: Asked for 64 rows: ValueError('the shape is (60, 8)').\n"
        "Findings: 1. Convention: unknown.\n"
        "Rows: 0 of the 70000 asked for, the first 0 right to 1e-06."
    )


def test_an_encoder_may_change_its_own_table_between_calls():
    tables = {}

    def remembers(seq_len, d_model):
        table = tables.setdefault(seq_len, right(seq_len, d_model))
        table += 0.5
        table -= 0.5
        return table

    assert found(remembers) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"d_model": 0}, "d_model=0: give 1 to 1048576"),
        ({"d_model": -8}, "d_model=-8: give 1"),
        ({"d_model": 2**24}, "d_model=16777216: give 1"),
        ({"max_len": 63}, "max_len=63: give 64 or more"),
        ({"tolerance": -1e-6}, "tolerance=-1e-06: give 0 or more"),
        ({"tolerance": math.nan}, "tolerance=nan: give 0 or more"),
        (
            {"convention": "interleaved"},
            "convention='interleaved': give one of ['paper, interleaved',",
        ),
    ],
)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises(ValueError) as caught:
        review(right, **given)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("name", ["d_model", "max_len"])
@pytest.mark.parametrize("value", [64.0, "64", None])
def test_sizes_that_are_no_integers_are_named(name, value):
    with pytest.raises(TypeError) as caught:
        review(right, **{name: value})
    assert str(caught.value) == f"{name}={value!r}: give an integer"


def test_sizes_at_the_edge(monkeypatch):
    monkeypatch.setattr(posenc_review, "ENTRIES", 2**14)
    assert len(review(right, 64).errors) == 256
    assert len(review(right, 64, max_len=100).errors) == 100
    cut = "Rows: 256 of the 70000 asked for, the first 256 right to 1e-06."
    assert cut in str(review(right, 64))
    assert len(review(right, 256).errors) == 64
    with pytest.raises(ValueError, match=r"d_model=257: give 1 to 256$"):
        review(right, 257)
    monkeypatch.setattr(posenc_review, "ENTRIES", 1000)
    assert len(review(right, 7).errors) == 142
    monkeypatch.undo()
    assert posenc_review.ENTRIES // 64 >= 70_000
    assert len(review(right, 8, max_len=64).errors) == 64
    assert len(review(right, 8, max_len=65).errors) == 65
    assert found(right, 8, max_len=32_769) == []
    assert str(Review({}, 9)).startswith("Findings: 0. Convention: unknown.\n")
    three = Review({}, 3, errors=[9e-7, 1e-6, 1.1e-6])
    assert str(three).endswith("Rows: 3, the first 2 right to 1e-06.")


MODULE = """
import numpy as np
from posenc_helpers import position_encoding as good
NUMBER, TABLE = 7, good(9, 8)
def bad(seq_len, d_model):
    table = good(seq_len, d_model)
    table[0] = 0
    return table
def wide(seq_len, d_model):
    assert d_model == 64
    return good(seq_len, d_model)
def nearly(seq_len, d_model):
    return good(seq_len, d_model) + 3e-6
def hardly(seq_len, d_model):
    return good(seq_len, d_model) + 3e-7
def turning(seq_len, d_model):
    return good(seq_len, d_model) * 1j
class Inner:
    good = staticmethod(good)
"""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("mine:good --width 64", 0, "Findings: 0. Convention: paper, inter"),
        ("mine:good --width 8", 0, "Rows: 70000"),
        ("mine:good --max-len 128", 0, "Rows: 128,"),
        ("mine:Inner.good --width 8", 0, "Findings: 0"),
        ("mine:bad --width 8", 1, "- row length: "),
        ("mine:bad --width 8 --tolerance 0.1", 1, "- row length: "),
        ("mine:hardly --width 8", 0, "Findings: 0"),
        ("mine:wide --max-len 64", 0, "Rows: 64,"),
        ("mine:nearly --width 8", 1, "- every row: Row 0"),
        ("mine:nearly --width 8 --tolerance 4e-6", 0, "Findings: 0"),
        ("mine:nobody", 2, "has no attribute 'nobody'"),
        ("yours:good", 2, "No module named 'yours'"),
        (
            "mine:NUMBER",
            2,
            "error: mine:NUMBER is of <class 'int'>, no function\n",
        ),
        ("mine:good --width 0", 2, "error: d_model=0: give"),
        ("mine:good --width wide", 2, "argument --width"),
        ("mine:good --convention best", 2, "'best': give one of"),
        ("mine:good --max-len 9", 2, "error: max_len=9: give 64 or more\n"),
        ("mine:TABLE", 2, "mine:TABLE is of <class 'numpy.ndarray'>"),
        (
            "mine:turning --width 8",
            1,
            "rows: ValueError('the numbers are complex').\n",
        ),
        ("", 2, "required: target"),
    ],
)
def test_command_line(tmp_path, monkeypatch, capsys, words, status, said):
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["posenc_review", *words.split()])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    if status == 2:
        with pytest.raises(SystemExit, match="2"):
            posenc_review.main()
        output = capsys.readouterr().err
        assert "Traceback" not in output
    else:
        assert posenc_review.main() == status
        output = capsys.readouterr().out
    assert said in output


def test_help_says_what_each_option_is(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["posenc_review", "--help"])
    with pytest.raises(SystemExit, match="0"):
        posenc_review.main()
    said = " ".join(capsys.readouterr().out.split())
    assert "usage: python -m posenc_review [-h]" in said
    assert "with 0 if nothing is found, with 1 if something is, and" in said
    for words in (
        "target the encoder: package.module:function",
        "--width WIDTH columns of its table (64)",
        "--max-len MAX_LEN its rows: 64 or more (70000)",
        "--convention CONVENTION one of ['paper, interleaved', 'paper,",
        "(the one that fits)",
        "--tolerance TOLERANCE how far an entry may be off (1e-06)",
        *CONVENTIONS,
    ):
        assert words in said


@pytest.mark.parametrize(("name", "status"), [("good", 0), ("bad", 1)])
def test_as_a_command_without_tensorflow(tmp_path, name, status):
    (tmp_path / "mine.py").write_text(MODULE)
    command = [sys.executable, "-X", "importtime", "-m", "posenc_review"]
    done = subprocess.run(
        [*command, f"mine:{name}", "--width", "16"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status
    assert f"Findings: {2 * status}." in done.stdout
    assert "tensorflow" not in done.stderr


@pytest.mark.parametrize(
    ("off", "expected"), [(4e-4, []), (1.2e-3, ["row length", "row 2"])]
)
def test_structure_is_judged_to_a_thousandth(off, expected):
    def encoder(seq_len, d_model):
        table = right(seq_len, d_model)
        table[2, 0] += off
        return table

    names = [x for x in found(encoder, max_len=600) if x != "every row"]
    assert names[:2] == expected


@pytest.mark.parametrize("length", [3, 4, 64, 256, 512, 600])
def test_no_length_ends_in_a_traceback(length):
    def encoder(seq_len, d_model):
        if seq_len == length:
            raise IndexError(length)
        return right(seq_len, d_model)

    assert f"IndexError({length})" in str(review(encoder, 8, max_len=600))


def test_what_is_looked_at_unless_told():
    def encoder(seq_len, d_model):
        assert d_model == 64
        return right(seq_len, d_model) + 3e-7

    seen = review(encoder, max_len=600)
    assert seen.findings == {}
    assert "Rows: 600, the first 600 right to 1e-06." in str(seen)
    last = changed(slice(599, 600), 0.5)
    assert found(last, max_len=600) == ["far row", "every row"]
