"""What no stored figure shows of the drawing helpers."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from posenc_helpers import plot_matrix


def test_a_direction_that_there_is_not_is_named():
    figure, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"^positions_along .*'z'"):
        plot_matrix(np.eye(3), ax, positions_along="z")
    plt.close(figure)
