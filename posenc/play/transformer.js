// A trained transformer of two layers, the one that notebook 13 builds. Its
// weights are INSIDE, from posenc/inside.json. A matrix is a list of rows.

const HEADS = 4; // in each layer
const PAIRS = angularFrequencies(16); // of a head

// A matrix that `pack` of posenc/stored.py has rounded.
function unpack({ shape: [rows, columns], scales, steps }) {
  const bytes = Uint8Array.from(atob(steps), (c) => c.charCodeAt(0));
  const values = Float64Array.from(
    new Int8Array(bytes.buffer),
    (step, i) => step * scales[Math.floor(i / columns)],
  );
  return range(rows).map((row) => values.subarray(row * columns, (row + 1) * columns));
}
const MODEL = INSIDE.map(unpack);
// Of each layer: query, key, value, mix.
const WEIGHTS_OF_LAYERS = [MODEL.slice(1, 5), MODEL.slice(5, 9)];

const multiply = (rows, matrix) =>
  rows.map((row) => {
    const product = new Float64Array(matrix[0].length);
    row.forEach((factor, k) => {
      matrix[k].forEach((value, j) => (product[j] += factor * value));
    });
    return product;
  });
const normalized = (rows) =>
  rows.map((row) => {
    const root = Math.sqrt(dot(row, row) / row.length + 1e-6);
    return row.map((x) => x / root);
  });
// RoPE in the half layout, on all heads.
function rotated(rows, frequencies) {
  const half = frequencies.length;
  return rows.map((row, position) =>
    row.map((x, k) => {
      const angle = position * frequencies[k % half];
      const other = k % (2 * half) < half ? -row[k + half] : row[k - half];
      return x * Math.cos(angle) + other * Math.sin(angle);
    }),
  );
}

// The ratings of letters, and the maps of all heads: for each letter, weights on
// itself and on those before. Of `frequencies` there are 8 for each layer, and
// of `heads` 4, which are 0 for a head that is off.
function run(letters, frequencies, heads) {
  const x = letters.map((letter) => Float64Array.from(MODEL[0][letter]));
  const maps = [];
  WEIGHTS_OF_LAYERS.forEach(([forQuery, forKey, forValue, mix], layer) => {
    const input = normalized(x);
    const queries = rotated(multiply(input, forQuery), frequencies[layer]);
    const keys = rotated(multiply(input, forKey), frequencies[layer]);
    const values = multiply(input, forValue);
    const sums = x.map((row) => new Float64Array(row.length));
    range(HEADS).forEach((head) => {
      const columns = x[0].length / HEADS;
      const part = (row) => row.subarray(head * columns, (head + 1) * columns);
      const score = (query, key) => dot(part(query), part(key)) / Math.sqrt(columns);
      const weights = queries.map((query, p) =>
        softmax(keys.slice(0, p + 1).map((key) => score(query, key))),
      );
      maps.push(weights);
      if (!heads[layer][head]) return;
      weights.forEach((row, p) => {
        const sum = part(sums[p]);
        row.forEach((weight, r) => {
          part(values[r]).forEach((value, k) => (sum[k] += weight * value));
        });
      });
    });
    multiply(sums, mix).forEach((added, p) => {
      added.forEach((value, k) => (x[p][k] += value));
    });
  });
  return { ratings: multiply(normalized(x), MODEL.at(-1)), maps };
}
