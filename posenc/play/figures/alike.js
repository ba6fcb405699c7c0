// How alike one position is to all others.

add("alike", {
  ask: `Drag the marked position to the left and to the right. What happens to
    the shape of the curve? Then change the number of columns.`,
  note: `While you drag, the lower curve stays as it is, and only its blue
    part, the offsets that lead to one of the 128 positions, slides along: the
    similarity of two positions depends on their offset alone. The number of
    columns and the maximum wavelength, however, change the shape of the
    curve.`,
  settings: {
    position: { label: "Marked position", tone: "blue" },
    d_model: { label: "Columns", power: 2 },
    max_wavelength: { label: "Maximum wavelength", ...WAVELENGTHS },
  },
  draw({ position, d_model, max_wavelength }, width) {
    const frequencies = angularFrequencies(d_model, max_wavelength);
    const similar = (k) => similarity(k, frequencies);
    const product = (k) => number((d_model / 2) * similar(k), 2);

    const mark = width < 500 ? "" : " to the marked position";
    const share = `Similarity${mark}: dot product / ${d_model / 2}`;

    const least = Math.min(0, ...range(128).map(similar));
    const yTicks = range(5, 1, -0.5).filter((v) => v > least - 0.5);
    const low = yTicks.at(-1);

    const P = scale([0, 127], [38, width - 12]);
    const U = scale([low, 1], [166, 30]);
    const to = (p) => similar(p - position);
    const K = scale([-127, 127], [38, width - 12]);
    const L = scale([low, 1], [126, 14]);
    const [marked, top] = [P(position), U(1)];
    return {
      pictures: [
        {
          width,
          height: 210,
          layers: [
            area("mark", box(P.start, 0, P.end - P.start, 166, "room")),
            axes(P, U, {
              xTicks: [0, 32, 64, 96, 127],
              xLabel: "Position",
              yTicks,
              title: share,
            }),
            line(marked, U.start, marked, top, "mark"),
            curve(P, U, range(128), to, "curve blue"),
            range(128).map((p) => circle(P(p), U(to(p)), 1.6, "dot blue")),
            grip("mark", knob(marked, top, "blue")),
          ],
          drag: { mark: ({ x }) => ({ position: P.near(x) }) },
        },
        {
          width,
          height: 166,
          layers: [
            axes(K, L, {
              xTicks: [-127, -64, 0, 64, 127],
              yTicks,
              xLabel: "Offset from the marked position",
            }),
            curve(K, L, range(255, -127), similar, "curve faint"),
            curve(K, L, range(128, -position), similar, "curve blue"),
          ],
        },
      ],
      says: `The dot product of a row with itself is ${product(0)}, with the
        next row ${product(1)}, and with the row ten positions away
        ${product(10)}.`,
    };
  },
});
