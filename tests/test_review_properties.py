"""review_rotary on functions drawn at random: right, wrong, and doubly so."""

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc_review import review_rotary

LENGTH = 700  # positions that are looked at
WRONG_FROM = 300


def bfloat16(values):
    return np.asarray(values).astype(ml_dtypes.bfloat16).astype(float)


def same(values):
    return values


def llama3(frequencies):
    kept = np.clip((8192 * frequencies / (2 * np.pi) - 1) / 3, 0, 1)
    return frequencies * (kept + (1 - kept) / 8)


SCALINGS = {
    "none": same,
    "linear": lambda w: w / 4,
    "llama3": llama3,
}


@st.composite
def conventions(draw):
    """Draw how a right function turns pairs."""
    width = 2 * draw(st.integers(4, 40))
    part = draw(st.sampled_from([width, 2 * (width // 4)]))
    layouts = ["interleaved", "half"] + ["half of the head"] * (part < width)
    return {
        "width": width,
        "part": part,
        "layout": draw(st.sampled_from(layouts)),
        "base": draw(st.sampled_from([1e4, 5e5, 1e6, 100.0, 41_829.3])),
        "scaling": draw(st.sampled_from(sorted(SCALINGS))),
        "dtype": draw(st.sampled_from([np.float64, np.float32])),
        "sign": draw(st.sampled_from([1, -1])),
    }


def built(how, read=same, frequencies=same, angles=same, after=None):
    """Build a rotary function by a convention, with something changed."""
    width, pairs = how["width"], how["part"] // 2
    usual = how["base"] ** (-np.arange(pairs) / pairs)
    scaled = SCALINGS[how["scaling"]](usual)
    firsts = np.arange(pairs)
    seconds = firsts + pairs
    if how["layout"] == "interleaved":
        firsts, seconds = 2 * firsts, 2 * firsts + 1
    elif how["layout"] == "half of the head":
        seconds = firsts + width // 2

    def rotate(x, positions):
        x = x.astype(how["dtype"])
        turns = frequencies(scaled).astype(how["dtype"])
        taken = np.asarray(read(positions), how["dtype"])
        turned = angles(taken[..., None] * turns) * how["sign"]
        cosine, sine = np.cos(turned), np.sin(turned)
        one, other = x[..., firsts], x[..., seconds]
        made = np.array(x)
        made[..., firsts] = one * cosine - other * sine
        made[..., seconds] = other * cosine + one * sine
        return after(made, x, positions) if after else made

    return rotate


@settings(max_examples=25, deadline=None, derandomize=True)
@given(conventions())
def test_right_functions_are_never_accused(how):
    found = review_rotary(built(how), how["width"], max_len=LENGTH)
    assert found.findings == {}
    assert found.fields["columns"] == how["part"]
    assert found.fields["clockwise"] == (how["sign"] < 0)
    if how["scaling"] == "none" and how["part"] == how["width"]:
        assert found.fields["base"] == pytest.approx(how["base"], rel=1e-4)


def at(place, value):
    """Change the result at some positions."""

    def after(made, x, positions):
        with np.errstate(invalid="ignore"):
            return np.where(place(positions)[..., None], value(made, x), made)

    return {"after": after}


n = WRONG_FROM
CHANGES = {  # and by what name the first of them is found
    "clipped": ({"read": lambda p: np.minimum(p, n - 1)}, "far positions"),
    "wrapped": ({"read": lambda p: p % n}, "far positions"),
    "one late": ({"read": lambda p: p + (p >= n)}, "far positions"),
    "NaN": (at(lambda p: p == n, lambda m, x: m * np.nan), "far positions"),
    "position 0": (
        at(lambda p: (p >= n) & (p < n + 50), lambda m, x: x),
        "far positions",
    ),
    "lengths change by 2": (
        at(lambda p: p >= n, lambda m, x: 2 * m),
        "far positions",
    ),
    "counted from 1": ({"read": lambda p: p + 1}, "position 0"),
    "by 3": (at(lambda p: p >= 0, lambda m, x: 3 * m), "lengths"),
    "ignored": (
        {"read": lambda p: np.broadcast_to(np.arange(p.shape[1]), p.shape)},
        "positions",
    ),
    "Positions are rounded to bfloat16": ({"read": bfloat16}, "precision"),
    "backwards": ({"frequencies": lambda w: w[::-1]}, "frequencies"),
}


@settings(max_examples=30, deadline=None, derandomize=True)
@given(conventions(), st.sampled_from(sorted(CHANGES)))
def test_one_change_is_found_and_named(how, words):
    change, name = CHANGES[words]
    if name in ("lengths", "frequencies"):  # else two things are changed
        how = how | {"part": how["width"], "layout": "half"}
        how["scaling"] = "none"
    found = review_rotary(built(how, **change), how["width"], max_len=LENGTH)
    assert words in found.findings.get(name, str(found))
    if name == "far positions":
        assert found.details[0].position == n


WHOLE = {
    "width": 32,
    "part": 32,
    "layout": "half",
    "base": 1e4,
    "scaling": "none",
    "dtype": np.float64,
    "sign": 1,
}
TWICE = [  # two changes at once: both are named, and nothing else
    (
        {"read": lambda p: np.minimum(p + 1, n)},
        "counted from 1.*clipped",
    ),
    (
        {"read": lambda p: np.minimum(bfloat16(p), 400)},
        "Positions are rounded to bfloat16.*clipped",
    ),
    (
        {"frequencies": np.rad2deg, "read": lambda p: np.minimum(p, n)},
        "degrees are taken for radians.*clipped",
    ),
    (
        {
            "read": lambda p: p % n,
            **at(lambda p: p >= 0, lambda m, x: 3 * m),
        },
        "Lengths change by 3.*wrapped",
    ),
    (
        {
            "frequencies": bfloat16,
            **at(lambda p: p == n, lambda m, x: m * np.nan),
        },
        "Frequencies are rounded to bfloat16",
    ),
]


@pytest.mark.parametrize(("change", "words"), TWICE)
def test_two_changes_are_both_named(change, words):
    found = review_rotary(built(WHOLE, **change), 32, max_len=LENGTH)
    said = " ".join(each.words for each in found.details)
    assert re.search(words, said, re.S), said
    assert len(found.details) == words.count(".*") + 1


UNKNOWN = {  # changes that no table has: where they show is all that is said
    "squares": {"angles": lambda a: a + 1e-3 * a**2},
    "a wobble": {"read": lambda p: p + 0.3 * np.sin(p)},
    "a slow drift": {"read": lambda p: p * (1 + 1e-4 * p)},
    "noise": {"read": lambda p: p + (p > n) * np.sin(7.0 * p)},
    "other pairs": {
        "angles": lambda a: np.where(a > 100, a * 1.01, a),
    },
}


@pytest.mark.parametrize("change", UNKNOWN.values(), ids=UNKNOWN)
def test_what_no_table_has_gets_no_false_name(change):
    found = review_rotary(built(WHOLE, **change), 32, max_len=LENGTH)
    assert set(found.findings) <= {"far positions", "offsets", "frequencies"}
    said = " ".join(each.words for each in found.details)
    for words in ("clipped", "wrapped", "late", "early", "rounded", "base"):
        assert not re.search(rf"\b{words}\b(?! nor)", said.split("no")[0])


def written(where, change):
    """Build a right function whose calls are changed somewhere."""
    right = built(WHOLE)

    def rotate(x, positions):
        made = np.array(right(x, positions))
        made[where] = change(made[where], x[where])
        return made

    return rotate


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ((slice(None), slice(64, None)), "token 6[45] of row 0"),
        ((slice(None), slice(1000, None)), "token 100[01] of row 0"),
        ((slice(3, None),), "Row 3 of a batch of 9"),
        ((slice(7, None),), "Row 7 of a batch of 9"),
    ],
)
def test_long_calls_and_whole_batches_are_looked_at(where, words):
    rotate = written(where, lambda made, x: x)
    found = review_rotary(rotate, 32, max_len=2000)
    assert re.search(words, str(found))


@pytest.mark.parametrize("columns", [slice(None), slice(16, None)])
def test_one_position_of_all_is_found(columns):
    right = built(WHOLE)

    def rotate(x, positions):
        made = np.array(right(x, positions))
        there = positions == 77_777
        made[there, columns] = x[there, columns]
        return made

    (finding,) = review_rotary(rotate, 32).details
    assert (finding.name, finding.position) == ("far positions", 77_777)
    assert "77777" in finding.words


@pytest.mark.parametrize(
    ("distance", "layout"),
    [(12, "half of the part"), (16, "half of the head")],
)
def test_partners_are_data(distance, layout):
    how = WHOLE | {"part": 24, "layout": layout}
    config = {"head_dim": 32, "partial_rotary_factor": 0.75}
    found = review_rotary(built(how), config=config, max_len=LENGTH)
    assert found.fields["partners"][1] == [1, 1 + distance]
    assert found.fields["layout"] == layout
    assert ("layout" in found.findings) == (distance == 16)
