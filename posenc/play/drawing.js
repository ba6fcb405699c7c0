// Markup of SVG. `tone` is the class that colors a thing.

const all = (...markup) => markup.flat(Infinity).join("");
const px = (value) => +value.toFixed(2);
const path = (points, tone) =>
  `<path class="${tone}" d="M${points.map((p) => p.map(px)).join("L")}"/>`;
const line = (x1, y1, x2, y2, tone) =>
  `<path class="${tone}" d="M${px(x1)},${px(y1)}L${px(x2)},${px(y2)}"/>`;
const circle = (x, y, radius, tone) =>
  `<circle class="${tone}" cx="${px(x)}" cy="${px(y)}" r="${px(radius)}"/>`;
const box = (x, y, width, height, tone, more = "") =>
  `<rect class="${tone}" x="${px(x)}" y="${px(y)}" width="${px(width)}"
    height="${px(height)}" ${more}/>`;
const text = (x, y, words, tone = "") =>
  `<text class="${tone}" x="${px(x)}" y="${px(y)}">${words}</text>`;
// What can be dragged: a grip is held by a finger, an area lets it scroll.
const grip = (name, ...inside) => `<g class="grip" data-drag="${name}">${all(inside)}</g>`;
const area = (name, ...inside) => `<g class="area" data-drag="${name}">${all(inside)}</g>`;
const knob = (x, y, tone) => circle(x, y, 22, "room") + circle(x, y, 8, `knob ${tone}`);

// Numbers to pixels, and `back`; `near` is the next whole number in the range.
function scale([from, to], [start, end]) {
  const pixels = (v) => start + ((v - from) / (to - from)) * (end - start);
  const back = (p) => from + ((p - start) / (end - start)) * (to - from);
  const near = (p) => clamp(Math.min(from, to), Math.round(back(p)), Math.max(from, to));
  const middle = (start + end) / 2;
  return Object.assign(pixels, { start, end, middle, back, near });
}

const axes = (X, Y, { xTicks, xLabel, yTicks, title = "" }) => [
  yTicks.map((v) => line(X.start, Y(v), X.end, Y(v), "grid")),
  yTicks.map((v) => text(X.start - 8, Y(v) + 4, short(v), "end soft")),
  line(X.start, Y.start, X.end, Y.start, "tick"),
  xTicks.map((v) => line(X(v), Y.start, X(v), Y.start + 4, "tick")),
  xTicks.map((v) => text(X(v), Y.start + 18, number(v), "middle soft")),
  text(X.middle, Y.start + 36, xLabel, "middle soft"),
  text(X.start, 12, title),
];
const curve = (X, Y, xs, valueAt, tone) =>
  path(
    xs.map((x) => [X(x), Y(valueAt(x))]),
    tone,
  );
