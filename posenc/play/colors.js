// Colors of values, and pictures made of them.

import { px } from "./drawing.js";
import { clamp, range } from "./numbers.js";

// A palette as red, green and blue, and the color at a place between two of it.
const palette = (hexes) =>
  hexes
    .split(" ")
    .map((hex) => hex.match(/../g).map((part) => parseInt(part, 16)));
function between(colors, place) {
  const low = Math.min(Math.floor(place), colors.length - 2);
  return colors[low].map(
    (part, k) => part + (colors[low + 1][k] - part) * (place - low),
  );
}

// Blue, white and red from -1 to 1, as in `plot_matrix`.
const RED_BLUE = palette(
  "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
);
const mixed = (value) =>
  between(RED_BLUE, clamp(0, 5 * (value + 1), 10)).map(Math.round);
export const color = (value) => `rgb(${mixed(value)})`;

// From dark to bright, as unsigned values are drawn in the notebooks.
const VIRIDIS = palette(
  "440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725",
);
export const BRIGHTNESS = range(256).map((step) =>
  between(VIRIDIS, (8 * step) / 255),
);

// Rows of values as a picture in the format BMP, a pixel each. A canvas would
// do, but browsers that hide their machine change what is read back from it.
function bitmap(rows) {
  const [width, height] = [rows[0].length, rows.length];
  const rowLength = 4 * Math.ceil((3 * width) / 4);
  const bytes = new Uint8Array(54 + rowLength * height);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  [bytes.length, 0, 54, 40, width, -height].forEach((word, i) =>
    view.setInt32(2 + 4 * i, word, true),
  );
  view.setInt16(26, 1, true);
  view.setInt16(28, 24, true); // bits of a pixel
  rows.forEach((row, y) =>
    row.forEach((value, x) => {
      bytes.set(mixed(value).reverse(), 54 + rowLength * y + 3 * x);
    }),
  );
  return `data:image/bmp;base64,${btoa(String.fromCharCode(...bytes))}`;
}
export const heatmap = (rows, x, y, width, height) =>
  `<image x="${px(x)}" y="${px(y)}" width="${px(width)}"
    height="${px(height)}" preserveAspectRatio="none"
    href="${bitmap(rows)}"/>`;
