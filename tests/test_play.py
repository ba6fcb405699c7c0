"""Figures to play with: how a notebook calls and stores them, and numbers."""

import re

import pytest

import posenc_helpers
from posenc_helpers import FIGURES, play


@pytest.fixture
def shown(monkeypatch):
    """A function that calls `play`, and returns the HTML displayed."""

    def html(name: str, **settings: float) -> str:
        displayed = []
        keep = lambda data, raw: displayed.append(data)  # noqa: E731
        monkeypatch.setattr(posenc_helpers, "display", keep)
        play(name, **settings)
        return displayed[0]["text/html"]

    return html


# The call.


def test_an_element_and_the_script(shown):
    html = shown("hands", position=33)
    element, script = html.split("<script>")
    assert element.startswith(
        '<posenc-play figure="hands" data-position="33">'
    )
    assert element.endswith("</posenc-play>")
    assert script == posenc_helpers.PLAY_SCRIPT.read_text() + "</script>"


@pytest.mark.parametrize("name", FIGURES)
def test_settings_that_are_left_out_begin_as_listed(shown, name):
    starts = {
        setting: f"{known[0]}" for setting, known in FIGURES[name].items()
    }
    element = shown(name).partition(">")[0]
    assert dict(re.findall(r'data-(\w+)="(.+?)"', element)) == starts


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("clock", {}, ValueError, "no figure 'clock'.*apart, hands, pair"),
        ("pair", {"k": 3}, TypeError, "no setting 'k'; it has position, off"),
        ("hands", {"position": 64}, ValueError, "between 0 and 63, not 64"),
        ("hands", {"position": 7.5}, TypeError, "an integer, not 7.5"),
        ("apart", {"frequency": "1"}, TypeError, "a number, not '1'"),
    ],
)
def test_a_call_that_cannot_be_meant_is_an_error(name, settings, error, words):
    with pytest.raises(error, match=words):
        play(name, **settings)


def test_without_the_script_the_picture_stands(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(posenc_helpers, "PLAY_SCRIPT", tmp_path / "none.js")
    play("hands")
    said = "The figure stands still: none.js is missing.\n"
    assert capsys.readouterr().out == said
