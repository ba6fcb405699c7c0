"""Weights of small trained models, stored in eight bits a number.

`inside.js` holds the model of the figure "inside", and `stranger.js` that of
an exercise in notebook 13. Each is a script, so that a page can bring it, and
its longest line is JSON. `tools/store_models.py` trains and stores both.
"""

import json
import re
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
    script = (files("posenc") / f"{name}.js").read_text("utf-8")
    packed = re.search(r"\[.*\]", script)[0]
    return [unpack(matrix) for matrix in json.loads(packed)]


def weights_script(name: str, weights: Sequence[np.ndarray]) -> str:
    """The script that holds a model's weights, as `load_weights` reads it.

    The script tells figures that wait for it that it is there.
    """
    known_as = f"posenc{name.title()}"
    return (
        "// Weights of a trained model; tools/store_models.py writes them.\n"
        f"globalThis.{known_as} = {json.dumps([pack(w) for w in weights])};\n"
        f'globalThis.dispatchEvent(new Event("{known_as}"));\n'
    )


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
