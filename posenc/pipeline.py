"""The picture of a sentence on its way into attention."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from posenc_helpers import plot_matrix, position_encoding


def plot_pipeline(
    words: Sequence[str],
    ids: Sequence[int],
    embeddings: np.ndarray,
    axes: Sequence[Axes],
) -> Sequence[Axes]:
    """Draw the way of a sentence into attention.

    Each word has an id, each id an embedding; a position vector is added to
    each embedding, and the sums go into attention.

    Args:
        words: The tokens of the sentence, in order.
        ids: Their ids, one for each word.
        embeddings: Their vectors, `[words, d_model]`.
        axes: Three axes, side by side.
    """
    vectors = position_encoding(*np.shape(embeddings))
    steps = {
        "Embeddings": (embeddings, "+"),
        "Position vectors": (vectors, "="),
        "Sums": (embeddings + vectors, "\u2192"),
    }
    largest = np.abs(embeddings + vectors).max()
    middle = {"ha": "center", "va": "center"}
    for ax, (title, (matrix, sign)) in zip(axes, steps.items(), strict=True):
        plot_matrix(matrix, ax, limits=(-largest, largest), colorbar=False)
        ax.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")
        ax.spines[:].set_visible(False)
        ax.text(1.12, 0.5, sign, size=20, transform=ax.transAxes, **middle)
    labels = [
        f"{word}  \u2192  id {number}"
        for word, number in zip(words, ids, strict=True)
    ]
    axes[0].set(yticks=range(len(words)), yticklabels=labels)
    axes[1].set(yticks=range(len(words)), ylabel="Position")
    box = {
        "boxstyle": "round,pad=0.6",
        "facecolor": "0.92",
        "edgecolor": "0.5",
    }
    place = {"transform": axes[2].transAxes, "rotation": 90, "bbox": box}
    axes[2].text(1.32, 0.5, "attention", **middle, **place)
    return axes
