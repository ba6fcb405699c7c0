// One row of the encoding: eight clock hands, each read twice.

add("hands", {
  ask: `Drag the framed row by its tag, or turn one of the first four hands.
    Which hands tell neighboring positions apart? Which tell the first half of
    the positions from the second?`,
  note: `The number above each dial is the hand's wavelength, λ. The first hand is
    back where it was after 6.3 positions, so its columns flicker from row to
    row and tell neighbors apart. The third hand needs 63 positions: its sine
    is red, or positive, in the first half and blue, or negative, in the
    second. The last hand needs 19\u00a0869, so its columns hardly change.`,
  settings: {
    position: { label: "Position" },
  },
  draw({ position }, width) {
    const wide = width > 540;
    const [left, cell] = [46, (width - 50) / 16];
    const right = left + 16 * cell;
    const radius = Math.min(0.84 * cell, 34);
    const strip = 48 + 2 * radius; // the row, enlarged
    const top = strip + 44;
    const Y = scale([0, 64], [top, top + 256]);

    const dialOf = (i) => {
      return { x: left + (2 * i + 1) * cell, y: 24 + radius, radius };
    };
    const clocks = HANDS.map((w, i) => {
      const { x, y } = dialOf(i);
      const [tipX, tipY] = tipOf(dialOf(i), position * w);
      const period = wide ? number(TURN / w, i ? 0 : 1) : brief(TURN / w);
      const clock = [
        circle(x, y, radius, "dial"),
        line(x, y, tipX, y, "leg orange"),
        line(tipX, y, tipX, tipY, "leg blue"),
        hand(dialOf(i), position * w),
      ];
      // A slow hand would run through all positions at a touch.
      const isFast = 64 * w > 1;
      const room = circle(x, y, radius + 4, "room");
      return [text(x, 12, period, "middle soft"), isFast ? grip(i, clock, room) : clock];
    });
    const names = wide ? ["sin", "cos"] : ["s", "c"];
    const cells = ROWS[position].map((value, column) => {
      const x = left + (column + 0.5) * cell;
      const tone = column % 2 ? "orange" : "blue";
      const ink = Math.abs(value) > 0.55 ? "on-dark" : "on-light";
      const fill = `fill="${color(value)}"`;
      return [
        box(x - cell / 2, strip, cell, 26, "", fill),
        text(x, strip - 6, names[column % 2], `middle ${tone}`),
        wide ? text(x, strip + 17.5, number(value, 2), `middle ${ink}`) : "",
      ];
    });
    const labels = [0, 16, 32, 48, 63]
      .filter((p) => Math.abs(p - position) > 5)
      .map((p) => text(left - 10, Y(p + 0.5) + 4, p, "end soft"));
    const [y0, y1] = [Y(position), Y(position + 1)];
    const turns = (i, digits) => number((position * HANDS[i]) / TURN, digits);
    return {
      pictures: [
        {
          width,
          height: top + 282,
          layers: [
            [text(left - 10, 12, "λ", "end soft"), clocks],
            cells,
            area("row", heatmap(ROWS.slice(0, 64), left, top, right - left, 256)),
            [
              text(left + 8 * cell, top + 276, "16 columns", "middle soft"),
              labels,
              box(left, strip, right - left, 26, "frame"),
              line(left, strip + 26, left, y1, "frame"),
              line(right, strip + 26, right, y1, "frame"),
              box(left, y0 - 1, right - left, y1 - y0 + 2, "frame"),
            ],
            grip(
              "row",
              box(0, y0 - 20, left + 40, 44, "room"),
              box(6, y0 - 9, 34, 22, "tab", 'rx="5"'),
              text(23, y0 + 6.5, position, "middle on-tab"),
            ),
          ],
          drag: {
            row: ({ y }) => ({ position: clamp(0, Math.floor(Y.back(y)), 63) }),
            ...HANDS.map((w, i) => (place, drag) => {
              drag.from ??= position;
              const moved = drag.from + turned(dialOf(i), drag) / w;
              return { position: clamp(0, Math.round(moved), 63) };
            }),
          },
        },
      ],
      says: `Position ${position}: the first hand has made ${turns(0, 1)}
        turns, the fourth ${turns(3, 2)}, the last ${turns(7, 4)}.`,
    };
  },
});
