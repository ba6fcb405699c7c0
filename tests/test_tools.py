"""The command that trains stored models, and how it stores them.

Notebooks 05 and 13 test the training.
"""

import numpy as np
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
