// Colors of values, and pictures made of them.

// A palette as red, green and blue, and the color at a place between two of it.
const palette = (hexes) =>
  hexes.split(" ").map((hex) => hex.match(/../g).map((part) => parseInt(part, 16)));
function between(colors, place) {
  const low = Math.min(Math.floor(place), colors.length - 2);
  return colors[low].map((part, k) => part + (colors[low + 1][k] - part) * (place - low));
}

// Blue, white and red from -1 to 1, as in `plot_matrix`.
const RED_BLUE = palette(
  "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
);
const mixed = (value) => between(RED_BLUE, clamp(0, 5 * (value + 1), 10)).map(Math.round);
const color = (value) => `rgb(${mixed(value)})`;

// From dark to bright, as unsigned values are drawn in the notebooks.
const VIRIDIS = palette("440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725");
const BRIGHTNESS = range(256).map((step) => between(VIRIDIS, (8 * step) / 255).map(Math.round));

// A picture in the format BMP from the red, green and blue of each pixel. A
// canvas would do, but browsers that hide their machine change what is read back
// from it.
const HEADER = 54; // bytes, of which the first 14 are the file's own
function bitmap(width, height, colorOf) {
  const bytes = new Uint8Array(HEADER + 4 * width * height);
  const view = new DataView(bytes.buffer);
  const planes = 1 + (32 << 16); // one plane of 32 bits a pixel
  bytes.set([0x42, 0x4d]);
  [bytes.length, 0, HEADER, HEADER - 14, width, -height, planes].forEach((word, i) =>
    view.setInt32(2 + 4 * i, word, true),
  );
  for (let at = 0; at < width * height; at++) {
    const [red, green, blue] = colorOf(at % width, Math.floor(at / width));
    bytes.set([blue, green, red], HEADER + 4 * at);
  }
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte));
  return `data:image/bmp;base64,${btoa(letters.join(""))}`;
}
const heatmap = (rows, x, y, width, height) =>
  `<image x="${px(x)}" y="${px(y)}" width="${px(width)}"
    height="${px(height)}" preserveAspectRatio="none"
    href="${bitmap(rows[0].length, rows.length, (i, j) => mixed(rows[j][i]))}"/>`;
