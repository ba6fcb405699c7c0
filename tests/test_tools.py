"""Commands for authors: that each starts, and what trains stored models.

Notebooks 05 and 13 test the training.
"""

import runpy

import numpy as np
import pytest
from conftest import ROOT, run_up_to

from posenc.stored import load_tables, load_weights, pack, unpack


def test_what_was_trained_is_stored(monkeypatch, tmp_path):
    """With weights that are stored already, in place of training."""
    import store_models  # and with it TensorFlow

    names = run_up_to("13_inside", last="train")
    stored = iter(["inside", "stranger"])

    def train(model):
        model.set_weights(load_weights(next(stored)))

    names["train"] = train
    monkeypatch.setattr(store_models, "run_up_to", lambda *_: names)
    words, *tables = load_tables()
    prose = words, tables
    monkeypatch.setattr(store_models, "train_on_prose", lambda: prose)
    monkeypatch.setattr(store_models, "ROOT", tmp_path)
    (tmp_path / "posenc").mkdir()
    monkeypatch.setattr("sys.argv", ["store_models.py"])
    store_models.main()
    for name in ("inside", "stranger", "prose"):
        now = (tmp_path / f"posenc/{name}.json").read_text("utf-8")
        assert now == (ROOT / f"posenc/{name}.json").read_text("utf-8"), name


def test_rounding_keeps_each_number_within_half_a_step():
    """Weights are stored in eight bits."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(7, 9)) * np.logspace(-6, 6, 7)[:, np.newaxis]
    packed = pack(matrix)
    steps = np.array(packed["scales"])[:, np.newaxis]
    off = np.abs(unpack(packed) - matrix) / steps
    assert off.max() < 0.6  # scales are rounded, too


COMMANDS = """
tools/renew_series.py tools/store_models.py tools/store_notebooks.py
tools/posenc_series/learners.py workshop/handouts.py workshop/serve.py
workshop/slides.py
"""


@pytest.mark.parametrize("command", COMMANDS.split())
def test_a_command_starts_and_says_what_it_does(command, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [command, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / command), run_name="__main__")
    assert ended.value.code == 0
    assert "usage: " in capsys.readouterr().out
