"""Commands for authors that have no test file of their own."""

import benchmark
import numpy as np
import pytest
import store_models
from posenc_series import chapters

from posenc.stored import load_tables, load_weights

# Speed. Nothing is timed here: each side runs once.


def test_tables_that_are_compared_for_speed_are_equal(command, monkeypatch):
    def ratio(theirs, ours, rounds):
        if ours.args == (100, 512) and theirs.func is not benchmark.numpy_full:
            np.testing.assert_allclose(np.squeeze(theirs()), ours(), atol=1e-4)
        return 7

    monkeypatch.setattr(benchmark, "ratio", ratio)
    done = command(benchmark, "encoding")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" 7.00 times\n") == 2 * 4


def test_layers_that_are_compared_for_speed_return_the_same(
    command, monkeypatch
):
    def ratio(theirs, ours):
        one, other = np.asarray(theirs()), np.asarray(ours())
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        return 7

    monkeypatch.setattr(benchmark, "ratio", ratio)
    done = command(benchmark, "layers")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" 7.00 times\n") == 2 * 2


@pytest.mark.parametrize("what", ["encoding", "layers"])
def test_a_speed_that_is_not_what_it_must_be_is_an_error(
    command, monkeypatch, what
):
    monkeypatch.setattr(benchmark, "ratio", lambda *sides: 0.5)
    done = command(benchmark, what)
    assert done.returncode == 1
    assert "times as fast at least" in done.stderr


# Stored models. What trains them is tested with their notebooks.


@pytest.fixture(scope="module")
def notebook_13() -> dict:
    return chapters.run_up_to("13_inside", last="train")


def trained_on_prose() -> tuple:
    words, *tables = load_tables()
    return words, tables


@pytest.mark.parametrize(
    ("trained", "said"), [("inside", ""), ("stranger", "eight bits are not")]
)
def test_what_was_trained_is_stored(
    command, monkeypatch, notebook_13, tmp_path, trained, said
):
    """What is read again has to predict what was trained."""

    def train(model):
        model.set_weights(load_weights(trained))

    names = notebook_13 | {"train": train}
    monkeypatch.setattr(store_models, "run_up_to", lambda name, last: names)
    monkeypatch.setattr(store_models, "SEEDS", {"inside": 0})
    monkeypatch.setattr(store_models, "train_on_prose", trained_on_prose)
    monkeypatch.setattr(store_models, "ROOT", tmp_path)
    (tmp_path / "posenc").mkdir()
    done = command(store_models)
    assert said in done.stderr
    assert bool(done.returncode) == bool(said)
    stored = {"inside": trained} | ({} if said else {"prose": "prose"})
    for name, file in stored.items():
        now = (tmp_path / f"posenc/{name}.json").read_text("utf-8")
        assert now == (chapters.ROOT / f"posenc/{file}.json").read_text()


def test_a_cell_that_is_gone_is_named():
    with pytest.raises(chapters.CommandError, match="13_inside has no cell x"):
        chapters.run_up_to("13_inside", last="x")
