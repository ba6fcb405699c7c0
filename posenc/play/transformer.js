// A trained transformer of two layers, the one that notebook 13 builds. Its
// weights are INSIDE, from posenc/inside.json.

const HEADS = 4; // in each layer
const PAIRS = angularFrequencies(16); // of a head

// A matrix that `pack` of posenc/stored.py has rounded.
function unpack({ shape: [rows, columns], scales, steps }) {
  const bytes = Uint8Array.from(atob(steps), (c) => c.charCodeAt(0));
  const values = Float64Array.from(
    new Int8Array(bytes.buffer),
    (step, i) => step * scales[Math.floor(i / columns)],
  );
  return { rows, columns, values };
}
let unpacked = null; // until it is needed
function model() {
  if (unpacked) return unpacked;
  const all = INSIDE.map(unpack);
  const [letters, rating] = [all[0], all.at(-1)];
  // Of each layer: query, key, value, mix.
  unpacked = { letters, layers: [all.slice(1, 5), all.slice(5, 9)], rating };
  return unpacked;
}

function multiply(x, { rows, columns, values }) {
  const count = x.length / rows;
  const product = new Float64Array(count * columns);
  for (let p = 0; p < count; p++) {
    for (let k = 0; k < rows; k++) {
      const factor = x[p * rows + k];
      const [from, to] = [k * columns, p * columns];
      for (let j = 0; j < columns; j++) {
        product[to + j] += factor * values[from + j];
      }
    }
  }
  return product;
}
function normalized(x, width) {
  const result = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    let squares = 0;
    for (let k = start; k < start + width; k++) squares += x[k] * x[k];
    const root = Math.sqrt(squares / width + 1e-6);
    for (let k = start; k < start + width; k++) result[k] = x[k] / root;
  }
  return result;
}
// RoPE in the half layout, in place, on all heads.
function turnByPosition(x, width, frequencies) {
  const half = frequencies.length;
  for (let p = 0; p < x.length / width; p++) {
    for (let i = 0; i < half; i++) {
      const cos = Math.cos(p * frequencies[i]);
      const sin = Math.sin(p * frequencies[i]);
      for (let first = i; first < width; first += 2 * half) {
        const [one, two] = [p * width + first, p * width + first + half];
        const [a, b] = [x[one], x[two]];
        x[one] = a * cos - b * sin;
        x[two] = a * sin + b * cos;
      }
    }
  }
}
// Where a head looks: weights [position, position], none of them ahead.
function attention(query, key, count, width, first) {
  const columns = width / HEADS;
  const weights = new Float64Array(count * count);
  for (let p = 0; p < count; p++) {
    let highest = -Infinity;
    for (let r = 0; r <= p; r++) {
      let product = 0;
      for (let k = first; k < first + columns; k++) {
        product += query[p * width + k] * key[r * width + k];
      }
      weights[p * count + r] = product / Math.sqrt(columns);
      highest = Math.max(highest, weights[p * count + r]);
    }
    let sum = 0;
    for (let at = p * count; at <= p * count + p; at++) {
      weights[at] = Math.exp(weights[at] - highest);
      sum += weights[at];
    }
    for (let at = p * count; at <= p * count + p; at++) weights[at] /= sum;
  }
  return weights;
}
// What each layer adds. Of `frequencies` there are 8 for each layer, and of
// `heads` 4, which are 0 for a head that is off.
function run(letters, frequencies, heads) {
  const { letters: table, layers, rating } = model();
  const [count, width] = [letters.length, table.columns];
  const columns = width / HEADS;
  const x = new Float64Array(count * width);
  letters.forEach((letter, p) => {
    const start = letter * width;
    x.set(table.values.subarray(start, start + width), p * width);
  });
  const maps = [];
  layers.forEach(([forQuery, forKey, forValue, mix], layer) => {
    const input = normalized(x, width);
    const query = multiply(input, forQuery);
    const key = multiply(input, forKey);
    const value = multiply(input, forValue);
    turnByPosition(query, width, frequencies[layer]);
    turnByPosition(key, width, frequencies[layer]);
    const found = new Float64Array(count * width);
    for (let head = 0; head < HEADS; head++) {
      const first = head * columns;
      const weights = attention(query, key, count, width, first);
      maps.push(weights);
      if (!heads[layer][head]) continue;
      for (let p = 0; p < count; p++) {
        for (let r = 0; r <= p; r++) {
          const weight = weights[p * count + r];
          const [from, to] = [r * width, p * width];
          for (let k = first; k < first + columns; k++) {
            found[to + k] += weight * value[from + k];
          }
        }
      }
    }
    multiply(found, mix).forEach((added, k) => (x[k] += added));
  });
  return { ratings: multiply(normalized(x, width), rating), maps };
}
