"""Pictures of hands that turn in a circle (notebooks 00 and 01)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes


def plot_hand(
    angle: float, ax: Axes, name: str = "", color: str = "k"
) -> Axes:
    """Draw a hand as an arrow from the center, with its name at the tip.

    Args:
        angle: How far the hand has turned, in radians: counterclockwise,
            from where it points right.
        ax: The axes to draw into.
        name: What to write at the tip.
        color: Of the arrow and its name.
    """
    x, y = np.cos(angle), np.sin(angle)
    arrow = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "color": color}
    ax.annotate("", (x, y), (0, 0), arrowprops=arrow)
    side = "left" if x > 0 else "right"
    ax.text(1.1 * x, 1.2 * y, name, ha=side, va="center", color=color)
    return ax


def plot_clock(angle: float, ax: Axes) -> Axes:
    """Draw a hand in its circle, its sine upright and its cosine across.

    Args:
        angle: How far the hand has turned, as for `plot_hand`.
        ax: The axes to draw into.
    """
    x, y = np.cos(angle), np.sin(angle)
    ax.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.7"))
    line = {"linewidth": 3, "solid_capstyle": "butt"}
    ax.plot([x, x], [0, y], "C0", label="sine", **line)
    ax.plot([0, x], [0, 0], "C1--", label="cosine", **line)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    ax.set(xticks=[], yticks=[], frame_on=False)
    return plot_hand(angle, ax)
