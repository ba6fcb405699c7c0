"""Weights of small trained models, in eight bits a number.

`inside.json` holds the model of the figure "inside", `stranger.json` that of
an exercise in notebook 13, and `prose.json` the two tables that notebook 05
looks into. `tools/store_models.py` trains and stores all three.
"""

import json
from base64 import b64decode, b64encode
from importlib.resources import files

import numpy as np

LARGEST = 127  # of a signed byte


def load_weights(name: str) -> list[np.ndarray]:
    """Read the weights of a stored model.

    Args:
        name: Of the file in `posenc/`, without its ending.

    Returns:
        float32 matrices, in the order of Keras's `get_weights`.
    """
    packed = (files("posenc") / f"{name}.json").read_text("utf-8")
    return [unpack(matrix) for matrix in json.loads(packed)]


def load_tables() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read the words and both tables of the model that has read our prose.

    Returns:
        The vocabulary, its word vectors `[words, d_model]`, and the position
        vectors `[positions, d_model]`.
    """
    packed = json.loads((files("posenc") / "prose.json").read_text("utf-8"))
    word_table, position_table = map(unpack, packed["tables"])
    return packed["words"], word_table, position_table


def pack(matrix: np.ndarray) -> dict:
    """Round a matrix to 8 bits a number, with a scale for each row.

    Args:
        matrix: Numbers of shape `[rows, columns]`, no row of them all 0.

    Returns:
        The shape, the scales, and the bytes as base64 text: what JSON can
        hold, and a script can read.
    """
    scales = np.abs(matrix).max(axis=1) / LARGEST
    scales = np.array([float(f"{scale:.4g}") for scale in scales])
    steps = np.rint(matrix / scales[:, np.newaxis])
    steps = np.clip(steps, -LARGEST, LARGEST).astype(np.int8)
    return {
        "shape": list(matrix.shape),
        "scales": scales.tolist(),
        "steps": b64encode(steps.tobytes()).decode(),
    }


def unpack(packed: dict) -> np.ndarray:
    """The matrix that `pack` has rounded."""
    steps = np.frombuffer(b64decode(packed["steps"]), np.int8)
    scales = np.array(packed["scales"])[:, np.newaxis]
    return np.float32(steps.reshape(packed["shape"]) * scales)
