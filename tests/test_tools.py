"""What trains the stored models; notebooks 05 and 13 test the training."""

import store_models
from conftest import ROOT, run_up_to

from posenc.stored import load_tables, load_weights


def trained_on_prose() -> tuple:
    words, *tables = load_tables()
    return words, tables


def test_what_was_trained_is_stored(monkeypatch, tmp_path):
    """With weights that are stored already, in place of training."""
    names = run_up_to("13_inside", last="train")
    stored = iter(["inside", "stranger"])

    def train(model):
        model.set_weights(load_weights(next(stored)))

    names["train"] = train
    monkeypatch.setattr(store_models, "run_up_to", lambda *_: names)
    monkeypatch.setattr(store_models, "train_on_prose", trained_on_prose)
    monkeypatch.setattr(store_models, "ROOT", tmp_path)
    (tmp_path / "posenc").mkdir()
    monkeypatch.setattr("sys.argv", ["store_models.py"])
    store_models.main()
    for name in ("inside", "stranger", "prose"):
        now = (tmp_path / f"posenc/{name}.json").read_text("utf-8")
        assert now == (ROOT / f"posenc/{name}.json").read_text("utf-8"), name
