"""Draw the moving picture of the README: the hands at 48 positions in a row.

It needs Chromium, Chrome or Edge, as the handouts do.
"""

import io

from handouts import open_browser
from PIL import Image
from posenc_series import commands
from posenc_series.listing import ROOT

from posenc.play import script_of

PICTURE = ROOT / ".github/hands.webp"
PAGE = """<body style="background: white; margin: 8px; width: 640px">
<posenc-play figure="hands" data-position="0"></posenc-play>
<script>{}</script>"""
MOVE = "(figure, position) => figure.move({position})"
TOGETHER = {"duration": 200, "loop": 0, "lossless": True, "method": 6}


def main() -> None:
    """Take a picture at each position, and bind them."""
    frames = []
    with open_browser() as browser:
        page = browser.new_page(device_scale_factor=1.25)
        page.set_content(PAGE.format(script_of(["hands"])))
        figure = page.locator("posenc-play")
        for position in range(48):
            figure.evaluate(MOVE, position)
            png = figure.locator("svg").first.screenshot()
            image = Image.open(io.BytesIO(png)).convert("RGB")
            frames.append(image.quantize(64, dither=Image.Dither.NONE))
    first, *others = frames
    first.save(PICTURE, save_all=True, append_images=others, **TOGETHER)
    print(f"{PICTURE} {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    commands.run(main)
