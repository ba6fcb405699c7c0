"""Weights of the small models of notebook 13, in eight bits a number.

`inside.json` holds the model of the figure "inside", and `stranger.json` that
of an exercise in notebook 13. `tools/store_models.py` trains and stores both.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
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


def packed_weights(weights: Sequence[np.ndarray]) -> str:
    """A model's weights as `load_weights` reads them."""
    return json.dumps([pack(matrix) for matrix in weights]) + "\n"


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
