// Numbers: in a circle, within bounds, and as they are written.

const TURN = 2 * Math.PI;
const range = (count, start = 0, step = 1) =>
  Array.from({ length: count }, (_, i) => start + i * step);
const halfTurn = (angle) => angle - TURN * Math.round(angle / TURN);
const clamp = (low, value, high) => Math.min(high, Math.max(low, value));
const formats = range(6).map((digits) => {
  const fixed = {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  };
  const plain = { useGrouping: "min2", signDisplay: "negative" };
  return new Intl.NumberFormat("en", { ...fixed, ...plain });
});
const number = (value, digits = 0) =>
  formats[digits].format(value).replaceAll(",", "\u00a0").replace("-", "\u2212");
const short = (value) => number(value, Number.isInteger(value) ? 0 : 1);
const brief = (value) => (value < 1000 ? number(value) : `${number(value / 1000)}k`);
