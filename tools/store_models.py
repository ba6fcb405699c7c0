"""Train the models that are stored with the series, and store them.

`inside` and `stranger` are models of notebook 13, trained by its own cells:
that of the figure to play with, and that of an exercise. `prose` are the two
tables of a model that has read the text of all notebooks and learned to fill
in missing words; notebook 05 looks into them. Run this again after a change
of a model or of its training, and then the tests, since the texts that
describe the models are written for these weights.
"""

import json
import os
import re

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # as the notebooks set it

import keras
import numpy as np
from keras import layers
from posenc_series import commands
from posenc_series.chapters import read_notebook, run_up_to
from posenc_series.listing import NOTEBOOKS, ROOT

from posenc.layers import PositionEmbeddingLayer
from posenc.stored import pack

SEEDS = {"inside": 0, "stranger": 3}
SEQ_LEN, VOCAB_SIZE, D_MODEL, HEADS = 20, 200, 50, 5  # sizes of notebook 05
MISSING, UNKNOWN = 0, 1  # ids
BATCH, STEPS = 64, 6000


def prose_of_all_notebooks() -> list[str]:
    """The words of each text cell, without formulas, code and addresses."""
    left_out = re.compile(r"\$[^$]*\$|`[^`]*`|\]\([^)]*\)")
    return [
        " ".join(re.findall(r"[a-z]+", left_out.sub(" ", cell.source.lower())))
        for notebook in NOTEBOOKS
        for cell in read_notebook(notebook.path).cells
        if cell.cell_type == "markdown"
    ]


def passages(texts: list[str]) -> tuple[list[str], np.ndarray]:
    """The vocabulary, and ids `[passage, position]` of all passages."""
    vectorize = layers.TextVectorization(max_tokens=VOCAB_SIZE)
    vectorize.adapt(texts)
    rows = [np.asarray(vectorize(text), "int32") for text in texts]
    windows = np.lib.stride_tricks.sliding_window_view
    cut = [windows(row, SEQ_LEN) for row in rows if len(row) >= SEQ_LEN]
    words = [str(word) for word in vectorize.get_vocabulary()]
    return words, np.concatenate(cut)


def build_gap_filler() -> keras.Model:
    """One transformer block, with learned words and positions."""
    ids = keras.Input([SEQ_LEN], dtype="int32")
    tables = PositionEmbeddingLayer(
        SEQ_LEN, VOCAB_SIZE, D_MODEL, name="tables"
    )
    x = tables(ids)
    mixed = layers.MultiHeadAttention(HEADS, D_MODEL // HEADS)(x, x)
    x = layers.LayerNormalization()(x + mixed)
    hidden = layers.Dense(2 * D_MODEL, "relu")(x)
    x = layers.LayerNormalization()(x + layers.Dense(D_MODEL)(hidden))
    return keras.Model(ids, layers.Dense(VOCAB_SIZE)(x))


def train_on_prose(
    seed: int = 0, steps: int = STEPS
) -> tuple[list[str], list[np.ndarray]]:
    """Train a model to fill gaps; return the vocabulary and its two tables.

    Of every passage, three words in twenty are missing, on average.
    """
    words, ids = passages(prose_of_all_notebooks())
    keras.utils.set_random_seed(seed)
    rng, model = np.random.default_rng(seed), build_gap_filler()
    ids = ids[rng.integers(len(ids), size=BATCH * steps)]
    missing = rng.uniform(size=ids.shape) < 0.15
    answers = np.where(missing & (ids != UNKNOWN), ids, -1)
    rate = keras.optimizers.schedules.CosineDecay(3e-3, steps)
    loss = keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, ignore_class=-1
    )
    model.compile(keras.optimizers.Adam(rate), loss, steps_per_execution=50)
    model.fit(np.where(missing, MISSING, ids), answers, BATCH, verbose=0)
    tables = model.get_layer("tables")
    return words, [tables.word_table.numpy(), tables.position_table.numpy()]


def main() -> None:
    """Train all, and write weights, words and tables."""
    commands.parser(__doc__).parse_args()
    names, folder = run_up_to("13_inside", "train"), ROOT / "posenc"
    for name, seed in SEEDS.items():
        model = names["Copier"]([names["FREQUENCIES"]] * 2, seed)
        names["train"](model)
        packed = [pack(matrix) for matrix in model.get_weights()]
        (folder / f"{name}.json").write_text(json.dumps(packed) + "\n")
    words, tables = train_on_prose()
    prose = {"words": words, "tables": [pack(table) for table in tables]}
    (folder / "prose.json").write_text(json.dumps(prose) + "\n")


if __name__ == "__main__":
    commands.run(main)
