// Angles that a model has met in training, and those that it has not.

add("unseen", {
  ask: `Drag the end of the text, then the end of training. Which pairs turn
    on beyond the part of a circle that training shows? Then try the three
    remedies.`,
  note: `A pair that makes a full turn in training meets angles close to any
    other. A pair just short of a full turn meets nearly all of them, and does
    our readers little harm. Of the pairs well short of it, the fastest runs
    into new angles most quickly. In a text longer than the training,
    interpolation slows every pair, even pair 0. NTK-aware scaling slows the
    last pair most and pair 0 not at all, so a pair between them may still
    reach new angles. By parts, only pairs without a full turn are slowed.`,
  settings: {
    trained: { label: "Length in training", tone: "blue" },
    length: { label: "Length of the text", tone: "orange" },
    base: { label: "Base", ...WAVELENGTHS },
    remedy: {
      label: "Remedy",
      choices: ["none", "interpolation", "NTK-aware", "by parts"],
    },
  },
  draw({ trained, length, base, remedy }, width) {
    const width8 = 8; // of a head
    const stretch = Math.max(1, length / trained);
    const before = angularFrequencies(width8, base);
    const wider = base * stretch ** (width8 / (width8 - 2));
    const isFull = (w) => trained * w >= TURN;
    const after = [
      before,
      before.map((w) => w / stretch),
      angularFrequencies(width8, wider),
      before.map((w) => (isFull(w) ? w : w / stretch)),
    ][remedy];
    const isNew = (w, i) => !isFull(w) && length * after[i] > trained * w * (1 + 1e-9);
    const fresh = range(4).filter((i) => isNew(before[i], i));
    const fastest = before.findIndex((w) => !isFull(w));

    const P = scale([0, 160], [16, width - 16]);
    const end = (name, at, y, words, tone) => [
      line(P(0), y, P(at), y, `long ${tone}`),
      at < 90
        ? text(P(at) + 14, y + 4, words, tone)
        : text(P(at) - 14, y - 9, words, `end ${tone}`),
      grip(name, knob(P(at), y, tone)),
    ];
    const place = (x, most) => clamp(4, P.near(x), most);

    const radius = Math.min(0.1 * width, 70);
    const turns = (angle) => `${number(angle / TURN, angle < TURN ? 3 : 1)} turns`;
    const dials = before.map((w, i) => {
      const dial = { x: ((i + 0.5) * width) / 4, y: 32 + radius, radius };
      const ring = { ...dial, radius: radius + 7 };
      const met = Math.min(trained * w, TURN);
      const reached = Math.min(length * after[i], TURN);
      const weight = i === fastest ? "middle strong" : "middle";
      return [
        text(dial.x, 14, `Pair ${i}`, weight),
        sector(dial, 0, met, "met"),
        isNew(w, i) ? sector(ring, met, reached - met, "new") : "",
        circle(dial.x, dial.y, radius, "dial"),
        line(dial.x, dial.y, ...tipOf(dial, after[i]), "step"),
        text(dial.x, 2 * radius + 60, turns(trained * w), "middle blue"),
        text(dial.x, 2 * radius + 77, turns(length * after[i]), "middle orange"),
      ];
    });
    const named = new Intl.ListFormat("en").format(fresh.map(String)) || "none";
    return {
      pictures: [
        {
          width,
          height: 96,
          layers: [
            line(P(0), 72, P(160), 72, "tick"),
            range(5, 0, 40).map((p) => text(P(p), 90, p, "middle soft")),
            end("trained", trained, 20, `${trained} in training`, "blue"),
            end("length", length, 54, `${length} in the text`, "orange"),
          ],
          drag: {
            trained: ({ x }) => ({ trained: place(x, 64) }),
            length: ({ x }) => ({ length: place(x, 160) }),
          },
        },
        { width, height: 2 * radius + 84, layers: [dials] },
      ],
      says: [
        `Pairs that the text turns beyond what training shows: ${named}.`,
        fastest < 0
          ? "Every pair makes a full turn in training."
          : `Pair ${fastest} is the fastest without a full turn in training.`,
        `Each position turns pair 0 by ${number(after[0], 2)} radians, as its
          thin line shows.`,
      ].join(" "),
    };
  },
});
