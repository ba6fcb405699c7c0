// Numbers: in a circle, within bounds, and as they are written.

const TURN = 2 * Math.PI;
const range = (count, start = 0, step = 1) =>
  Array.from({ length: count }, (_, i) => start + i * step);
const halfTurn = (angle) => angle - TURN * Math.round(angle / TURN);
const clamp = (low, value, high) => Math.min(high, Math.max(low, value));
const formats = range(6).map(
  (digits) =>
    new Intl.NumberFormat("en", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: "min2",
      signDisplay: "negative",
    }),
);
const number = (value, digits = 0) =>
  formats[digits].format(value).replaceAll(",", "\u00a0").replace("-", "\u2212");
const short = (value) => number(value, Number.isInteger(value) ? 0 : 1);
const brief = (value) => (value < 1000 ? number(value) : `${number(value / 1000)}k`);
const dot = (one, two) => one.reduce((sum, x, i) => sum + x * two[i], 0);
const softmax = (scores) => {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
};
