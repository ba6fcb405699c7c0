"""Notebook 15: each verdict stands alone and holds with other seeds."""

import re

import numpy as np
import pytest
from conftest import assert_replies, cells_of, run_cells
from posenc_series.cells import is_form

NOTEBOOK = "15_claims"
CELLS = {cell.id: cell for cell in cells_of(NOTEBOOK)}
NUMBERS = [int(name[9:]) for name in CELLS if name.startswith("sentence-")]
SETUP = ["setup", "verdict", "said", "score", "softmax", "run", "bfloat16"]


def judged(printed: str) -> list[str]:
    """The cases' results and the verdict, without names and numbers."""
    found = re.findall(
        r"(?m): (holds|does not hold)$|^Sentence \d+: ([a-z ]+)\.", printed
    )
    return [case or verdict for case, verdict in found]


VERDICTS = {
    number: judged("".join(o.text for o in CELLS[f"verdict-{number}"].outputs))
    for number in NUMBERS
}


@pytest.fixture
def rule() -> dict:
    """What the cells before the first sentence define."""
    return run_cells(NOTEBOOK, *SETUP)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_verdict_stands_alone_and_holds_with_other_seeds(
    rule, number, capsys
):
    """And takes no name of the setup: other sentences would go wrong."""
    for seed in (0, 1000):
        matrices = np.random.default_rng(seed).normal(size=(2, 3, 16, 16))
        before = rule | {"SEED": seed, "MATRICES": matrices / 4}
        after = dict(before)
        exec(CELLS[f"verdict-{number}"].source, after)
        assert judged(capsys.readouterr().out) == VERDICTS[number]
        assert all(after[name] is before[name] for name in before)


def test_the_forms_list_the_sentences_that_are_judged():
    forms = "\n".join(c.source for c in CELLS.values() if is_form(c))
    listed = re.findall(r"(?m)^\? +(\d+) +(.+)$", forms)
    headings = [CELLS[f"sentence-{n}"].source.split("\n")[0] for n in NUMBERS]
    assert headings == [f"### {number}. {text}" for number, text in listed]


def test_true_false_and_depends_all_occur_and_no_letter_pays():
    last = [cases[-1] for cases in VERDICTS.values()]
    for word in ("true", "false", "it depends"):
        assert 4 <= last.count(word) <= 6
    depends = (
        f"`d` everywhere, you get {last.count('it depends')} of {len(last)}"
    )
    assert depends in CELLS["count"].source


@pytest.mark.parametrize("number", NUMBERS)
def test_each_sentence_has_a_source_and_says_where_to_read_more(number):
    text = CELLS[f"explain-{number}"].source
    assert "](https://" in text
    link = r"\*More:\* .*\]\(\d\d_\w+\.ipynb#cell-id=[\w-]+\)"
    assert re.match(link, text.split("\n\n")[-1])


# The rule and the forms.


def test_one_case_refutes_what_says_always_or_only(rule, capsys):
    titles = {n: CELLS[f"sentence-{n}"].source for n in NUMBERS}
    words = "always|only|However"
    absolute = {n for n in NUMBERS if re.search(words, titles[n])}
    judged_so = {
        n for n in NUMBERS if "absolute=True" in CELLS[f"verdict-{n}"].source
    }
    assert judged_so == absolute
    rule["verdict"](2, {"a": True, "b": False}, absolute=True)
    assert "Sentence 2: false." in capsys.readouterr().out


def fill(letters: dict[int, str]) -> str:
    """Put answers into form 2, each in the reader's own way."""
    form = CELLS["form-2"].source.split('"""')[1]
    for number, written in letters.items():
        form = re.sub(rf"(?m)^\?  {number}\b", f"{written}  {number}", form)
    return form


@pytest.mark.parametrize(
    "written", ["t", "T", "true", " t", "t?", "?t", "t)", "(t)", "True."]
)
def test_answers_are_read_in_the_ways_people_write_them(rule, written):
    rule["said"](fill({9: written}))
    assert rule["ANSWERS"] == {9: "t"}


def test_a_form_names_what_is_missing_and_takes_answers_back(rule, capsys):
    rule["said"](fill({7: "d", 8: "f", 9: "x", 10: "maybe"}))
    assert "Not answered yet: 6 9 10 11\n" in capsys.readouterr().out
    assert rule["ANSWERS"] == {7: "d", 8: "f"}
    rule["said"](fill({}))
    assert rule["ANSWERS"] == {}


def test_the_score_counts_what_was_judged_and_names_what_to_reread(
    rule, capsys
):
    rule["said"]("t  1 a\nf  2 b\nd 13 c")
    rule["verdict"](1, {"a": True})
    rule["verdict"](2, {"a": True})
    assert "You said: true." in capsys.readouterr().out
    rule["score"]()
    assert capsys.readouterr().out == "1 of 2 right\nRead again: 2\n"


# The sentence that a reader refutes.


def nearer_wins(vector, rope):
    return rope(vector, vector, 1) > rope(vector, vector, 6)


def own_place_wins(vector, rope):
    """No case refutes this one."""
    return all(rope(vector, vector, d) <= vector @ vector for d in range(20))


CHECK = ["check-look-into", "check-refutation"]
FIRST = np.eye(64)[0]
MOST = "Your sentence holds for 100 of 100"
REPLIES = [
    (nearer_wins, FIRST, "Correct."),
    (lambda v, rope: rope(v, v, 100) > 0, np.eye(64)[6], "Correct."),
    (lambda v, rope: ..., ..., "Not answered yet"),
    (nearer_wins, ..., MOST),
    (nearer_wins, 1 + 0 * FIRST, ("holds for your case", "2 of these 64")),
    (own_place_wins, FIRST, ("holds for your case", "a bolder one")),
    (nearer_wins, 0 * FIRST, "not all 0"),
    (nearer_wins, FIRST[:8], "Give 64 finite"),
    (lambda v, rope: rope(v, v, 3), FIRST, "Give True or False."),
    (lambda v, rope: bool(v[0] < 5), 9 * FIRST, "`rope` is not used"),
    (lambda v, rope: rope(v, v[::-1], 9) > 0, FIRST, "claim less"),
    (nearer_wins(FIRST, lambda *_: 0), FIRST, "Does your answer have"),
]


@pytest.mark.parametrize(("sentence", "case", "reply"), REPLIES)
def test_refuting_a_sentence_replies_to_what_people_write(
    rule, sentence, case, reply
):
    check = run_cells(NOTEBOOK, *CHECK, **rule)["check_refutation"]
    assert_replies(lambda pair: check(*pair), [(sentence, case)], reply)


# Facts from outside.


def test_run_is_attention(rule):
    """One layer, word by word, each pair turned as a complex number."""
    x = np.random.default_rng(seed=5).normal(size=(7, 16))
    mask = np.tri(7, dtype=bool)
    frequencies = 10_000 ** (-np.arange(0, 16, 2) / 16)

    def turn(vector, position):
        pairs = vector[0::2] + 1j * vector[1::2]
        return pairs * np.exp(1j * position * frequencies)

    to_query, to_key, to_value = rule["MATRICES"][0]
    for i, row in enumerate(rule["run"](x, np.arange(7), mask, layers=1)):
        seen = np.flatnonzero(mask[i])
        query = turn(x[i] @ to_query, i)
        keys = [turn(x[j] @ to_key, j) for j in seen]
        powers = np.exp([(query @ key.conj()).real / 4 for key in keys])
        expected = x[i] + powers @ (x[seen] @ to_value) / powers.sum()
        np.testing.assert_allclose(row, expected)
