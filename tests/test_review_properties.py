"""review_rotary on functions drawn at random: right, wrong, and doubly so."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_review_rotary import bfloat16, llama3, rotary, same

from posenc_review import review_rotary

SCALINGS = {"none": same, "linear": lambda w: w / 4, "llama3": llama3}


@st.composite
def conventions(draw):
    """Draw a width, a scaling's name, and how a right function turns."""
    width = 2 * draw(st.integers(4, 40))
    part = draw(st.sampled_from([width, 2 * (width // 4)]))
    layouts = ["interleaved", "half"] + ["half of the head"] * (part < width)
    scaling = draw(st.sampled_from(sorted(SCALINGS)))
    return (
        width,
        scaling,
        {
            "base": draw(st.sampled_from([1e4, 5e5, 1e6, 100.0, 41_829.3])),
            "layout": draw(st.sampled_from(layouts)),
            "part": part,
            "frequencies": SCALINGS[scaling],
            "dtype": draw(st.sampled_from([np.float64, np.float32])),
            "sign": draw(st.sampled_from([1, -1])),
        },
    )


@settings(max_examples=25)
@given(conventions())
def test_right_functions_are_never_accused(convention):
    width, scaling, how = convention
    found = review_rotary(rotary(**how), width, max_len=700)
    assert found.findings == {}
    assert found.fields["columns"] == how["part"]
    assert found.fields["clockwise"] == (how["sign"] < 0)
    if scaling == "none" and how["part"] == width:
        assert found.fields["base"] == pytest.approx(how["base"], rel=1e-4)


def where(some, value):
    return lambda m, x, p: np.where(some(p), value(m, x), m)


FAR = {  # what is changed from position n on, and how it is called
    "clipped": lambda n: {"read": lambda p: np.minimum(p, n - 1)},
    "wrapped": lambda n: {"read": lambda p: p % n},
    "one late": lambda n: {"read": lambda p: p + (p >= n)},
    "one early": lambda n: {"read": lambda p: p - (p >= n)},
    "NaN": lambda n: {"result": lambda m, x, p: m + np.log(p - p + (p != n))},
    "position 0": lambda n: {
        "result": where(lambda p: (p >= n) & (p < n + 50), lambda m, x: x)
    },
    "lengths change by 2": lambda n: {
        "result": where(lambda p: p >= n, lambda m, x: 2 * m)
    },
}
NEAR = {  # by what name it is found, and what is changed everywhere
    "counted from 1": ("position 0", {"read": lambda p: p + 1}),
    "by 3": ("lengths", {"length": 3}),
    "ignored": ("positions", {"read": lambda p: np.arange(p.shape[1])}),
    "Positions are rounded to bfloat16": ("precision", {"read": bfloat16}),
    "backwards": ("frequencies", {"frequencies": lambda w: w[::-1]}),
}


@settings(max_examples=25)
@given(conventions(), st.sampled_from(sorted(FAR)), st.integers(50, 600))
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_change_far_out_is_found_and_named(convention, words, place):
    width, _, how = convention
    rotate = rotary(**how, **FAR[words](place))
    (finding,) = review_rotary(rotate, width, max_len=700).details
    assert finding.name == "far positions"
    assert words in finding.words
    assert finding.position == place


@settings(max_examples=20)
@given(conventions(), st.sampled_from(sorted(NEAR)))
def test_a_change_everywhere_is_found_and_named(convention, words):
    width, _, how = convention
    name, change = NEAR[words]
    if name in ("lengths", "frequencies"):  # else two things are changed
        how = how | {"part": width, "layout": "half", "frequencies": same}
    found = review_rotary(rotary(**how | change), width, max_len=300)
    assert words in found.findings[name]


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(FAR)),
    st.integers(50, 400),
    st.sampled_from(sorted(NEAR)),
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_of_two_changes_no_third_is_named(far, place, near):
    _, change = NEAR[near]
    changes = FAR[far](place)
    if "read" in changes and "read" in change:
        one, other = changes["read"], change["read"]
        change = {"read": lambda p: one(other(p))}
    found = review_rotary(rotary(**changes | change), 32, max_len=500)
    said = " ".join(each.words for each in found.details)
    assert found.findings
    for words in {*FAR, *NEAR} - {far, near, "position 0"}:
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
    found = review_rotary(rotary(**change), 32, max_len=700)
    assert set(found.findings) <= {"far positions", "offsets", "frequencies"}
    for each in found.details:
        known = "clipped|wrapped|one late|one early|rounded|at base"
        assert not re.search(known, each.words)


CALLS = {  # tokens of a call, or rows of a batch, that are left as they are
    "token 6[45] of row 0": np.s_[:, 64:],
    "token 100[01] of row 0": np.s_[:, 1000:],
    "Row 3 of a batch of 9": np.s_[3:],
    "Row 7 of a batch of 9": np.s_[7:],
}


@pytest.mark.parametrize(("words", "some"), CALLS.items(), ids=CALLS)
def test_long_calls_and_whole_batches_are_looked_at(words, some):
    def rotate(x, positions):
        made = rotary()(x, positions)
        made[some] = x[some]
        return made

    assert re.search(words, str(review_rotary(rotate, 16, max_len=2000)))


def test_one_position_of_all_is_found():
    second = np.arange(16) >= 8  # columns of pairs
    spoiled = where(lambda p: (p == 77_777) & second, lambda m, x: x)
    (finding,) = review_rotary(rotary(result=spoiled), 16).details
    assert (finding.name, finding.position) == ("far positions", 77_777)
    assert "77777" in finding.words


@pytest.mark.parametrize(
    ("distance", "layout"),
    [(12, "half of the part"), (16, "half of the head")],
)
def test_partners_are_data(distance, layout):
    rotate = rotary(part=24, layout=layout)
    config = {"head_dim": 32, "partial_rotary_factor": 0.75}
    found = review_rotary(rotate, config=config, max_len=300)
    assert found.fields["partners"][1] == [1, 1 + distance]
    assert found.fields["layout"] == layout
    assert ("layout" in found.findings) == (distance == 16)
