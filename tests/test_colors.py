"""The series' colors stay apart for readers who see fewer of them."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from posenc_helpers import use_series_style

# Machado, Oliveira and Fernandes 2009, "A physiologically-based model for
# simulation of color vision deficiency", severity 1.0, on linear RGB.
SEEN_WITH = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# sRGB to CIE XYZ (IEC 61966-2-1), and the D65 white.
TO_XYZ = np.array(
    [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ]
)
WHITE = np.array([0.9505, 1.0, 1.089])
CLEARLY_APART = 15  # in CIELAB; 2.3 is a just noticeable difference


def seen(color, simulation: str) -> np.ndarray:
    """CIELAB coordinates of a color as seen with a deficiency."""
    rgb = np.array(to_rgb(color))
    linear = np.where(
        rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4
    )
    linear = np.clip(np.array(SEEN_WITH[simulation]) @ linear, 0, 1)
    ratio = TO_XYZ @ linear / WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 4 / 29)
    return np.array(
        [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
    )


def closest(colors, simulation: str) -> float:
    lab = [seen(color, simulation) for color in colors]
    return min(np.linalg.norm(a - b) for a, b in combinations(lab, 2))


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        use_series_style()
        yield


@pytest.mark.parametrize("simulation", SEEN_WITH)
def test_line_colors_stay_apart(simulation):
    """The first six of the cycle; no figure has more categories."""
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"][:6]
    assert closest(cycle, simulation) > CLEARLY_APART


@pytest.mark.parametrize("simulation", SEEN_WITH)
@pytest.mark.parametrize("name", ["RdBu_r", "viridis"])
def test_ends_and_middle_of_the_color_maps_stay_apart(name, simulation):
    ends = plt.get_cmap(name)([0.05, 0.5, 0.95])[:, :3]
    assert closest(ends, simulation) > CLEARLY_APART


def test_a_pair_that_is_known_to_fail_fails():
    red, green = (0.8, 0.2, 0.1), (0.45, 0.42, 0.1)
    assert closest([red, green], "protanopia") < CLEARLY_APART
