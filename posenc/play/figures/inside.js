// Inside a trained transformer of two layers, the one that notebook 13 builds.

const A = "a".charCodeAt(0);

const mapImage = (map) =>
  bitmap(
    map.length,
    map.length,
    (key, query) => BRIGHTNESS[Math.round(255 * (map[query][key] ?? 0))],
  );

// Only what the switches and the letters change is computed anew.
const computed = { for: "" };
function compute(letters, { heads, pairs, positions }) {
  const wanted = [letters, heads, pairs, positions].join();
  if (computed.for === wanted) return computed;
  const frequencies = [0, 1].map((layer) =>
    PAIRS.map((w, i) => (isOn(positions, layer) && isOn(pairs, 8 * layer + i) ? w : 0)),
  );
  const on = [0, 1].map((layer) => range(HEADS).map((head) => isOn(heads, HEADS * layer + head)));
  Object.assign(computed, run(letters, frequencies, on), { for: wanted });
  computed.predicted = computed.ratings.map((row) => row.indexOf(Math.max(...row)));
  computed.images = computed.maps.map(mapImage);
  return computed;
}

const LAYERS = ["first", "second"];
const headOf = (place) => `${LAYERS[Math.floor(place / HEADS)]} layer, head ${place % HEADS}`;

// The text, the letter that looks, and what the model makes of them.
function read({ text: typed, length, position, ...state }) {
  const letters = range(length).map((p) => typed.charCodeAt(p % typed.length) - A);
  return {
    ...state,
    ...compute(letters, state),
    letters,
    length,
    round: typed.length,
    position: Math.min(position, length - 1),
  };
}
const spelled = (letter) => String.fromCharCode(A + letter);

// The text, in rows of 16 or 32 letters.
function textPicture({ letters, length, round, position, head, maps, predicted }, width) {
  const inRow = width < 540 ? 16 : 32;
  const cell = width / inRow;
  const rows = Math.ceil(length / inRow);
  const [bar, deep] = [12, 44]; // pixels of a column, and of a row
  const at = (p) => [((p % inRow) + 0.5) * cell, Math.floor(p / inRow) * deep];
  const weights = maps[head][position];
  const cells = letters.map((letter, p) => {
    const [x, y] = at(p);
    const seen = weights[p] ?? 0;
    const guess = p > 0 ? spelled(predicted[p - 1]) : "";
    const isKnown = p > round;
    const isWrong = isKnown && predicted[p - 1] !== letter;
    const tone = isWrong ? "orange strong" : isKnown ? "blue" : "soft";
    return [
      box(x - 4, y + bar * (1 - seen), 8, bar * seen, "weight"),
      text(x, y + bar + 14, spelled(letter), "middle letter"),
      text(x, y + bar + 29, guess, `middle ${tone}`),
      isWrong ? box(x - 7, y + bar + 18, 14, 15, "wrong orange") : "",
    ];
  });
  const [x, y] = at(position);
  return {
    width,
    height: rows * deep,
    layers: [
      area("letter", box(0, 0, width, rows * deep, "room")),
      cells,
      grip(
        "letter",
        box(x - cell / 2, y + bar, cell, 34, "room"),
        box(x - 8, y + bar + 1, 16, 17, "frame orange", 'rx="3"'),
      ),
    ],
    drag: {
      letter({ x, y }) {
        const column = clamp(0, Math.floor(x / cell), inRow - 1);
        const row = clamp(0, Math.floor(y / deep), rows - 1);
        return { position: Math.min(row * inRow + column, length - 1) };
      },
    },
  };
}

// The maps of all heads, four in a row.
function mapsPicture({ images, heads, head, position, length }, width) {
  const size = Math.min((width - 3 * 8) / HEADS, 128);
  const gap = (width - HEADS * size) / (HEADS - 1);
  const step = size + 21;
  const placeOf = (place) => [
    (place % HEADS) * (size + gap),
    Math.floor(place / HEADS) * step + 18,
  ];
  // What is ahead of a letter stays clear.
  const stairs = range(length).flatMap((k) => [
    [k + 1, k],
    [k + 1, k + 1],
  ]);
  const edge = (k) => (k / length) * size;
  const ahead = (left, top) => {
    const corners = [...stairs, [length, 0]].map(([x, y]) => [left + edge(x), top + edge(y)]);
    return path(corners, "ahead");
  };
  const maps = images.map((image, place) => {
    const [left, top] = placeOf(place);
    const isOff = !isOn(heads, place);
    const whole = width < 540 ? `head ${place % HEADS}` : headOf(place);
    const title = isOff ? `${whole}: off` : whole;
    return [
      `<image class="${isOff ? "off" : ""}" x="${px(left)}" y="${px(top)}"
          width="${px(size)}" height="${px(size)}" href="${image}"/>`,
      ahead(left, top),
      box(left, top, size, size, "edge"),
      text(left, top - 5, title, place === head ? "strong" : "soft"),
    ];
  });
  const [left, top] = placeOf(head);
  const lineAt = top + ((position + 0.5) / length) * size;
  return {
    width,
    height: 2 * step,
    layers: [
      maps,
      [
        box(left, top, size, size, "frame orange"),
        line(left - 4, lineAt, left + size + 4, lineAt, "looks"),
      ],
      area("map", box(0, 0, width, 2 * step, "room")),
    ],
    drag: {
      map({ x, y }) {
        const column = clamp(0, Math.floor(x / (size + gap)), HEADS - 1);
        return { head: HEADS * (y < step ? 0 : 1) + column };
      },
    },
  };
}

function inWords({ letters, length, round, head, maps, predicted }) {
  const known = range(length).filter((p) => p > round);
  const right = known.filter((p) => predicted[p - 1] === letters[p]);
  const score = known.length
    ? `In later rounds, ${right.length} of ${known.length} letters are
        right.`
    : "No letter can be predicted, because nothing is repeated yet.";
  // What the shown head does, on average over the text.
  const mean = (from, offset) => {
    const all = range(length).slice(from);
    const sum = all.reduce((total, p) => total + maps[head][p][p - offset], 0);
    return all.length ? number(sum / all.length, 2) : "0";
  };
  const before = mean(1, 1);
  const after = mean(round, round - 1);
  return `${score} The shown head: ${before} of its weight on the letter
    before, ${after} on the answer.`;
}

add("inside", {
  ask: `Below each letter stands what the model has predicted for it, in a frame
    if it is wrong. Columns show where the shown head looks from the marked
    letter. Switch heads and pairs off, one at a time. Which head of the first
    layer does the model need most, and where does it look? Which of the two
    layers can do without RoPE?`,
  note: `Head 2 of the first layer looks one letter back: without it, about half
    of the letters are wrong, and at 32 letters hardly one without any other
    head. There the two fastest pairs of the first layer, 0 and 1, are enough. The
    second layer compares letters, wherever they stand. Without its RoPE, nothing is
    lost, and at 128 letters more are right than with it.`,
  settings: {
    text: {
      label: "Letters that repeat",
      clean: (typed) => typed.toLowerCase().replace(/[^a-z]/g, ""),
    },
    length: { label: "Length of text", room: "half" },
    position: {
      label: "Letter that looks",
      room: "half",
      tone: "orange",
      last: ({ length }) => length - 1,
    },
    head: { label: "Shown head", show: headOf },
    positions: {
      switches: [
        {
          label: "RoPE in layer",
          names: LAYERS.map((layer) => `RoPE, ${layer} layer`),
          marks: LAYERS,
        },
      ],
    },
    heads: {
      switches: LAYERS.map((layer) => ({
        label: `Heads, ${layer}`,
        names: range(HEADS).map((head) => `Head ${head}, ${layer} layer`),
      })),
    },
    pairs: {
      switches: LAYERS.map((layer) => ({
        label: `Pairs, ${layer}`,
        names: PAIRS.map((w, i) => `Pair ${i}, ${layer} layer`),
      })),
    },
  },
  draw(state, width) {
    const seen = read(state);
    return { pictures: [textPicture(seen, width), mapsPicture(seen, width)], says: inWords(seen) };
  },
});
