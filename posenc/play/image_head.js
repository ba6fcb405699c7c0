// A head that looks at the patches of an image, as in notebook 14.

const PATCH_PAIRS = 16; // 32 columns, as in notebook 14
const TRAINED_WIDTH = 8; // where patch numbers have learned what is below
const LOOKS_AT_TWO = 2; // or at itself, or at one below

// Waves: radians per patch number or, for each pair, per row down and per column
// to the right.
const geometric = (count, base) => range(count).map((i) => base ** (-i / count));
const numberWaves = (base) => geometric(PATCH_PAIRS, base).map((w) => [w]);
const axialWaves = (base) => {
  const frequencies = geometric(PATCH_PAIRS / 2, base);
  return [...frequencies.map((w) => [w, 0]), ...frequencies.map((w) => [0, w])];
};
const mixedWaves = (base) =>
  geometric(PATCH_PAIRS, base).map((w, i) => [
    w * Math.sin(0.618 * Math.PI * i),
    w * Math.cos(0.618 * Math.PI * i),
  ]);
const MAKERS = [numberWaves, axialWaves, axialWaves, mixedWaves];

// Patch numbers have offsets [number], and the others [down, right].
const cosinesAndSines = (offset, waves) =>
  waves.flatMap((wave) => {
    const angle = wave.reduce((sum, w, i) => sum + w * offset[i], 0);
    return [Math.cos(angle), Math.sin(angle)];
  });
const dot = (one, two) => one.reduce((sum, x, i) => sum + x * two[i], 0);
const softmax = (scores) => {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
};

// A head that is to look at two offsets with half of its weight each, found by
// gradient descent with steps that adapt, as in notebook 14.
function trainedQuery(rows, wanted, steps = 400) {
  let found = rows[0].map(() => 0);
  let [trial, slope, step, lowest] = [found, found, 1, Infinity];
  for (let k = 0; k < steps; k++) {
    const weights = softmax(rows.map((row) => dot(row, trial)));
    const loss = -wanted.reduce((sum, i) => sum + Math.log(weights[i]), 0);
    if (loss < lowest) {
      [found, lowest, step] = [trial, loss, 1.2 * step];
      slope = found.map(() => 0);
      rows.forEach((row, i) => {
        const error = weights[i] - (wanted.includes(i) ? 0.5 : 0);
        row.forEach((x, j) => (slope[j] += error * x));
      });
    } else {
      step /= 2;
    }
    trial = found.map((x, j) => x - step * slope[j]);
  }
  return found;
}

const trained = new Map(); // queries, by encoding and base
function queryRightAndBelow(isNumbered, waves, name) {
  if (trained.has(name)) return trained.get(name);
  const around = range(31).map((i) => i - 15);
  const offsets = isNumbered
    ? range(127).map((i) => [i - 63])
    : around.flatMap((down) => around.map((right) => [down, right]));
  const goals = isNumbered
    ? [[1], [TRAINED_WIDTH]]
    : [
        [0, 1],
        [1, 0],
      ];
  const rows = offsets.map((offset) => cosinesAndSines(offset, waves));
  const wanted = goals.map((goal) => offsets.findIndex((offset) => `${offset}` === `${goal}`));
  trained.set(name, trainedQuery(rows, wanted));
  return trained.get(name);
}

// What a head at one patch gives each of all patches: its scores or, where it
// looks at two places, its weights. `places` are rows down and columns to the
// right of the patch, in an image of so many columns.
function valuesOf(places, columns, { encoding, below, base }) {
  const isNumbered = encoding === 0;
  const waves = MAKERS[encoding](base);
  const offsets = isNumbered ? places.map(([down, right]) => [down * columns + right]) : places;
  const scores = (query) => offsets.map((offset) => dot(query, cosinesAndSines(offset, waves)));
  if (below === LOOKS_AT_TWO) {
    const name = `${MAKERS[encoding].name} ${base}`;
    return softmax(scores(queryRightAndBelow(isNumbered, waves, name)));
  }
  const ahead = isNumbered ? [TRAINED_WIDTH] : [1, 0]; // one below
  const goal = ahead.map((step) => below * step);
  const query = cosinesAndSines(goal, waves);
  return scores(query.map((x) => x / PATCH_PAIRS));
}
