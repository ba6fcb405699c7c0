"""Train the two models that are stored with the series, and store them.

Both are models of notebook 13, trained by its own cells: `inside` is the
model of the figure to play with, `stranger` that of an exercise. Run this
again after a change of the model or of its training, and then the tests,
since the texts that describe the two are written for these weights.
"""

import numpy as np
from posenc_series import commands
from posenc_series.chapters import run_up_to
from posenc_series.listing import ROOT

from posenc.stored import load_weights, packed_weights

SEEDS = {"inside": 0, "stranger": 3}
MOST_CHANGED = 0.01  # of the predictions, by storing in fewer bits


def predictions(names: dict, model) -> np.ndarray:
    """What a model predicts at every place of 200 texts."""
    texts, _ = names["make_texts"](200, 32, np.random.default_rng(0))
    return np.array(names["run"](model, texts)[0]).argmax(axis=-1)


def store(names: dict, name: str, seed: int) -> None:
    """Train a model, and write its weights.

    Raises:
        CommandError: If rounding changes too many predictions.
    """
    model = names["Copier"]([names["FREQUENCIES"]] * 2, seed)
    names["train"](model)
    exact = predictions(names, model)
    file = ROOT / f"posenc/{name}.json"
    file.write_text(packed_weights(model.get_weights()), "utf-8")
    model.set_weights(load_weights(name))
    changed = np.mean(predictions(names, model) != exact)
    size = file.stat().st_size / 1000
    print(f"{file.name}: {size:.0f} kB, {changed:.2%} predicted differently")
    if changed > MOST_CHANGED:
        raise commands.CommandError("eight bits are not enough")


def main() -> None:
    """Train and store both."""
    commands.parser(__doc__).parse_args()
    names = run_up_to("13_inside", last="train")
    for name, seed in SEEDS.items():
        store(names, name, seed)


if __name__ == "__main__":
    commands.run(main)
