"""Write the figures of the notebooks as PNG files, to use elsewhere.

A file is named by its notebook and cell, such as 03_figure-pair.png; its alt
text is stored in it. Under the project's license, name the source.
"""

import base64
import io
from collections.abc import Sequence
from pathlib import Path

from handouts import notebook
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from posenc_series.cells import tags
from posenc_series.chapters import alt_texts, read_notebook
from posenc_series.commands import parser, run
from posenc_series.listing import NOTEBOOKS


def write_figures(path: Path, folder: Path) -> list[Path]:
    """Write the figures of a notebook, but those of solutions."""
    files = []
    for cell in read_notebook(path).cells:
        texts = iter(alt_texts(cell, path))
        for output in cell.get("outputs", ()):
            picture = output.get("data", {}).get("image/png")
            if not picture or "solution" in tags(cell):
                continue
            about = PngInfo()
            about.add_itxt("Description", next(texts))
            file = folder / f"{path.stem[:2]}_{cell.id}.png"
            image = Image.open(io.BytesIO(base64.b64decode(picture)))
            image.save(file, pnginfo=about, optimize=True)
            files.append(file)
    return files


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the figures of all notebooks, or of those that are named."""
    command = parser(__doc__)
    command.add_argument(
        "paths",
        nargs="*",
        type=notebook,
        default=[each.path for each in NOTEBOOKS],
        metavar="NOTEBOOK",
        help="the notebooks to use, by file or number (default: all)",
    )
    command.add_argument(
        "--output", type=Path, default=Path("handouts/figures")
    )
    args = command.parse_args(arguments)
    args.output.mkdir(parents=True, exist_ok=True)
    files = [
        f for path in args.paths for f in write_figures(path, args.output)
    ]
    print(f"{len(files)} figures in {args.output}")


if __name__ == "__main__":
    run(main)
