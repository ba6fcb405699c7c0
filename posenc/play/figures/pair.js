// Position p and position p + k: two rows, and two hands on each dial.

add("pair", {
  ask: `Drag the blue row, which takes the orange one along. Then drag the
    orange row alone. When does the dot product of the two rows change?`,
  note: `While both rows move, all hands turn, the last ones too little to
    see, and yet the angle between a blue hand and its orange one stays the
    same. So does the dot product, which depends on the offset alone.`,
  settings: {
    position: { label: "Position, p", tone: "blue" },
    offset: { label: "Offset, k", tone: "orange" },
  },
  draw({ position, offset }, width) {
    const later = position + offset;
    const cell = width / HANDS.length;
    const radius = Math.min(0.42 * cell, 34);
    const clocks = HANDS.map((w, i) => {
      const dial = { x: (i + 0.5) * cell, y: 6 + radius, radius };
      return [
        sector(dial, position * w, halfTurn(offset * w), "between"),
        circle(dial.x, dial.y, radius, "dial"),
        hand(dial, later * w, "orange"),
        hand(dial, position * w, "blue"),
      ];
    });

    const half = width < 500 ? width : width / 2 - 8;
    const Y = scale([0, 96], [4, 196]);
    const [left, right] = [74, half - 78];
    const framed = (p, name, x, words, tone) => [
      box(left, Y(p) - 1.5, right - left, 5, "halo"),
      box(left, Y(p) - 1.5, right - left, 5, `frame ${tone}`),
      grip(
        name,
        box(x, Y(p) - 21, 70, 44, "room"),
        box(x, Y(p) - 10, 70, 22, `tab ${tone}`, 'rx="5"'),
        text(x + 35, Y(p) + 5.5, words, "middle on-tab"),
      ),
    ];
    const rowAt = ({ y }) => Math.floor(Y.back(y));

    const K = scale([0, 32], [34, half - 12]);
    const deep = width < 500 ? 158 : 214; // so that it fits on a phone
    const V = scale([0, 8], [deep - 42, 22]);
    const product = (k) => HANDS.length * similarity(k, HANDS);
    const [x, y] = [K(offset), V(product(offset))];
    return {
      pictures: [
        { width, height: 2 * radius + 12, layers: [clocks] },
        {
          width: half,
          height: 214,
          layers: [
            area("both", heatmap(ROWS, left, 4, right - left, 192)),
            text((left + right) / 2, 211, "96 rows of 16", "middle soft"),
            framed(later, "later", right + 4, `p + k: ${later}`, "orange"),
            framed(position, "both", left - 74, `p: ${position}`, "blue"),
          ],
          drag: {
            both: (place) => ({ position: clamp(0, rowAt(place), 63) }),
            later: (place) => ({ offset: clamp(0, rowAt(place) - position, 32) }),
          },
        },
        {
          width: half,
          height: deep,
          layers: [
            axes(K, V, {
              xTicks: [0, 8, 16, 24, 32],
              xLabel: "Offset, k",
              yTicks: [0, 4, 8],
              title: "Dot product of the two rows",
            }),
            curve(K, V, range(129, 0, 0.25), product, "curve"),
            line(x, y, x, V.start, "dashed"),
            line(K.start, y, x, y, "dashed"),
            grip("offset", knob(x, y, "orange")),
          ],
          drag: { offset: ({ x }) => ({ offset: K.near(x) }) },
        },
      ],
      says: `The dot product of rows ${position} and ${later} is
        ${number(product(offset), 2)}. That of a row with itself is 8.`,
    };
  },
});
