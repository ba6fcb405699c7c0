"""The backend of Matplotlib in a page: `plt.show()` displays each figure."""

from IPython.display import show_open_figures as show
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

__all__ = ["FigureCanvas", "show"]
