// Rotary positions: query and key are rotated, each by its own position.

// Where the 32 hands of a query, and those of a key, point at position 0:
// anywhere. A small random generator draws the same in every browser.
function randomHands(seed) {
  let state = seed;
  const angles = range(64).map(() => {
    state = (48271 * state) % 2147483647;
    return (TURN * state) / 2147483647;
  });
  return [angles.slice(0, 32), angles.slice(32)];
}
// The hands of query and key, for each choice of vectors.
const ALIKE = range(32).map(() => 0.8);
const VECTORS = [
  { words: "two equal vectors", hands: () => [ALIKE, ALIKE] },
  { words: "these random vectors", hands: () => randomHands(18) },
  {
    words: "a key made for 40 back",
    hands: (frequencies) => [ALIKE, frequencies.map((w) => 0.8 + 40 * w)],
  },
];

// Where the hands of query and key point at position 0, and their scores at an
// offset: of one pair, and the mean of all.
function model({ pair, rotary_dim, base, vectors }) {
  const rotating = angularFrequencies(rotary_dim, base);
  const frequencies = range(32).map((i) => rotating[i] ?? 0);
  const [ofQuery, ofKey] = VECTORS[vectors].hands(frequencies);
  const apart = ofKey.map((angle, i) => angle - ofQuery[i]);
  const scoreOf = (i, offset) => Math.cos(apart[i] - offset * frequencies[i]);
  return {
    w: frequencies[pair],
    queryAt0: ofQuery[pair],
    keyAt0: ofKey[pair],
    ofPair: (offset) => scoreOf(pair, offset),
    ofAll: (offset) => range(32).reduce((sum, i) => sum + scoreOf(i, offset), 0) / 32,
  };
}

// Two positions, and the bar between them.
function positionsPicture({ query, key }, width, wide) {
  const P = scale([0, 63], [34, width - 34]);
  const [low, high] = [query, key].sort((a, b) => a - b);
  const [x0, x1] = [P(low), P(high)];
  const between = clamp(32, (x0 + x1) / 2, width - 32);
  const sign = query > key ? -1 : 1;
  const aside = sign * Math.max(0, 23 - (x1 - x0) / 2);
  return {
    width,
    height: wide ? 104 : 86,
    layers: [
      line(P.start, 40, P.end, 40, "tick"),
      range(8, 0, 9)
        .filter((p) => Math.abs(P(p) - between) > 40)
        .map((p) => text(P(p), 66, p, "middle soft")),
      wide ? text(P.end, 84, "Position", "end soft") : "",
      grip("bar", box(x0, 20, x1 - x0, 40, "room"), box(x0, 34, x1 - x0, 12, "bar")),
      text(P(query) - aside, 14, "query", "middle blue"),
      text(P(key) + aside, 14, "key", "middle orange"),
      grip("query", knob(P(query), 40, "blue")),
      grip("key", knob(P(key), 40, "orange")),
      // Below the rooms of both knobs, however close these are.
      grip(
        "bar",
        box(between - 32, 63, 64, 30, "room"),
        box(between - 26, 65, 52, 20, "tab", 'rx="5"'),
        text(between, 79, "both", "middle on-tab"),
      ),
    ],
    drag: {
      query: ({ x }) => ({ query: P.near(x) }),
      key: ({ x }) => ({ key: P.near(x) }),
      bar({ x }, drag) {
        drag.from ??= { x, query, key, low, high };
        const { from } = drag;
        const by = Math.round(P.back(x) - P.back(from.x));
        const moved = clamp(-from.low, by, 63 - from.high);
        return { query: from.query + moved, key: from.key + moved };
      },
    },
  };
}

// Two arrows, rotated from where they point at position 0.
function dialPicture({ query, key, pair }, computed, width, height, unit) {
  const { w, queryAt0, keyAt0 } = computed;
  const radius = Math.min(0.42 * width, 84);
  const dial = { x: width / 2, y: height / 2, radius };
  const title = w ? `a turn in ${brief(TURN / w)}${unit}` : "does not turn";
  const begins = (angle, tone = "") =>
    line(dial.x, dial.y, ...tipOf(dial, angle), `dashed ${tone}`);
  const arrow = (angle, tone) => line(dial.x, dial.y, ...tipOf(dial, angle), `arrow ${tone}`);
  const apart = halfTurn(keyAt0 - queryAt0 - (query - key) * w);
  return {
    width,
    height,
    layers: [
      text(dial.x, 14, `Pair ${pair}: ${title}`, "middle"),
      sector(dial, queryAt0 + query * w, apart, "between"),
      circle(dial.x, dial.y, radius, "dial"),
      queryAt0 === keyAt0 ? begins(queryAt0) : [begins(queryAt0, "blue"), begins(keyAt0, "orange")],
      arrow(queryAt0 + query * w, "blue"),
      arrow(keyAt0 + key * w, "orange"),
      text(dial.x, dial.y + radius + 26, "dashed: at position 0", "middle soft"),
    ],
  };
}

// Scores by offset: of the pair on the dial, and of all.
function scoresPicture({ query, key, pair }, computed, width, height) {
  const { ofPair, ofAll } = computed;
  const offset = query - key;
  const D = scale([-63, 63], [34, width - 14]);
  const S = scale([-1, 1], [height - 40, 40]);
  const offsets = range(505, -63, 0.25);
  return {
    width,
    height,
    layers: [
      axes(D, S, {
        xTicks: [-63, 0, 63],
        xLabel: "Offset: query minus key",
        yTicks: [-1, 0, 1],
        title: "Score by offset",
      }),
      text(D.end, 34, "all pairs", "end blue"),
      text(D.end - 62, 34, `pair ${pair}`, "end orange"),
      curve(D, S, offsets, ofPair, "curve thin orange"),
      curve(D, S, offsets, ofAll, "curve blue"),
      line(D(offset), S(-1), D(offset), S(1), "mark"),
      circle(D(offset), S(ofPair(offset)), 4, "dot orange"),
      circle(D(offset), S(ofAll(offset)), 5, "dot blue"),
    ],
  };
}

function inWords({ query, key, pair, vectors }, { ofPair, ofAll }) {
  const offset = query - key;
  const far = Math.abs(offset);
  const where = far
    ? `The key is ${far} position${far > 1 ? "s" : ""}
      ${offset > 0 ? "before" : "after"} the query.`
    : "Query and key are at the same position.";
  return `${where} For ${VECTORS[vectors].words}, the score of pair ${pair}
    is ${number(ofPair(offset), 2)}, and the mean of all pairs
    ${number(ofAll(offset), 2)}.`;
}

add("rotary", {
  ask: `Drag the query, then the key, then both (by keys: hold Shift). When do
    the scores change? Do random vectors fade with distance, as equal ones
    do?`,
  note: `The handle moves query and key by the same number of positions, so in
    every pair the angle between their hands stays the same. So do all scores,
    which depend on the offset alone. Equal vectors score highest where all
    their hands point the same way, at offset 0. Random hands never all do, so
    their score stays below one half, near and far. With the last choice, all
    hands point the same way once the key is 40 positions before the query.`,
  settings: {
    query: { label: "Position of the query", tone: "blue" },
    key: { label: "Position of the key", tone: "orange" },
    pair: { label: "Pair on the dial" },
    rotary_dim: {
      label: "Rotated columns",
      step: 16,
      show: (columns) => `${columns} of 64`,
    },
    base: { label: "Base", ...WAVELENGTHS },
    vectors: {
      label: "Query and key",
      choices: ["equal", "random", "40\u00a0back"],
      room: 6, // all three in a row, on a phone too
    },
  },
  together: ["query", "key"],
  draw(state, width) {
    const computed = model(state);
    // On a phone, there is less room for the pictures.
    const wide = width >= 500;
    const height = wide ? 236 : 206;
    const left = 0.4 * width;
    const unit = wide ? " positions" : "";
    return {
      pictures: [
        positionsPicture(state, width, wide),
        dialPicture(state, computed, left, height, unit),
        scoresPicture(state, computed, width - left - 8, height),
      ],
      says: inWords(state, computed),
    };
  },
});
