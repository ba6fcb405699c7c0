// The patches of an image, and how one patch scores all others.

// In a smaller image, the frame waits at its edge.
function within({ row, column, height, width }) {
  return {
    row: Math.min(row, height - 1),
    column: Math.min(column, width - 1),
    height,
    columns: width,
  };
}

// What the head at the frame gives each patch, and the patches with a dot.
function cellsOf({ row, column, height, columns }, state) {
  const places = range(height).flatMap((y) => range(columns).map((x) => [y - row, x - column]));
  const values = valuesOf(places, columns, state);
  const cells = places.map(([down, right], i) => {
    return { y: row + down, x: column + right, value: values[i] };
  });
  const best = cells.reduce((one, two) => (two.value > one.value + 1e-9 ? two : one));
  // Weights that are almost the largest have a dot, too.
  const peaks =
    state.below === LOOKS_AT_TWO ? cells.filter(({ value }) => value > 0.75 * best.value) : [best];
  return { cells, best, peaks };
}

// The colors with their values: weights, or scores.
const WEIGHTS = { kind: "weight", high: 0.5, low: 0, digits: 2 };
const SCORES = { kind: "score", high: 1, low: -1, digits: 0 };
const toneOf = (shown, value) => color(shown === WEIGHTS ? Math.min(2 * value, 1) : value);

function colorBar(shown, x, Y) {
  const { kind, high, low, digits } = shown;
  const ticks = [1, 0, -1].map((v) => {
    const value = (high + low) / 2 + (v * (high - low)) / 2;
    return text(x + 15, Y(v) + 4, number(value, digits), "soft");
  });
  const stripes = range(40).map((k) => {
    const value = high - ((k + 0.5) / 40) * (high - low);
    const fill = `fill="${toneOf(shown, value)}"`;
    return box(x, Y(1 - k / 20), 10, Y(0.95) - Y(1) + 0.5, "", fill);
  });
  return [stripes, ticks, text(x, Y.end + 20, kind, "soft")];
}

function patchBoxes(shown, cells, X, Y, size) {
  return cells.map(({ y, x, value }) => {
    const fill = `fill="${toneOf(shown, value)}"`;
    return box(X(x) + 0.5, Y(y) + 0.5, size - 1, size - 1, "", fill);
  });
}

function numbersOfRowsAndColumns({ height, columns }, X, Y) {
  const everyFourth = (count) => range(count).filter((k) => k % 4 === 0);
  return [
    everyFourth(columns).map((x) => text(X(x + 0.5), Y.start - 6, x, "middle soft")),
    everyFourth(height).map((y) => text(X.start - 6, Y(y + 0.5) + 4, y, "end soft")),
  ];
}

function inWords({ row, column, height, columns }, shown, cells, best) {
  const neighbors = [
    ["To the right", 0, 1],
    ["Below", 1, 0],
    ["Diagonal", 1, 1],
  ];
  if (shown === WEIGHTS) neighbors.push(["Itself", 0, 0]);
  const named = neighbors
    .filter(([, y, x]) => row + y < height && column + x < columns)
    .map(([name, y, x]) => {
      const { value } = cells[(row + y) * columns + column + x];
      return `${name}: ${number(value, 2)}.`;
    });
  const begins =
    shown === WEIGHTS
      ? "Weights."
      : `Highest score: ${number(best.value, 2)}, at row ${best.y}, column
        ${best.x}.`;
  return `${begins} ${named.join(" ")}`;
}

add("patches", {
  narrow: true,
  ask: `Let the head look one below, and change the image's width. With which
    encodings does the dot stay below the frame? With which can the head look
    right and below at once?`,
  note: `If patches are numbered row by row, a head that was trained at a width
    of 8 looks 8 numbers ahead, which is the patch below at that width alone.
    With a row and a column for each patch, the dot stays below. 2-D sinusoids
    and axial RoPE make the same cross, because a score is a part for the row plus a
    part for the column. Such a head cannot look right and below alone: the
    frame and the diagonal patch take as much. Mixed RoPE has slanted waves,
    which make a spot, and at base 10 its head looks at hardly anything but the
    two, at any width. A larger base makes this slower to learn, because its
    slow waves hardly move within 16 rows.`,
  settings: {
    encoding: {
      label: "Encoding",
      choices: ["numbers", "2-D sinusoids", "axial RoPE", "mixed RoPE"],
    },
    below: {
      label: "The head looks at",
      choices: ["itself", "one below", "two places"],
      room: 5.5,
    },
    row: {
      label: "Frame's row",
      show: (row, { height }) => number(Math.min(row, height - 1)),
    },
    column: {
      label: "Frame's column",
      show: (column, { width }) => number(Math.min(column, width - 1)),
    },
    height: { label: "Image height" },
    width: { label: "Image width" },
    base: { label: "Base", ...WAVELENGTHS },
  },
  draw(state, room) {
    const image = within(state);
    const { row, column, height, columns } = image;
    const { cells, best, peaks } = cellsOf(image, state);
    const shown = state.below === LOOKS_AT_TWO ? WEIGHTS : SCORES;

    const size = room < 500 ? Math.min(15, (room - 96) / 16) : 21;
    const left = Math.max(26, (room - 16 * size - 60) / 2);
    const X = scale([0, 16], [left, left + 16 * size]);
    const Y = scale([0, 16], [20, 20 + 16 * size]);
    const bar = scale([1, -1], [Y.start, Y.start + 8 * size]);
    const [centerX, centerY] = [X(column + 0.5), Y(row + 0.5)];
    const picture = {
      width: room,
      height: Y.end + 6,
      layers: [
        numbersOfRowsAndColumns(image, X, Y),
        area("query", patchBoxes(shown, cells, X, Y, size)),
        colorBar(shown, X.end + 16, bar),
        peaks.map(({ x, y }) => circle(X(x + 0.5), Y(y + 0.5), 0.2 * size, "peak")),
        grip(
          "query",
          box(centerX - 22, centerY - 22, 44, 44, "room"),
          box(X(column), Y(row), size, size, "halo"),
          box(X(column), Y(row), size, size, "frame"),
        ),
      ],
      drag: {
        query: ({ x, y }) => ({
          row: clamp(0, Math.floor(Y.back(y)), height - 1),
          column: clamp(0, Math.floor(X.back(x)), columns - 1),
        }),
      },
    };
    return { pictures: [picture], says: inWords(image, shown, cells, best) };
  },
});
