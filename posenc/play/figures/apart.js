// Four signals, and how far one position is from 99 others, in units of the
// longest row of 1000 positions: 0.00999 for the index, 1 for hands.

const SIGNALS = [
  ["Index / 100\u00a0000", (k) => Math.abs(k) / 999],
  ["A slow hand, frequency 0.001", (k) => distance(k, [0.001])],
  ["A fast hand, frequency", (k, frequency) => distance(k, [frequency])],
  ["Eight hands, 16 columns", (k) => distance(k, HANDS)],
];
const CLEAR = 0.1; // of the longest row

add("apart", {
  ask: `Drag the marked position. Each dot shows how far another position
    is from it, as a share of the signal's longest row. In which of the four
    signals do dots fall below the dashed line, at a tenth?`,
  note: `By index and by the slow hand, all positions are too close. At
    frequency 1, the fast hand tells neighbors apart, but it comes back to
    where it was. Can you find a better frequency? At any of them, some of
    the hundred are too close to each other, because a hundred tips do not fit
    on one circle a tenth apart. Eight hands keep all positions apart: within
    100 positions, they are never all back at once.`,
  settings: {
    position: { label: "Marked position", tone: "blue" },
    frequency: {
      label: "Fast hand's frequency",
      step: 0.01,
      show: (frequency) => number(frequency, 2),
    },
  },
  draw({ position, frequency }, width) {
    const others = range(100).filter((p) => p !== position);
    const X = scale([0, 99], [34, width - 12]);
    const marked = X(position);
    const nearest = [];
    const strips = SIGNALS.map(([title, signal], i) => {
      const Y = scale([0, 1], [88 * i + 84, 88 * i + 26]);
      const far = (p) => signal(p - position, frequency);
      nearest[i] = Math.min(...others.map(far));
      const close = others.filter((p) => far(p) < CLEAR).length;
      return [
        text(X.start, Y.end - 10, i === 2 ? `${title} ${frequency}` : title),
        close
          ? text(X.end, Y.end - 10, `${close} too close`, "end orange")
          : text(X.end, Y.end - 10, "all clear", "end soft"),
        text(X.start - 8, Y(0) + 4, "0", "end soft"),
        text(X.start - 8, Y(1) + 4, "≥ 1", "end soft"),
        line(X.start, Y(0), X.end, Y(0), "grid"),
        line(X.start, Y(1), X.end, Y(1), "grid"),
        line(X.start, Y(CLEAR), X.end, Y(CLEAR), "dashed"),
        others.map((p) => {
          const tone = far(p) < CLEAR ? "dot orange" : "dot blue";
          return circle(X(p), Y(Math.min(far(p), 1)), width < 500 ? 1.6 : 2.4, tone);
        }),
      ];
    });
    const floor = 356;
    const ticks = [0, 25, 50, 75, 99]
      .filter((p) => Math.abs(X(p) - marked) > 24)
      .map((p) => text(X(p), floor + 20, p, "middle soft"));
    return {
      pictures: [
        {
          width,
          height: floor + 42,
          layers: [
            area("mark", box(X.start, 0, X.end - X.start, floor, "room")),
            line(marked, 12, marked, floor - 4, "mark"),
            strips,
            [ticks, text(X.middle, floor + 36, "Position", "middle soft")],
            grip(
              "mark",
              knob(marked, floor - 4, "blue"),
              text(marked, floor + 20, position, "middle strong"),
            ),
          ],
          drag: { mark: ({ x }) => ({ position: X.near(x) }) },
        },
      ],
      says: `The position nearest to ${position} is at a distance of
        ${number(nearest[0], 3)} by index, ${number(nearest[1], 3)} by the
        slow hand, ${number(nearest[2], 3)} by the fast hand, and
        ${number(nearest[3], 2)} by eight hands.`,
    };
  },
});
