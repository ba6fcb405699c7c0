"""Read what a function returns, whoever made the tensor."""

import numpy as np


def numbers(made: object) -> np.ndarray:
    """Return a list, an array, a PyTorch or TensorFlow tensor as float64.

    Raises:
        ValueError: If it holds complex numbers, text, or no numbers at all.
    """
    if made is None:
        raise ValueError("it returns None")
    if hasattr(made, "detach"):  # PyTorch; its bfloat16 needs the `double`
        made = made.detach().cpu().double()
    array = np.asarray(made)
    if np.iscomplexobj(array):
        raise ValueError("the numbers are complex")
    if array.dtype.kind in "US":
        raise ValueError("it returns text")
    try:
        return array.astype(np.float64)
    except TypeError:
        kind = type(made).__name__
        raise ValueError(f"it returns no numbers, but: {kind}") from None


def describe_error(error: BaseException) -> str:
    """Name an error and what it says, on one line."""
    said = " ".join(str(error).split())
    kind = type(error).__name__
    return f"{kind}: {said[:200]}" if said else kind
