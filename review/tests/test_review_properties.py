"""review_rotary on functions drawn at random: right, wrong, and doubly so."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_review_rotary import beyond, bfloat16, llama3, looked, rope, same

SCALINGS = {"none": same, "linear": lambda w: w / 4, "llama3": llama3}


@st.composite
def conventions(draw):
    """Draw a width, a scaling's name, and how a right function turns."""
    width = 2 * draw(st.integers(4, 40))
    part = draw(st.sampled_from([width, 2 * (width // 4)]))
    layouts = ["interleaved", "half"] + ["half of the head"] * (part < width)
    scaling = draw(st.sampled_from(sorted(SCALINGS)))
    how = {
        "base": draw(st.sampled_from([1e4, 5e5, 1e6, 100.0, 41_829.3])),
        "layout": draw(st.sampled_from(layouts)),
        "part": part,
        "frequencies": SCALINGS[scaling],
        "dtype": draw(st.sampled_from([np.float64, np.float32])),
        "sign": draw(st.sampled_from([1, -1])),
    }
    return width, scaling, how


@settings(max_examples=25)
@given(conventions())
def test_right_functions_are_never_accused(convention):
    width, scaling, how = convention
    found = looked(rope(**how), width=width, max_len=700)
    assert found.findings == {}
    assert found.fields["columns"] == how["part"]
    assert found.fields["clockwise"] == (how["sign"] < 0)
    if scaling == "none" and how["part"] == width:
        assert found.fields["base"] == pytest.approx(how["base"], rel=1e-4)


def stopped(n):
    return lambda m, x, p: np.where((p >= n) & (p < n + 50), x, m)


FAR = {  # what is changed from position n on, and how it is called
    "clipped": lambda n: {"read": lambda p: np.minimum(p, n - 1)},
    "wrapped": lambda n: {"read": lambda p: p % n},
    "one late": lambda n: {"read": lambda p: p + (p >= n)},
    "one early": lambda n: {"read": lambda p: p - (p >= n)},
    "NaN": lambda n: {"after": beyond(n, np.nan)},
    "position 0": lambda n: {"after": stopped(n)},
    "lengths change by 2": lambda n: {"after": beyond(n, 2)},
}
NEAR = {  # by what name it is found, and what is changed everywhere
    "counted from 1": ("position 0", {"read": lambda p: p + 1}),
    "by 3": ("lengths", {"length": 3}),
    "ignored": ("positions", {"read": lambda p: np.arange(p.shape[1])}),
    "Positions are rounded to bfloat16": ("precision", {"read": bfloat16}),
    "backwards": ("frequencies", {"frequencies": lambda w: w[::-1]}),
}
far, near = (st.sampled_from(sorted(some)) for some in (FAR, NEAR))


@settings(max_examples=25)
@given(conventions(), far, st.integers(50, 600))
def test_a_change_far_out_is_found_and_named(convention, words, place):
    width, _, how = convention
    rotate = rope(**how, **FAR[words](place))
    (finding,) = looked(rotate, width=width, max_len=700).details
    assert (finding.name, finding.position) == ("far positions", place)
    assert words in finding.words


@settings(max_examples=20)
@given(conventions(), near)
def test_a_change_everywhere_is_found_and_named(convention, words):
    width, _, how = convention
    name, change = NEAR[words]
    if name in ("lengths", "frequencies"):  # else two things are changed
        how = how | {"part": width, "layout": "half", "frequencies": same}
    found = looked(rope(**how | change), width=width)
    assert words in found.findings[name]


@settings(max_examples=25)
@given(far, st.integers(50, 400), near)
def test_of_two_changes_no_third_is_named(one, place, other):
    _, change = NEAR[other]
    changes = FAR[one](place)
    if "read" in changes and "read" in change:
        first, second = changes["read"], change["read"]
        change = {"read": lambda p: first(second(p))}
    found = looked(rope(**changes | change), max_len=500)
    said = " ".join(each.words for each in found.details)
    assert found.findings
    for words in {*FAR, *NEAR} - {one, other, "position 0"}:
        assert words not in said


UNKNOWN = {  # changes that no table has: where they show is all that is said
    "squares": {"angles": lambda a: a + 1e-3 * a**2},
    "a wobble": {"read": lambda p: p + 0.3 * np.sin(p)},
    "a slow drift": {"read": lambda p: p * (1 + 1e-4 * p)},
    "noise": {"read": lambda p: p + (p > 300) * np.sin(7.0 * p)},
    "large angles": {"angles": lambda a: np.where(a > 100, a * 1.01, a)},
}


@pytest.mark.parametrize("change", UNKNOWN.values(), ids=UNKNOWN)
def test_what_no_table_has_gets_no_false_name(change):
    found = looked(rope(**change), max_len=700)
    assert set(found.findings) <= {"far positions", "offsets", "frequencies"}
    for each in found.details:
        known = "clipped|wrapped|one late|one early|rounded|at base"
        assert not re.search(known, each.words)
