// Positions, as in posenc_helpers.py and in the notebooks.

const angularFrequencies = (dModel, maxWavelength = 10_000) =>
  range(dModel / 2).map((i) => maxWavelength ** ((-2 * i) / dModel));
const rowOf = (position, frequencies) =>
  frequencies.flatMap((w) => [Math.sin(position * w), Math.cos(position * w)]);
// Of two rows, by their offset: the cosine of the angle between them, and how
// far apart they are in row lengths.
const similarity = (offset, frequencies) =>
  frequencies.reduce((sum, w) => sum + Math.cos(offset * w), 0) / frequencies.length;
const distance = (offset, frequencies) => Math.sqrt(2 - 2 * similarity(offset, frequencies));

// The small encoding that several figures show: one row has eight hands.
const HANDS = angularFrequencies(16);
const ROWS = range(96).map((position) => rowOf(position, HANDS));
