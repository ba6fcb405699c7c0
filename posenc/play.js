// Figures to play with, such as <posenc-play figure="hands" data-position="7">.
//
// `play` of posenc/play.py writes that element, and brings this file along.
// It needs no kernel, no library and no network. On screen a figure takes the
// place of the still picture above it; on paper the picture is printed.
//
// A figure is an object: the question it asks (`ask`), what to notice after
// the first move (`note`), its `settings`, each with a slider or a button for
// each of its `choices` (RANGES has their ranges), and `draw`; `plays` names the
// setting that a Play button runs through, if there is one; `together` those that
// an arrow key moves at once if Shift is held; a figure with many
// settings has `narrow` sliders, two side by side on a phone.
// From the state, which is a value for each setting, and the room in pixels,
// `draw` makes three things: `pictures`, which are lists of SVG markup; `says`,
// the numbers in a sentence; and `drag`, which holds for each data-drag="name"
// in the markup how a place in the picture changes the state.
"use strict";

(() => {
  // Positions, as in posenc_helpers.py and in the notebooks.

  const TURN = 2 * Math.PI;
  const range = (count, start = 0, step = 1) =>
    Array.from({ length: count }, (_, i) => start + i * step);
  const angularFrequencies = (dModel, maxWavelength = 10_000) =>
    range(dModel / 2).map((i) => maxWavelength ** ((-2 * i) / dModel));
  const rowOf = (position, frequencies) =>
    frequencies.flatMap((w) => [
      Math.sin(position * w),
      Math.cos(position * w),
    ]);
  // Of two rows, by their offset: the cosine of the angle between them, and how
  // far apart they are in row lengths.
  const similarity = (offset, frequencies) =>
    frequencies.reduce((sum, w) => sum + Math.cos(offset * w), 0) /
    frequencies.length;
  const distance = (offset, frequencies) =>
    Math.sqrt(2 - 2 * similarity(offset, frequencies));

  // Numbers.

  const halfTurn = (angle) => angle - TURN * Math.round(angle / TURN);
  const clamp = (low, value, high) => Math.min(high, Math.max(low, value));
  const formats = range(6).map((digits) => {
    const fixed = {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    };
    const plain = { useGrouping: "min2", signDisplay: "negative" };
    return new Intl.NumberFormat("en", { ...fixed, ...plain });
  });
  const number = (value, digits = 0) =>
    formats[digits]
      .format(value)
      .replaceAll(",", "\u00a0")
      .replace("-", "\u2212");
  const short = (value) => number(value, Number.isInteger(value) ? 0 : 1);
  const brief = (value) =>
    value < 1000 ? number(value) : `${number(value / 1000)}k`;

  // Markup of SVG. `tone` is the class that colors a thing.

  const all = (...markup) => markup.flat(Infinity).join("");
  const px = (value) => +value.toFixed(2);
  const path = (points, tone) =>
    `<path class="${tone}" d="M${points.map((p) => p.map(px)).join("L")}"/>`;
  const line = (x1, y1, x2, y2, tone) =>
    `<path class="${tone}" d="M${px(x1)},${px(y1)}L${px(x2)},${px(y2)}"/>`;
  const circle = (x, y, radius, tone) =>
    `<circle class="${tone}" cx="${px(x)}" cy="${px(y)}" r="${px(radius)}"/>`;
  const box = (x, y, width, height, tone, more = "") =>
    `<rect class="${tone}" x="${px(x)}" y="${px(y)}" width="${px(width)}"
      height="${px(height)}" ${more}/>`;
  const text = (x, y, words, tone = "") =>
    `<text class="${tone}" x="${px(x)}" y="${px(y)}">${words}</text>`;
  // What can be dragged: a grip is held by a finger, an area lets it scroll.
  const grip = (name, ...inside) =>
    `<g class="grip" data-drag="${name}">${all(inside)}</g>`;
  const area = (name, ...inside) =>
    `<g class="area" data-drag="${name}">${all(inside)}</g>`;

  // Numbers to pixels, and back.
  function scale([from, to], [start, end]) {
    const pixels = (v) => start + ((v - from) / (to - from)) * (end - start);
    const back = (p) => from + ((p - start) / (end - start)) * (to - from);
    const middle = (start + end) / 2;
    return Object.assign(pixels, { start, end, middle, back });
  }

  const axes = (X, Y, { xTicks, xLabel, yTicks, title = "" }) => [
    yTicks.map((v) => line(X.start, Y(v), X.end, Y(v), "grid")),
    yTicks.map((v) => text(X.start - 8, Y(v) + 4, short(v), "end soft")),
    line(X.start, Y.start, X.end, Y.start, "tick"),
    xTicks.map((v) => line(X(v), Y.start, X(v), Y.start + 4, "tick")),
    xTicks.map((v) => text(X(v), Y.start + 18, number(v), "middle soft")),
    text(X.middle, Y.start + 36, xLabel, "middle soft"),
    text(X.start, 12, title),
  ];
  const curve = (X, Y, xs, valueAt, tone) =>
    path(
      xs.map((x) => [X(x), Y(valueAt(x))]),
      tone,
    );

  // Clock hands, and the heatmap of their sines and cosines.

  const tipOf = ({ x, y, radius }, angle) => [
    x + radius * Math.cos(angle),
    y - radius * Math.sin(angle),
  ];
  const hand = (dial, angle, tone = "") => [
    line(dial.x, dial.y, ...tipOf(dial, angle), `hand ${tone}`),
    circle(...tipOf(dial, angle), 3.5, `tip ${tone}`),
  ];
  function sector(dial, start, angle, tone) {
    const arc = range(33).map((i) => tipOf(dial, start + (i / 32) * angle));
    return path([[dial.x, dial.y], ...arc], tone);
  }
  const knob = (x, y, tone) =>
    circle(x, y, 22, "room") + circle(x, y, 8, `knob ${tone}`);

  // By how many radians a drag has turned a hand, wherever it took hold.
  function turned(dial, drag) {
    const { x, y } = drag.pointer;
    const angle = Math.atan2(dial.y - y, x - dial.x);
    drag.turned ??= 0;
    drag.turned += halfTurn(angle - (drag.angle ?? angle));
    drag.angle = angle;
    return drag.turned;
  }

  // Blue, white and red, as in `plot_matrix`.
  const RED_BLUE = [
    ...["053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7"],
    ...["fddbc7", "f4a582", "d6604d", "b2182b", "67001f"],
  ].map((hex) => hex.match(/../g).map((two) => parseInt(two, 16)));
  function mixed(value) {
    const place = clamp(0, 5 * (value + 1), 9.999);
    const low = Math.floor(place);
    return RED_BLUE[low].map((part, k) =>
      Math.round(part + (RED_BLUE[low + 1][k] - part) * (place - low)),
    );
  }
  const color = (value) => `rgb(${mixed(value)})`;
  // Rows of values as a picture in the format BMP, a pixel each. A canvas would
  // do, but browsers that hide their machine change what is read back from it.
  function bitmap(rows) {
    const [width, height] = [rows[0].length, rows.length];
    const rowLength = 4 * Math.ceil((3 * width) / 4);
    const bytes = new Uint8Array(54 + rowLength * height);
    const view = new DataView(bytes.buffer);
    bytes.set([0x42, 0x4d]);
    [bytes.length, 0, 54, 40, width, -height].forEach((word, i) =>
      view.setInt32(2 + 4 * i, word, true),
    );
    view.setInt16(26, 1, true);
    view.setInt16(28, 24, true); // bits of a pixel
    rows.forEach((row, y) =>
      row.forEach((value, x) => {
        bytes.set(mixed(value).reverse(), 54 + rowLength * y + 3 * x);
      }),
    );
    return `data:image/bmp;base64,${btoa(String.fromCharCode(...bytes))}`;
  }
  const heatmap = (count, x, y, width, height) =>
    `<image x="${px(x)}" y="${px(y)}" width="${px(width)}"
      height="${px(height)}" preserveAspectRatio="none"
      href="${bitmap(ROWS.slice(0, count))}"/>`;


  // For each figure its settings: where each begins, and its range. JSON, since
  // posenc/play.py reads it too; a start with a point allows fractions, and
  // what starts as letters is a text, with the range of its length.
  const RANGES = {
    "apart": { "position": [20, 0, 99], "frequency": [1.0, 0.05, 3.1] },
    "hands": { "position": [7, 0, 63] },
    "pair": { "position": [7, 0, 63], "offset": [3, 0, 32] },
    "alike": {
      "position": [40, 0, 127],
      "d_model": [64, 4, 512],
      "max_wavelength": [10000, 100, 1000000]
    },
    "rotary": {
      "query": [20, 0, 63],
      "key": [32, 0, 63],
      "pair": [8, 0, 31],
      "rotary_dim": [64, 16, 64],
      "base": [10000, 100, 1000000],
      "vectors": [0, 0, 2]
    },
    "unseen": {
      "trained": [20, 4, 64],
      "length": [40, 4, 160],
      "base": [10000, 1, 100000000],
      "remedy": [0, 0, 3]
    },
    "patches": {
      "encoding": [0, 0, 3],
      "below": [0, 0, 2],
      "row": [6, 0, 15],
      "column": [9, 0, 15],
      "height": [16, 4, 16],
      "width": [16, 4, 16],
      "base": [10, 1, 10000]
    },
    "inside": {
      "text": ["birthplaces", 2, 128],
      "length": [32, 32, 128],
      "position": [24, 0, 127],
      "head": [0, 0, 7],
      "heads": [255, 0, 255],
      "pairs": [65535, 0, 65535],
      "positions": [3, 0, 3]
    }
  };

  const figures = {};
  const WAVELENGTHS = { power: 10, step: 0.25 }; // a slider of the logarithm

  // One row of the encoding: eight clock hands, each read twice.

  const HANDS = angularFrequencies(16);
  const ROWS = range(96).map((position) => rowOf(position, HANDS));

  figures.hands = {
    ask: `Drag the framed row through the matrix, or turn one of the first four
      hands. Which hands tell neighboring positions apart? Which tell the first
      half of the positions from the second?`,
    note: `The number above each dial is the hand's wavelength. The first hand is
      back where it was after 6.3 positions, so its columns flicker from row to
      row and tell neighbors apart. The third hand needs 63 positions: its sine
      is red, or positive, in the first half and blue, or negative, in the
      second. The last hand needs 19\u00a0869, so its columns hardly change.`,
    settings: {
      position: { label: "Position" },
    },
    plays: "position",
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
        return [
          text(x, 12, period, "middle soft"),
          isFast ? grip(i, clock, room) : clock,
        ];
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
      const heading = wide
        ? text(0, 12, "wave-", "soft") + text(0, 25, "length", "soft")
        : text(left - 10, 12, "λ", "end soft");
      const turns = (i, digits) => number((position * HANDS[i]) / TURN, digits);
      return {
        pictures: [
          {
            ...{ width, height: top + 282 },
            layers: [
              [heading, clocks],
              cells,
              area("row", heatmap(64, left, top, right - left, 256)),
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
          },
        ],
        drag: {
          row: ({ y }) => ({ position: clamp(0, Math.floor(Y.back(y)), 63) }),
          ...HANDS.map((w, i) => (place, drag) => {
            drag.from ??= position;
            const moved = drag.from + turned(dialOf(i), drag) / w;
            return { position: clamp(0, Math.round(moved), 63) };
          }),
        },
        says: `Position ${position}: the first hand has made ${turns(0, 1)}
          turns, the fourth ${turns(3, 2)}, the last ${turns(7, 4)}.`,
      };
    },
  };

  // Four signals, and how far one position is from 99 others, in units of the
  // longest row of 1000 positions: 0.00999 for the index, 1 for hands.

  const SIGNALS = [
    ["Index / 100\u00a0000", (k) => Math.abs(k) / 999],
    ["One slow hand, frequency 0.001", (k) => distance(k, [0.001])],
    ["One fast hand, frequency", (k, frequency) => distance(k, [frequency])],
    ["Eight hands, a row of 16 columns", (k) => distance(k, HANDS)],
  ];
  const CLEAR = 0.1; // of the longest row

  figures.apart = {
    ask: `Drag the marked position. Each dot shows how far another position
      is from it, as a share of the signal's longest row. In which of the four
      signals do dots fall below the dashed line, at a tenth?`,
    note: `By index and by the slow hand, all positions are too close. At
      frequency 1, the fast hand tells neighbors apart, but it comes back to
      where it was. Can you find a better frequency? Some positions stay too
      close at any of them, because a hundred tips do not fit on one circle a
      tenth apart. Eight hands keep all positions apart: within 100 positions,
      they are never all back at once.`,
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
      // On a phone, the verdict needs the room beside a title.
      const named = (title, i) => {
        const full = i === 2 ? `${title} ${frequency}` : title;
        return width < 500 ? full.replace(/^One (.)/, upper) : full;
      };
      const upper = (_, first) => first.toUpperCase();
      const strips = SIGNALS.map(([title, signal], i) => {
        const Y = scale([0, 1], [88 * i + 84, 88 * i + 26]);
        const far = (p) => signal(p - position, frequency);
        nearest[i] = Math.min(...others.map(far));
        const close = others.filter((p) => far(p) < CLEAR).length;
        return [
          text(X.start, Y.end - 10, named(title, i)),
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
            const y = Y(Math.min(far(p), 1));
            return circle(X(p), y, width < 500 ? 1.6 : 2.4, tone);
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
            ...{ width, height: floor + 42 },
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
          },
        ],
        drag: {
          mark: ({ x }) => ({ position: clamp(0, Math.round(X.back(x)), 99) }),
        },
        says: `The position nearest to ${position} is at a distance of
          ${number(nearest[0], 3)} by index, ${number(nearest[1], 3)} by the
          slow hand, ${number(nearest[2], 3)} by the fast hand, and
          ${number(nearest[3], 2)} by eight hands.`,
      };
    },
  };

  // Position p and position p + k: two rows, and two hands on each dial.

  figures.pair = {
    ask: `Drag the blue row, which takes the orange one along. Then drag the
      orange row alone. When does the dot product of the two rows change?`,
    note: `While both rows move, all hands turn, the last ones too little to
      see, and yet the angle between a blue hand and its orange one stays the
      same. So does the dot product, which depends on the offset alone.`,
    settings: {
      position: { label: "Position, p", tone: "blue" },
      offset: { label: "Offset, k", tone: "orange" },
    },
    plays: "position",
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
            ...{ width: half, height: 214 },
            layers: [
              area("both", heatmap(96, left, 4, right - left, 192)),
              text((left + right) / 2, 211, "96 rows of 16", "middle soft"),
              framed(later, "later", right + 4, `p + k: ${later}`, "orange"),
              framed(position, "both", left - 74, `p: ${position}`, "blue"),
            ],
          },
          {
            ...{ width: half, height: deep },
            layers: [
              axes(K, V, {
                ...{ xTicks: [0, 8, 16, 24, 32], xLabel: "Offset, k" },
                ...{ yTicks: [0, 4, 8], title: "Dot product of the two rows" },
              }),
              curve(K, V, range(129, 0, 0.25), product, "curve"),
              line(x, y, x, V.start, "dashed"),
              line(K.start, y, x, y, "dashed"),
              grip("offset", knob(x, y, "orange")),
            ],
          },
        ],
        drag: {
          both: (place) => ({ position: clamp(0, rowAt(place), 63) }),
          later: (place) => ({ offset: clamp(0, rowAt(place) - position, 32) }),
          offset: ({ x }) => ({ offset: clamp(0, Math.round(K.back(x)), 32) }),
        },
        says: `The dot product of rows ${position} and ${later} is
          ${number(product(offset), 2)}. That of a row with itself is 8.`,
      };
    },
  };

  // How alike one position is to all others.

  figures.alike = {
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
            ...{ width, height: 210 },
            layers: [
              area("mark", box(P.start, 0, P.end - P.start, 166, "room")),
              axes(P, U, {
                ...{ xTicks: [0, 32, 64, 96, 127], xLabel: "Position" },
                ...{ yTicks, title: share },
              }),
              line(marked, U.start, marked, top, "mark"),
              curve(P, U, range(128), to, "curve blue"),
              range(128).map((p) => circle(P(p), U(to(p)), 1.6, "dot blue")),
              grip("mark", knob(marked, top, "blue")),
            ],
          },
          {
            ...{ width, height: 166 },
            layers: [
              axes(K, L, {
                ...{ xTicks: [-127, -64, 0, 64, 127], yTicks },
                xLabel: "Offset from the marked position",
              }),
              curve(K, L, range(255, -127), similar, "curve faint"),
              curve(K, L, range(128, -position), similar, "curve blue"),
            ],
          },
        ],
        drag: {
          mark: ({ x }) => ({ position: clamp(0, Math.round(P.back(x)), 127) }),
        },
        says: `The dot product of a row with itself is ${product(0)}, with the
          next row ${product(1)}, and with the row ten positions away
          ${product(10)}.`,
      };
    },
  };

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

  figures.rotary = {
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
    draw({ query, key, pair, rotary_dim, base, vectors }, width) {
      const rotating = angularFrequencies(rotary_dim, base);
      const frequencies = range(32).map((i) => rotating[i] ?? 0);
      const w = frequencies[pair];
      const offset = query - key;
      const [ofQuery, ofKey] = VECTORS[vectors].hands(frequencies);
      const apart = ofKey.map((angle, i) => angle - ofQuery[i]);
      const scoreOf = (i, k) => Math.cos(apart[i] - k * frequencies[i]);
      const ofPair = (k) => scoreOf(pair, k);
      const score = (k) =>
        range(32).reduce((sum, i) => sum + scoreOf(i, k), 0) / 32;

      // On a phone, there is less room for the pictures.
      const wide = width >= 500;
      const height = wide ? 236 : 206;

      // Two positions, and the bar between them.
      const P = scale([0, 63], [34, width - 34]);
      const [low, high] = [query, key].sort((a, b) => a - b);
      const [x0, x1] = [P(low), P(high)];
      const between = clamp(32, (x0 + x1) / 2, width - 32);
      const sign = offset > 0 ? -1 : 1;
      const aside = sign * Math.max(0, 23 - (x1 - x0) / 2);
      const place = (x) => clamp(0, Math.round(P.back(x)), 63);

      // Two arrows, rotated from where they point at position 0.
      const one = 0.4 * width;
      const radius = Math.min(0.42 * one, 84);
      const dial = { x: one / 2, y: height / 2, radius };
      const [queryAt0, keyAt0] = [ofQuery[pair], ofKey[pair]];
      const begins = (angle, tone = "") =>
        line(dial.x, dial.y, ...tipOf(dial, angle), `dashed ${tone}`);
      const arrow = (name, angle, tone) => {
        const tip = tipOf(dial, angle);
        const stem = line(dial.x, dial.y, ...tip, `arrow ${tone}`);
        return w ? [stem, grip(name, knob(...tip, tone))] : stem;
      };
      const turn = (name, position) => (place, drag) => {
        drag.from ??= position;
        const moved = drag.from + turned(dial, drag) / w;
        return { [name]: clamp(0, Math.round(moved), 63) };
      };
      const unit = wide ? " positions" : "";
      const title = w ? `a turn in ${brief(TURN / w)}${unit}` : "does not turn";

      const two = width - one - 8;
      const D = scale([-63, 63], [34, two - 14]);
      const S = scale([-1, 1], [height - 40, 40]);
      const offsets = range(505, -63, 0.25);
      const far = Math.abs(offset);
      const where = far
        ? `The key is ${far} position${far > 1 ? "s" : ""}
          ${offset > 0 ? "before" : "after"} the query.`
        : "Query and key are at the same position.";
      return {
        pictures: [
          {
            ...{ width, height: wide ? 104 : 86 },
            layers: [
              line(P.start, 40, P.end, 40, "tick"),
              range(8, 0, 9)
                .filter((p) => Math.abs(P(p) - between) > 40)
                .map((p) => text(P(p), 66, p, "middle soft")),
              wide ? text(P.end, 84, "Position", "end soft") : "",
              grip(
                "bar",
                box(x0, 20, x1 - x0, 40, "room"),
                box(x0, 34, x1 - x0, 12, "bar"),
              ),
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
          },
          {
            ...{ width: one, height },
            layers: [
              text(one / 2, 14, `Pair ${pair}: ${title}`, "middle"),
              sector(
                dial,
                queryAt0 + query * w,
                halfTurn(apart[pair] - offset * w),
                "between",
              ),
              circle(dial.x, dial.y, dial.radius, "dial"),
              queryAt0 === keyAt0
                ? begins(queryAt0)
                : [begins(queryAt0, "blue"), begins(keyAt0, "orange")],
              arrow("turn query", queryAt0 + query * w, "blue"),
              arrow("turn key", keyAt0 + key * w, "orange"),
              text(
                one / 2,
                dial.y + radius + 26,
                "dashed: at position 0",
                "middle soft",
              ),
            ],
          },
          {
            ...{ width: two, height },
            layers: [
              axes(D, S, {
                ...{ xTicks: [-63, 0, 63], xLabel: "Offset: query minus key" },
                ...{ yTicks: [-1, 0, 1], title: "Score by offset" },
              }),
              text(D.end, 34, "all pairs", "end blue"),
              text(D.end - 62, 34, `pair ${pair}`, "end orange"),
              curve(D, S, offsets, ofPair, "curve thin orange"),
              curve(D, S, offsets, score, "curve blue"),
              line(D(offset), S(-1), D(offset), S(1), "mark"),
              circle(D(offset), S(ofPair(offset)), 4, "dot orange"),
              circle(D(offset), S(score(offset)), 5, "dot blue"),
            ],
          },
        ],
        drag: {
          query: ({ x }) => ({ query: place(x) }),
          key: ({ x }) => ({ key: place(x) }),
          "turn query": turn("query", query),
          "turn key": turn("key", key),
          bar({ x }, drag) {
            drag.from ??= { x, query, key, low, high };
            const { from } = drag;
            const by = Math.round(P.back(x) - P.back(from.x));
            const moved = clamp(-from.low, by, 63 - from.high);
            return { query: from.query + moved, key: from.key + moved };
          },
        },
        says: `${where} For ${VECTORS[vectors].words}, the score of pair ${pair}
          is ${number(ofPair(offset), 2)}, and the mean of all pairs
          ${number(score(offset), 2)}.`,
      };
    },
  };

  // Angles that a model has met in training, and those that it has not.

  figures.unseen = {
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
      const isNew = (w, i) =>
        !isFull(w) && length * after[i] > trained * w * (1 + 1e-9);
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
      const place = (x, most) => clamp(4, Math.round(P.back(x)), most);

      const radius = Math.min(0.1 * width, 70);
      const turns = (angle) =>
        `${number(angle / TURN, angle < TURN ? 3 : 1)} turns`;
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
          text(
            dial.x,
            2 * radius + 77,
            turns(length * after[i]),
            "middle orange",
          ),
        ];
      });
      const named = new Intl.ListFormat("en").format(fresh.map(String));
      const plural = fresh.length > 1 ? "pairs" : "pair";
      return {
        pictures: [
          {
            ...{ width, height: 96 },
            layers: [
              line(P(0), 72, P(160), 72, "tick"),
              range(5, 0, 40).map((p) => text(P(p), 90, p, "middle soft")),
              end("trained", trained, 20, `${trained} in training`, "blue"),
              end("length", length, 54, `${length} in the text`, "orange"),
            ],
          },
          { width, height: 2 * radius + 84, layers: [dials] },
        ],
        drag: {
          trained: ({ x }) => ({ trained: place(x, 64) }),
          length: ({ x }) => ({ length: place(x, 160) }),
        },
        says: [
          fresh.length
            ? `The text turns ${plural} ${named} beyond what training shows.`
            : "The text turns no pair beyond what training shows.",
          fastest < 0
            ? "Every pair makes a full turn in training."
            : `Pair ${fastest} is the fastest without a full turn in training.`,
          `Each position turns pair 0 by ${number(after[0], 2)} radians, as its
            thin line shows.`,
        ].join(" "),
      };
    },
  };

  // The patches of an image, and how one patch scores all others.

  const PATCH_PAIRS = 16; // 32 columns, as in notebook 14
  const TRAINED_WIDTH = 8; // where patch numbers have learned what is below
  const geometric = (count, base) =>
    range(count).map((i) => base ** (-i / count));
  const numberWaves = (base) => geometric(PATCH_PAIRS, base).map((w) => [w]);
  // Radians per row down and per column to the right, for each pair.
  const axialWaves = (base) => {
    const frequencies = geometric(PATCH_PAIRS / 2, base);
    return [
      ...frequencies.map((w) => [w, 0]),
      ...frequencies.map((w) => [0, w]),
    ];
  };
  const mixedWaves = (base) =>
    geometric(PATCH_PAIRS, base).map((w, i) => [
      w * Math.sin(0.618 * Math.PI * i),
      w * Math.cos(0.618 * Math.PI * i),
    ]);

  // A head that is to look at two offsets with half of its weight each. Patch
  // numbers have offsets [number], and the others [down, right].
  const cosinesAndSines = (offset, waves) =>
    waves.flatMap((wave) => {
      const angle = wave.reduce((sum, w, i) => sum + w * offset[i], 0);
      return [Math.cos(angle), Math.sin(angle)];
    });
  const dot = (one, two) => one.reduce((sum, x, i) => sum + x * two[i], 0);
  const softmax = (scores) => {
    const highest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - highest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  };
  // Gradient descent with steps that adapt, as in notebook 14.
  function trainedQuery(rows, wanted, steps = 400) {
    let found = rows[0].map(() => 0);
    let [trial, slope, step, lowest] = [found, found, 1, Infinity];
    for (let k = 0; k < steps; k++) {
      const weights = softmax(rows.map((row) => dot(row, trial)));
      const loss = -wanted.reduce((sum, i) => sum + Math.log(weights[i]), 0);
      if (loss < lowest) {
        [found, lowest, step] = [trial, loss, 1.2 * step];
        slope = found.map(() => 0);
        rows.forEach((row, i) => {
          const error = weights[i] - (wanted.includes(i) ? 0.5 : 0);
          row.forEach((x, j) => (slope[j] += error * x));
        });
      } else {
        step /= 2;
      }
      trial = found.map((x, j) => x - step * slope[j]);
    }
    return found;
  }
  const trained = new Map(); // queries, by encoding and base
  function queryRightAndBelow(isNumbered, waves, name) {
    if (trained.has(name)) return trained.get(name);
    const around = range(31).map((i) => i - 15);
    const offsets = isNumbered
      ? range(127).map((i) => [i - 63])
      : around.flatMap((down) => around.map((right) => [down, right]));
    const goals = isNumbered ? [[1], [TRAINED_WIDTH]] : [[0, 1], [1, 0]];
    const rows = offsets.map((offset) => cosinesAndSines(offset, waves));
    const wanted = goals.map((goal) =>
      offsets.findIndex((offset) => `${offset}` === `${goal}`),
    );
    trained.set(name, trainedQuery(rows, wanted));
    return trained.get(name);
  }
  figures.patches = {
    narrow: true,
    ask: `Let the head look one below, and change the image's width. With which
      encodings does the dot stay below the frame? With which can the head look
      right and below at once?`,
    note: `If patches are numbered row by row, a head that was trained at a width
      of 8 looks 8 numbers ahead, which is the patch below at that width alone. With a row
      and a column for each patch, the dot stays below. 2-D sinusoids and axial
      RoPE make the same cross, because a score is a part for the row plus a
      part for the column. Such a head cannot look right and below alone: the
      frame and the diagonal patch take as much. Mixed RoPE has slanted waves,
      which make a spot, and its head can look at the two alone at any width. A
      larger base makes this slower to learn, because most waves hardly move
      within 16 rows.`,
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
    draw({ encoding, below, height, base, ...state }, room) {
      // In a smaller image, the frame waits at its edge.
      const columns = state.width;
      const row = Math.min(state.row, height - 1);
      const column = Math.min(state.column, columns - 1);
      const isNumbered = encoding === 0;
      const makers = [numberWaves, axialWaves, axialWaves, mixedWaves];
      const waves = makers[encoding](base);
      const places = range(height).flatMap((y) =>
        range(columns).map((x) => [y - row, x - column]),
      );
      const offsets = isNumbered
        ? places.map(([down, right]) => [down * columns + right])
        : places;
      const ahead = isNumbered ? [TRAINED_WIDTH] : [1, 0]; // one below
      const weighs = below === 2; // a trained head, whose weights are shown
      const goal = ahead.map((step) => below * step);
      const name = `${makers[encoding].name} ${base}`;
      const query = weighs
        ? queryRightAndBelow(isNumbered, waves, name)
        : cosinesAndSines(goal, waves).map((x) => x / PATCH_PAIRS);
      const scores = offsets.map((offset) =>
        dot(query, cosinesAndSines(offset, waves)),
      );
      const values = weighs ? softmax(scores) : scores;
      const cells = places.map(([down, right], i) => {
        return { y: row + down, x: column + right, value: values[i] };
      });
      const best = cells.reduce((one, two) =>
        two.value > one.value + 1e-9 ? two : one,
      );
      // Weights that are almost the largest have a dot, too.
      const peaks = weighs
        ? cells.filter(({ value }) => value > 0.75 * best.value)
        : [best];
      const tone = (value) => color(weighs ? Math.min(2 * value, 1) : value);

      const size = room < 500 ? Math.min(15, (room - 96) / 16) : 21;
      const left = Math.max(26, (room - 16 * size - 60) / 2);
      const X = scale([0, 16], [left, left + 16 * size]);
      const Y = scale([0, 16], [20, 20 + 16 * size]);
      const bar = scale([1, -1], [Y.start, Y.start + 8 * size]);
      const barX = X.end + 16;
      const [centerX, centerY] = [X(column + 0.5), Y(row + 0.5)];
      const ticks = (count) => range(count).filter((k) => k % 4 === 0);

      const named = [
        ["To the right", 0, 1],
        ["Below", 1, 0],
        ["Diagonal", 1, 1],
        ...(weighs ? [["Itself", 0, 0]] : []),
      ]
        .filter(([, y, x]) => row + y < height && column + x < columns)
        .map(([name, y, x]) => {
          const value = values[(row + y) * columns + column + x];
          return `${name}: ${number(value, 2)}.`;
        });
      const [kind, high, low, digits] = weighs
        ? ["weight", 0.5, 0, 2]
        : ["score", 1, -1, 0];
      return {
        pictures: [
          {
            ...{ width: room, height: Y.end + 6 },
            layers: [
              [
                ticks(columns).map((x) =>
                  text(X(x + 0.5), Y.start - 6, x, "middle soft"),
                ),
                ticks(height).map((y) =>
                  text(X.start - 6, Y(y + 0.5) + 4, y, "end soft"),
                ),
              ],
              area(
                "query",
                cells.map(({ y, x, value }) =>
                  box(
                    ...[X(x) + 0.5, Y(y) + 0.5, size - 1, size - 1, ""],
                    `fill="${tone(value)}"`,
                  ),
                ),
              ),
              [
                range(40).map((k) =>
                  box(
                    ...[barX, bar(1 - k / 20), 10, bar(0.95) - bar(1) + 0.5],
                    "",
                    `fill="${tone(high - ((k + 0.5) / 40) * (high - low))}"`,
                  ),
                ),
                [1, 0, -1].map((v) => {
                  const value = (high + low) / 2 + (v * (high - low)) / 2;
                  const said = number(value, digits);
                  return text(barX + 15, bar(v) + 4, said, "soft");
                }),
                text(barX, bar.end + 20, kind, "soft"),
              ],
              peaks.map(({ x, y }) =>
                circle(X(x + 0.5), Y(y + 0.5), 0.2 * size, "peak"),
              ),
              grip(
                "query",
                box(centerX - 22, centerY - 22, 44, 44, "room"),
                box(X(column), Y(row), size, size, "halo"),
                box(X(column), Y(row), size, size, "frame"),
              ),
            ],
          },
        ],
        drag: {
          query: ({ x, y }) => ({
            row: clamp(0, Math.floor(Y.back(y)), height - 1),
            column: clamp(0, Math.floor(X.back(x)), columns - 1),
          }),
        },
        says: weighs
          ? `Weights. ${named.join(" ")}`
          : `Highest score: ${number(best.value, 2)}, at row ${best.y}, column
              ${best.x}. ${named.join(" ")}`,
      };
    },
  };

  // A trained transformer of two layers, the one that notebook 13 builds.

  const HEADS = 4; // in each layer
  const PAIRS = angularFrequencies(16); // of a head
  const A = "a".charCodeAt(0);

  // A matrix that `pack` of posenc/stored.py has rounded.
  function unpack({ shape: [rows, columns], scales, steps }) {
    const bytes = Uint8Array.from(atob(steps), (c) => c.charCodeAt(0));
    const values = Float64Array.from(
      new Int8Array(bytes.buffer),
      (step, i) => step * scales[Math.floor(i / columns)],
    );
    return { rows, columns, values };
  }
  let stored = null; // unpacked when it is needed first
  function model() {
    if (stored) return stored;
    const all = globalThis.posencInside.map(unpack);
    const [letters, rating] = [all[0], all.at(-1)];
    // Of each layer: query, key, value, mix.
    stored = { letters, layers: [all.slice(1, 5), all.slice(5, 9)], rating };
    return stored;
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

  // From dark to bright, as unsigned values are drawn in the notebooks: 256
  // colors between these nine, as red, green, blue.
  const VIRIDIS = [
    ...["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80"],
    ...["5ec962", "addc30", "fde725", "fde725"],
  ].map((hex) => hex.match(/../g).map((two) => parseInt(two, 16)));
  const BRIGHTNESS = range(256).map((step) => {
    const place = (8 * step) / 255;
    const low = Math.floor(place);
    return VIRIDIS[low].map(
      (part, k) => part + (VIRIDIS[low + 1][k] - part) * (place - low),
    );
  });
  function mapImage(weights, count) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = count;
    const pen = canvas.getContext("2d");
    const pixels = pen.createImageData(count, count);
    for (let p = 0; p < count; p++) {
      for (let at = p * count; at <= p * count + p; at++) {
        const color = BRIGHTNESS[Math.round(255 * weights[at])];
        for (let k = 0; k < 3; k++) pixels.data[4 * at + k] = color[k];
        pixels.data[4 * at + 3] = 255; // what is ahead stays clear
      }
    }
    pen.putImageData(pixels, 0, 0);
    return canvas.toDataURL();
  }

  // Only what the switches and the letters change is computed anew.
  const isOn = (switches, place) => Math.floor(switches / 2 ** place) % 2;
  const computed = { for: "" };
  function compute(letters, { heads, pairs, positions }) {
    const wanted = [letters, heads, pairs, positions].join();
    if (computed.for === wanted) return computed;
    const frequencies = [0, 1].map((layer) =>
      PAIRS.map((w, i) =>
        isOn(positions, layer) && isOn(pairs, 8 * layer + i) ? w : 0,
      ),
    );
    const on = [0, 1].map((layer) =>
      range(HEADS).map((head) => isOn(heads, HEADS * layer + head)),
    );
    Object.assign(computed, run(letters, frequencies, on), { for: wanted });
    const count = letters.length;
    const rows = range(count).map((p) =>
      computed.ratings.subarray(26 * p, 26 * p + 26),
    );
    computed.foretold = rows.map((row) => row.indexOf(Math.max(...row)));
    computed.images = computed.maps.map((map) => mapImage(map, count));
    return computed;
  }

  const LAYERS = ["first", "second"];
  const headOf = (place) =>
    `${LAYERS[Math.floor(place / HEADS)]} layer, head ${place % HEADS}`;

  figures.inside = {
    needs: "posencInside", // the weights, which come in a script of their own
    ask: `Below each letter stands what the model has foretold for it, in a frame
      if it is wrong. Columns show where the shown head looks from the marked
      letter. Switch heads and pairs off, one at a time. Which head of the first
      layer does the model need most, and where does it look? Which of the two
      layers can do without RoPE?`,
    note: `Head 2 of the first layer looks one letter back: without it, about half
      of the letters are wrong, and without any other head, hardly one. Of all
      pairs, it needs the two fastest, 0 and 1, of the first layer. The second
      layer compares letters, wherever they stand. Without its RoPE, nothing is
      lost, and at 128 letters more are right than with it.`,
    settings: {
      text: {
        label: "Letters that repeat",
        clean: (typed) => typed.toLowerCase().replace(/[^a-z]/g, ""),
      },
      length: { label: "Length of text", room: "half" },
      position: {
        ...{ label: "Letter that looks", room: "half", tone: "orange" },
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
    compute, // for the tests
    draw(state, width) {
      const { text: typed, length, head } = state;
      const letters = range(length).map(
        (p) => typed.charCodeAt(p % typed.length) - A,
      );
      const position = Math.min(state.position, length - 1);
      const { maps, images, foretold } = compute(letters, state);
      const spelled = (letter) => String.fromCharCode(A + letter);

      // The text, in rows of 16 or 32 letters.
      const inRow = width < 540 ? 16 : 32;
      const cell = width / inRow;
      const [bar, deep] = [12, 44]; // pixels of a column, and of a row
      const at = (p) => [
        ((p % inRow) + 0.5) * cell,
        Math.floor(p / inRow) * deep,
      ];
      const weights = maps[head].subarray(position * length);
      const known = range(length).filter((p) => p > typed.length);
      const right = known.filter((p) => foretold[p - 1] === letters[p]);
      const cells = letters.map((letter, p) => {
        const [x, y] = at(p);
        const seen = p <= position ? weights[p] : 0;
        const guess = p > 0 ? spelled(foretold[p - 1]) : "";
        const isKnown = p > typed.length;
        const isWrong = isKnown && foretold[p - 1] !== letter;
        const tone = isWrong ? "orange strong" : isKnown ? "blue" : "soft";
        return [
          box(x - 4, y + bar * (1 - seen), 8, bar * seen, "weight"),
          text(x, y + bar + 14, spelled(letter), "middle letter"),
          text(x, y + bar + 29, guess, `middle ${tone}`),
          isWrong ? box(x - 7, y + bar + 18, 14, 15, "wrong orange") : "",
        ];
      });
      const [x, y] = at(position);
      const rows = Math.ceil(length / inRow);

      // The maps, four in a row.
      const size = Math.min((width - 3 * 8) / HEADS, 128);
      const gap = (width - HEADS * size) / (HEADS - 1);
      const step = size + 21;
      const places = images.map((image, place) => [
        (place % HEADS) * (size + gap),
        Math.floor(place / HEADS) * step + 18,
      ]);
      const pictures = images.map((image, place) => {
        const [left, top] = places[place];
        const isOff = !isOn(state.heads, place);
        const whole = width < 540 ? `head ${place % HEADS}` : headOf(place);
        const title = isOff ? `${whole}: off` : whole;
        return [
          `<image class="${isOff ? "off" : ""}" x="${px(left)}" y="${px(top)}"
            width="${px(size)}" height="${px(size)}" href="${image}"/>`,
          box(left, top, size, size, "edge"),
          text(left, top - 5, title, place === head ? "strong" : "soft"),
        ];
      });
      const [left, top] = places[head];
      const lineAt = top + ((position + 0.5) / length) * size;

      // What the shown head does, on average over the text.
      const mean = (from, offset) => {
        const all = range(length).slice(from);
        const sum = all.reduce(
          (total, p) => total + maps[head][p * length + p - offset],
          0,
        );
        return all.length ? number(sum / all.length, 2) : "0";
      };
      const before = mean(1, 1);
      const after = mean(typed.length, typed.length - 1);
      const score = known.length
        ? `In later rounds, ${right.length} of ${known.length} letters are
          right.`
        : "No letter can be foretold, because nothing is repeated yet.";
      return {
        pictures: [
          {
            ...{ width, height: rows * deep },
            layers: [
              area("letter", box(0, 0, width, rows * deep, "room")),
              cells,
              grip(
                "letter",
                box(x - cell / 2, y + bar, cell, 34, "room"),
                box(x - 8, y + bar + 1, 16, 17, "frame orange", 'rx="3"'),
              ),
            ],
          },
          {
            ...{ width, height: 2 * step },
            layers: [
              pictures,
              [
                box(left, top, size, size, "frame orange"),
                line(left - 4, lineAt, left + size + 4, lineAt, "looks"),
              ],
              area("map", box(0, 0, width, 2 * step, "room")),
            ],
          },
        ],
        drag: {
          letter: ({ x, y }) => {
            const column = clamp(0, Math.floor(x / cell), inRow - 1);
            const row = clamp(0, Math.floor(y / deep), rows - 1);
            return { position: Math.min(row * inRow + column, length - 1) };
          },
          map: ({ x, y }) => {
            const column = clamp(0, Math.floor(x / (size + gap)), HEADS - 1);
            return { head: HEADS * (y < step ? 0 : 1) + column };
          },
        },
        says: `${score} The shown head: ${before} of its weight on the letter
          before, ${after} on the answer.`,
      };
    },
  };

  for (const [name, settings] of Object.entries(RANGES)) {
    for (const [setting, [start, min, max]] of Object.entries(settings)) {
      Object.assign(figures[name].settings[setting], { start, min, max });
    }
  }

  // What all figures share: the state, the sliders, the hand that moves them.

  class Stage {
    constructor(host) {
      this.host = host;
      this.figure = figures[host.getAttribute("figure")];
      this.state = {};
      for (const [name, { start }] of Object.entries(this.figure.settings)) {
        const given = host.dataset[name] ?? start;
        this.state[name] = typeof start === "string" ? given : Number(given);
      }
      const root = host.attachShadow({ mode: "open" });
      root.innerHTML = `<style>${STYLE}</style>
        <div class="figure ${this.figure.narrow ? "narrow" : ""}" role="group"
          aria-label="A figure to play with">
          <p class="ask">${this.figure.ask}</p>
          <div class="pictures"></div>
          <div class="controls">${this.controls()}</div>
          <p class="says"></p>
          <p class="heard" role="status"></p>
          <p class="note">${this.figure.note}</p>
        </div>`;
      this.part = (selector) => root.querySelector(selector);
      this.parts = (selector) => root.querySelectorAll(selector);
      this.listen(this.part(".figure"));
    }

    controls() {
      const controls = Object.entries(this.figure.settings).map(
        ([name, setting]) => {
          if (setting.choices) return buttons(name, setting);
          if (setting.switches) return switches(name, setting);
          if (setting.clean) return field(name, setting);
          return slider(name, setting);
        },
      );
      const button = '<button type="button">Play</button>';
      return `${this.figure.plays ? button : ""}
        <div class="settings">${controls.join("")}</div>`;
    }

    // Change the state as the reader wants it.
    move(changes) {
      Object.assign(this.state, changes);
      this.host.toggleAttribute("played", true);
      this.draw();
      // Said when the figure has come to rest, and not at every step.
      clearTimeout(this.soon);
      if (!this.timer) {
        const say = () => {
          this.part(".heard").textContent = this.part(".says").textContent;
        };
        this.soon = setTimeout(say, 800);
      }
    }

    draw() {
      const room = this.part(".pictures").clientWidth;
      if (!room) return; // folded away
      this.view = this.figure.draw(this.state, room);
      this.view.pictures.forEach((picture, i) => this.paint(picture, i));
      this.part(".says").textContent = this.view.says.replace(/\s+/g, " ");
      for (const [name, setting] of Object.entries(this.figure.settings)) {
        const value = this.state[name];
        if (setting.choices) {
          this.part(`[name=${name}][value="${value}"]`).checked = true;
          continue;
        }
        if (setting.switches) {
          for (const input of this.parts(`[name=${name}]`)) {
            input.checked = isOn(value, input.value);
          }
          continue;
        }
        const input = this.part(`[name=${name}]`);
        if (setting.clean) {
          // Not while the reader types in it.
          if (!input.matches(":focus")) input.value = value;
          continue;
        }
        const most = setting.last?.(this.state) ?? setting.max;
        const shown = Math.min(value, most);
        input.max = track({ ...setting, max: most }).max;
        input.value = track(setting).at(shown);
        const words = inWords(setting, shown, this.state);
        input.setAttribute("aria-valuetext", words);
        input.previousElementSibling.textContent = words;
      }
    }

    // Only what has changed is drawn anew.
    paint({ width, height, layers }, i) {
      const svg =
        this.part(".pictures").children[i] ??
        this.part(".pictures").appendChild(
          document.createElementNS(SVG, "svg"),
        );
      svg.setAttribute("aria-hidden", "true");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.style.width = `${width}px`;
      layers.forEach((markup, k) => {
        const layer =
          svg.children[k] ??
          svg.appendChild(document.createElementNS(SVG, "g"));
        const wanted = all(markup);
        if (layer.markup !== wanted) layer.innerHTML = layer.markup = wanted;
      });
    }

    // Mouse, pen and finger on the pictures; keys on sliders and button.
    listen(node) {
      let drag = null; // from where a move began, until it ends
      const act = (event) => {
        const toPicture = drag.svg.getScreenCTM().inverse();
        const inPicture = (x, y) =>
          new DOMPoint(x, y).matrixTransform(toPicture);
        drag.pointer = inPicture(event.clientX, event.clientY);
        const { x, y } = drag.held;
        const place = inPicture(event.clientX - x, event.clientY - y);
        this.move(this.view.drag[drag.name](place, drag));
      };
      const on = (kind, then, more) => node.addEventListener(kind, then, more);
      on("pointerdown", (event) => {
        const part = event.target.closest("[data-drag]");
        if (!part || event.button) return;
        this.pause();
        const svg = part.ownerSVGElement;
        // A finger on an area may be about to scroll: it taps there.
        const taps = event.pointerType === "touch" && part.matches(".area");
        drag = { name: part.dataset.drag, svg, taps, held: { x: 0, y: 0 } };
        // A grip stays under the pointer as it was taken, off its middle.
        if (part.matches(".grip")) {
          const { x, y, width, height } = part.getBoundingClientRect();
          drag.held.x = event.clientX - x - width / 2;
          drag.held.y = event.clientY - y - height / 2;
        }
        svg.setPointerCapture(event.pointerId);
        if (event.pointerType !== "touch") act(event);
      });
      on("pointermove", (event) => drag && !drag.taps && act(event));
      on("pointerup", (event) => drag && act(event));
      on("lostpointercapture", () => (drag = null));
      // Marks no text, and selects no cell of JupyterLab.
      on("mousedown", (event) => {
        if (!event.target.closest("[data-drag]")) return;
        event.preventDefault();
        event.stopPropagation();
      });
      // Chromium reads `touch-action` of whole pictures only.
      const hold = (event) =>
        event.target.closest(".grip") && event.preventDefault();
      on("touchstart", hold, { passive: false });
      on("input", ({ target }) => {
        this.pause();
        const { name, value, checked } = target;
        const setting = this.figure.settings[name];
        if (setting.switches) {
          const change = (checked ? 1 : -1) * 2 ** value;
          this.move({ [name]: this.state[name] + change });
        } else if (setting.clean) {
          const typed = setting.clean(value);
          if (typed.length >= setting.min) this.move({ [name]: typed });
        } else {
          this.move(this.changes(name, track(setting).value(+value), shift));
        }
      });
      let shift = false;
      on("keydown", (event) => (shift = event.shiftKey));
      on("keyup", (event) => (shift = event.shiftKey));
      // What was typed is left as it was understood.
      on("focusout", ({ target }) => {
        if (target.type === "text") target.value = this.state[target.name];
      });
      on("click", ({ target }) => {
        if (target.matches("button")) this.timer ? this.pause() : this.play();
      });
    }

    // What a slider changes: one setting or, with Shift, those beside it too.
    changes(name, value, shift) {
      const names = this.figure.together ?? [];
      if (!shift || !names.includes(name)) return { [name]: value };
      const within = (by, each) => {
        const { min, max } = this.figure.settings[each];
        return clamp(min - this.state[each], by, max - this.state[each]);
      };
      const by = names.reduce(within, value - this.state[name]);
      return Object.fromEntries(
        names.map((each) => [each, this.state[each] + by]),
      );
    }

    play() {
      const name = this.figure.plays;
      const { min, max } = this.figure.settings[name];
      const step = () => {
        const next = this.state[name] + 1;
        this.move({ [name]: next > max ? min : next });
      };
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      this.timer = setInterval(step, calm ? 1000 : 250);
      this.part("button").textContent = "Pause";
    }

    pause() {
      if (!this.timer) return;
      clearInterval(this.timer);
      this.timer = 0;
      this.part("button").textContent = "Play";
      this.move({});
    }
  }

  // `show` says a value; the other settings may have a say in it.
  const inWords = ({ show }, value, state) =>
    show ? show(value, state) : number(value);

  function slider(name, setting) {
    const { min, max, step } = track(setting);
    const { tone = "", room = "" } = setting;
    return `<label class="setting ${tone} ${room}">
      <span>${setting.label}</span>
      <span class="value" aria-hidden="true"></span>
      <input type="range" name="${name}" min="${min}" max="${max}"
        step="${step}"></label>`;
  }
  function buttons(name, { label, choices, room = 8.5 }) {
    const each = choices.map(
      (words, value) => `<label class="choice">
        <input type="radio" name="${name}" value="${value}">${words}</label>`,
    );
    return `<fieldset style="--room: ${room}rem"><legend>${label}</legend>
      ${each.join("")}</fieldset>`;
  }

  function field(name, { label, max }) {
    return `<label class="field"><span>${label}</span>
      <input type="text" name="${name}" maxlength="${max}" autocomplete="off"
        autocapitalize="none" spellcheck="false"></label>`;
  }
  // Rows of small switches, which are the bits of one number.
  function switches(name, { switches: rows }) {
    let place = 0;
    return rows.map(({ label, names, marks }) => {
      const each = names.map(
        (whole, i) => `<label class="switch">
          <input type="checkbox" name="${name}" value="${place++}"
            aria-label="${whole}">${marks?.[i] ?? i}</label>`,
      );
      return `<div class="row" role="group" aria-label="${label}">
        <span aria-hidden="true">${label}</span>${each.join("")}</div>`;
    }).join("");
  }

  // A setting with a `power` has a slider for its logarithm.
  function track({ min, max, step = 1, power }) {
    const same = (value) => value;
    if (!power) return { min, max, step, at: same, value: same };
    const at = (value) => +(Math.log(value) / Math.log(power)).toFixed(9);
    const value = (place) => Number((power ** place).toPrecision(3));
    return { min: at(min), max: at(max), step, at, value };
  }

  const SVG = "http://www.w3.org/2000/svg";
  const STYLE = `
    :host {
      --ink: #1c2024; --soft: #565d67; --line: #9aa1ab; --grid: #e6e9ed;
      --blue: #1f6fb2; --orange: #b95504; --ground: #fff;
      color-scheme: light; display: block; margin: 0.5rem 0 1rem;
      max-width: 46rem;
      /* A change of color shows that the theme has changed. */
      transition: color 1ms;
    }
    :host([dark]) {
      --ink: #e9ebee; --soft: #a9b1bc; --line: #69717d; --grid: #2e343d;
      --blue: #62b0f3; --orange: #ffa94d; --ground: #15191e;
      color-scheme: dark;
    }
    @media print { :host { display: none; } }
    * { box-sizing: border-box; }
    .figure {
      background: var(--ground); border: 1px solid var(--line);
      border-radius: 10px; color: var(--ink); container-type: inline-size;
      padding: 0.8rem 0.9rem;
      font: 0.95rem/1.45 system-ui, "Helvetica Neue", "Segoe UI",
        "Liberation Sans", Arial, sans-serif; text-align: left;
    }
    p { margin: 0 0 0.6rem; text-wrap: pretty; }
    .ask { font-weight: 600; }
    .says { font-variant-numeric: tabular-nums; }
    .heard { clip-path: inset(50%); height: 1px; margin: 0; overflow: hidden;
      position: absolute; white-space: nowrap; width: 1px; }
    .note { border-left: 3px solid var(--orange); margin: 0.6rem 0 0;
      padding-left: 0.6rem; }
    :host(:not([played])) .note { display: none; }

    .pictures { column-gap: 0; display: flex; flex-wrap: wrap;
      justify-content: space-between; margin-bottom: 0.5rem; row-gap: 0.6rem; }
    svg { display: block; overflow: visible; touch-action: pan-y pinch-zoom;
      user-select: none; -webkit-user-select: none; }
    svg text { fill: var(--ink); font-size: 12px; paint-order: stroke;
      stroke: var(--ground); stroke-width: 3px; }
    svg .middle { text-anchor: middle; }
    svg .end { text-anchor: end; }
    svg .soft { fill: var(--soft); }
    svg :is(.on-dark, .on-light, .on-tab) { stroke: none; }
    svg .on-dark { fill: #fff; font-size: 11px; }
    svg .on-light { fill: #14171b; font-size: 11px; }
    .blue { --tone: var(--blue); }
    .orange { --tone: var(--orange); }
    svg text:is(.blue, .orange) { fill: var(--tone); }
    path { fill: none; stroke: var(--tone, var(--ink)); }
    image { image-rendering: pixelated; }
    .dial { fill: none; stroke: var(--line); }
    .leg { stroke-width: 4; }
    .hand { stroke-linecap: round; stroke-width: 2; }
    .tip { fill: var(--tone, var(--ink)); stroke: none; }
    .grid { stroke: var(--grid); }
    .tick { stroke: var(--line); }
    .dashed { stroke: var(--tone, var(--soft)); stroke-dasharray: 3 3; }
    .mark { stroke: var(--soft); }
    .curve { stroke-linejoin: round; stroke-width: 2.2; }
    .thin { stroke-width: 1.3; }
    .faint { stroke: var(--line); }
    .dot { fill: var(--tone); }
    .peak { fill: var(--ink); stroke: var(--ground); }
    .knob { fill: var(--ground); stroke: var(--tone); stroke-width: 3.5; }
    .grip:hover .knob { fill: var(--tone); }
    .between { fill: var(--line); opacity: 0.45; stroke: none; }
    .met { fill: var(--blue); opacity: 0.35; stroke: none; }
    .new { fill: var(--orange); opacity: 0.75; stroke: none; }
    .step { stroke: var(--ink); stroke-width: 1.5; }
    .arrow { stroke-width: 3.5; }
    .bar { fill: var(--line); }
    .grip:hover .bar { fill: var(--soft); }
    .long { stroke-width: 8; }
    svg .strong { font-weight: 600; }
    .frame { fill: none; stroke: var(--tone, var(--ink)); stroke-width: 2; }
    .halo { fill: none; stroke: var(--ground); stroke-width: 4; }
    .tab { fill: var(--tone, var(--ink)); }
    svg .on-tab { fill: var(--ground); font-weight: 600; }
    .room { fill: transparent; }
    .weight { fill: var(--blue); }
    .wrong { fill: none; stroke: var(--tone); stroke-width: 1.5; }
    .edge { fill: none; stroke: var(--line); }
    .off { opacity: 0.25; }
    .looks { stroke: var(--orange); stroke-width: 1.5; }
    svg .letter { font-size: 13px; }
    .grip, .area { cursor: grab; }
    .grip:active, .area:active { cursor: grabbing; }
    .grip:hover .dial { stroke: var(--ink); stroke-width: 2; }

    .controls { align-items: end; display: flex; flex-wrap: wrap;
      gap: 0.35rem 1.6rem; margin-bottom: 0.5rem; }
    .settings { display: grid; flex: 1 1 17rem; gap: 0.35rem 1.6rem;
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }
    .narrow .settings {
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); }
    .setting { column-gap: 0.6rem; display: grid;
      grid-template-columns: 1fr auto; }
    .value { color: var(--soft); font-variant-numeric: tabular-nums; }
    input { accent-color: var(--tone, var(--blue)); cursor: pointer;
      margin: 0; }
    [type=range] { grid-column: 1 / -1; height: 1.75rem; width: 100%; }
    fieldset { border: 0; display: grid; gap: 0.35rem; grid-column: 1 / -1;
      grid-template-columns: repeat(auto-fit, minmax(var(--room), 1fr));
      margin: 0; min-width: 0; padding: 0; }
    legend { padding: 0 0 0.2rem; }
    .field { align-items: center; display: grid; gap: 0.2rem 0.6rem;
      grid-column: 1 / -1; grid-template-columns: auto 1fr; }
    [type=text] { background: var(--ground); border: 1.5px solid var(--line);
      border-radius: 8px; color: inherit; cursor: text; font: inherit;
      letter-spacing: 0.08em; min-height: 2rem; min-width: 0;
      padding: 0 0.5rem; }
    .row { align-items: center; display: flex; gap: 0.25rem; }
    .row > span { flex: 0 0 7rem; }
    .switch { border: 1.5px dashed var(--line); border-radius: 6px;
      color: var(--soft); cursor: pointer; flex: 1 1 1.4rem;
      line-height: 1.75rem; max-width: 7rem; position: relative;
      text-align: center; text-decoration: line-through; }
    .switch:has(:checked) { border: 1.5px solid var(--blue);
      color: inherit; font-weight: 600; text-decoration: none; }
    .switch:has(:focus-visible) { outline: 3px solid var(--blue);
      outline-offset: 2px; }
    [type=checkbox] { height: 100%; inset: 0; opacity: 0; position: absolute;
      width: 100%; }
    button, .choice { background: none; border: 1.5px solid var(--blue);
      border-radius: 8px; color: inherit; cursor: pointer; font: inherit;
      min-height: 2.75rem; min-width: 6rem; }
    .choice { align-items: center; border-color: var(--line); display: flex;
      gap: 0.4rem; min-height: 2.2rem; padding: 0 0.5rem; }
    .choice:has(:checked) { border-color: var(--blue); font-weight: 600; }
    /* On a phone, all that changes together is on the screen together. */
    @container (max-width: 31rem) {
      .settings { flex-basis: 100%; row-gap: 0; }
      .setting { line-height: 1.3; }
      .narrow .settings { column-gap: 1rem;
        grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
      .settings:has(.half) { column-gap: 0.8rem;
        grid-template-columns: 1fr 1fr; }
      .field { margin-bottom: 0.3rem; }
      [type=text] { min-height: 1.75rem; }
      .row, .settings:has(.half) .setting:not(.half) {
        grid-column: 1 / -1; }
      .row + .row { margin-top: 0.15rem; }
      .switch { font-size: 0.9em; line-height: 1.6rem; }
      .row > span { flex-basis: 6.2rem; font-size: 0.86em; }
      [type=range] { height: 1.5rem; }
      button { flex: 1; }
    }
    :focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
    [type=range]:focus-visible { border-radius: 6px; outline-offset: -3px; }`;

  // The picture that a figure stands for: in its cell, the one before it.
  function pictureAbove(host) {
    const ends = ".jp-Cell, .cell, article, body";
    const isWithin = (node) => node && !node.matches(ends);
    // In a shadow root the way up ends without any of these.
    for (let node = host; isWithin(node); node = node.parentElement) {
      let before = node;
      while ((before = before.previousElementSibling)) {
        if (before.matches("img") || before.querySelector("img")) return before;
      }
    }
    return null;
  }

  class Play extends HTMLElement {
    // JupyterLab takes outputs out of the page and puts them back.
    connectedCallback() {
      const figure = figures[this.getAttribute("figure")];
      if (!figure) return; // the picture stands
      if (figure.needs && !globalThis[figure.needs]) {
        const again = () => this.isConnected && this.connectedCallback();
        globalThis.addEventListener(figure.needs, again, { once: true });
        return;
      }
      this.stage ??= new Stage(this);
      this.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's
      pictureAbove(this)?.classList.add("posenc-still");
      this.sizes = new ResizeObserver(() => this.repaint());
      this.sizes.observe(this);
      this.addEventListener("transitionend", this.repaint);
      this.addEventListener("transitioncancel", this.repaint);
    }
    disconnectedCallback() {
      this.sizes?.disconnect();
      this.stage?.pause();
    }
    // Dark is where the page writes in light colors.
    repaint() {
      const [r, g, b] = getComputedStyle(this).color.match(/[\d.]+/g);
      this.toggleAttribute("dark", +r + +g + +b > 380);
      this.stage.draw();
    }
  }

  if (!customElements.get("posenc-play")) {
    const style = document.createElement("style");
    style.textContent =
      "@media screen { .posenc-still { display: none !important; } }";
    document.head.append(style);
    customElements.define("posenc-play", Play);
  }
  globalThis.posencFigures = figures; // for whoever writes one, and the tests
})();
