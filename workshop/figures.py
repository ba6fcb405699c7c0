"""Write the figures of the notebooks as PNG files, to use elsewhere.

A file is named by its notebook and cell, such as 03_figure-pair.png; its alt
text is stored in it. Under the project's license, name the source.
"""

import base64
import io
from collections.abc import Sequence
from pathlib import Path

import markup
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from posenc_series.cells import tags
from posenc_series.commands import run


def write_figures(path: Path, folder: Path) -> int:
    """Write the figures of a notebook, except those of solutions."""
    number = 0
    for cell in markup.cells_of(path):
        if "solution" in tags(cell):
            continue
        for output in cell.get("outputs", ()):
            if png := output.get("data", {}).get("image/png"):
                about = PngInfo()
                alt = output.metadata["image/png"]["alt"]
                about.add_itxt("Description", alt)
                image = Image.open(io.BytesIO(base64.b64decode(png)))
                file = folder / f"{path.stem[:2]}_{cell.id}.png"
                image.save(file, pnginfo=about, optimize=True)
                number += 1
    return number


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the figures of all notebooks, or of those that are named."""
    args = markup.command(__doc__, "handouts/figures").parse_args(arguments)
    args.output.mkdir(parents=True, exist_ok=True)
    number = sum(write_figures(path, args.output) for path in args.paths)
    print(f"{number} figures in {args.output}")


if __name__ == "__main__":
    run(main)
