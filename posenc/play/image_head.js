// A head that looks at the patches of an image, as in notebook 14.

const PATCH_PAIRS = 16; // 32 columns, as in notebook 14
const TRAINED_WIDTH = 8; // where patch numbers have learned what is below
const LOOKS_AT_TWO = 2; // or at itself, or at one below

// Waves: for each pair, radians per row down and per column to the right. Numbers
// count on from row to row, so that a step down is a whole row of them.
const geometric = (count, base) => range(count).map((i) => base ** (-i / count));
const numberWaves = (base, columns) => geometric(PATCH_PAIRS, base).map((w) => [w * columns, w]);
const axialWaves = (base) => {
  const frequencies = geometric(PATCH_PAIRS / 2, base);
  return [...frequencies.map((w) => [w, 0]), ...frequencies.map((w) => [0, w])];
};
const mixedWaves = (base) =>
  geometric(PATCH_PAIRS, base).map((w, i) => [
    w * Math.sin(0.618 * Math.PI * i),
    w * Math.cos(0.618 * Math.PI * i),
  ]);
const WAVES = [numberWaves, axialWaves, axialWaves, mixedWaves];

const cosinesAndSines = ([down, right], waves) =>
  waves.flatMap(([perRow, perColumn]) => {
    const angle = down * perRow + right * perColumn;
    return [Math.cos(angle), Math.sin(angle)];
  });
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
function queryRightAndBelow(encoding, base, waves) {
  const name = `${encoding} ${base}`;
  if (trained.has(name)) return trained.get(name);
  const around = range(31, -15);
  // A number beyond the end of a row is that of a patch in the next one.
  const across = encoding === 0 ? range(TRAINED_WIDTH) : around;
  const offsets = around.flatMap((down) => across.map((right) => [down, right]));
  const rows = offsets.map((offset) => cosinesAndSines(offset, waves));
  const wanted = ["0,1", "1,0"].map((goal) => offsets.findIndex((offset) => `${offset}` === goal));
  trained.set(name, trainedQuery(rows, wanted));
  return trained.get(name);
}

// What a head at one patch gives each of all patches: its scores or, where it
// looks at two places, its weights. `places` are rows down and columns to the
// right of the patch, in an image of so many columns.
function valuesOf(places, columns, { encoding, below, base }) {
  const waves = WAVES[encoding](base, columns);
  const inTraining = WAVES[encoding](base, TRAINED_WIDTH);
  const scores = (query) => places.map((place) => dot(query, cosinesAndSines(place, waves)));
  if (below === LOOKS_AT_TWO)
    return softmax(scores(queryRightAndBelow(encoding, base, inTraining)));
  return scores(cosinesAndSines([below, 0], inTraining).map((x) => x / PATCH_PAIRS));
}
