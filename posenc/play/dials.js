// Clock hands on their dials.

const tipOf = ({ x, y, radius }, angle) => [
  x + radius * Math.cos(angle),
  y - radius * Math.sin(angle),
];
const hand = (dial, angle, tone = "") => [
  line(dial.x, dial.y, ...tipOf(dial, angle), `hand ${tone}`),
  circle(...tipOf(dial, angle), 3.5, `tip ${tone}`),
];
function sector(dial, start, angle, tone) {
  const arc = range(33).map((i) => tipOf(dial, start + (i / 32) * angle));
  return path([[dial.x, dial.y], ...arc], tone);
}

// By how many radians a drag has turned a hand, wherever it took hold.
function turned(dial, drag) {
  const { x, y } = drag.pointer;
  const angle = Math.atan2(dial.y - y, x - dial.x);
  drag.turned ??= 0;
  drag.turned += halfTurn(angle - (drag.angle ?? angle));
  drag.angle = angle;
  return drag.turned;
}
