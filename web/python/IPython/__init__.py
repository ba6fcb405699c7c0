"""What the cells of a page find where IPython would be."""

version_info = (9, 0, 0, "")  # Matplotlib asks for it


def get_ipython() -> None:
    """There is no IPython in a page."""
