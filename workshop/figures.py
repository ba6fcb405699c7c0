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
from posenc_series.chapters import check_sections
from posenc_series.commands import run


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the figures of notebooks, except those of solutions."""
    command = markup.command(__doc__, "handouts/figures")
    args = command.parse_args(arguments)
    check_sections(args.paths, args.sections)
    args.output.mkdir(parents=True, exist_ok=True)
    for path in args.paths:
        for cell in markup.cells_of(path, args.sections):
            if "solution" not in tags(cell):
                for output in cell.get("outputs", ()):
                    file = args.output / f"{path.stem[:2]}_{cell.id}.png"
                    _write(output, file)


def _write(output: dict, file: Path) -> None:
    """Write the picture of an output, if it has one."""
    if png := output.get("data", {}).get("image/png"):
        about = PngInfo()
        about.add_itxt("Description", output["metadata"]["image/png"]["alt"])
        image = Image.open(io.BytesIO(base64.b64decode(png)))
        image.save(file, pnginfo=about, optimize=True)
        print(file)


if __name__ == "__main__":
    run(main)
