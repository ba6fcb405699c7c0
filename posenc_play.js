// Figures to play with, such as <posenc-play figure="hands" data-position="7">.
//
// `play` of posenc_helpers.py writes that element, and brings this file along.
// It needs no kernel, no library and no network. On screen a figure takes the
// place of the still picture above it; on paper the picture is printed.
//
// A figure is an object: the question it asks (`ask`), what to notice after
// the first move (`note`), its `settings`, each with a slider, and `draw`.
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
    frequencies.flatMap((w) => [Math.sin(position * w), Math.cos(position * w)]);
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
  const number = (value, digits = 0) =>
    (Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value)
      .toFixed(digits)
      .replace("-", "\u2212")
      .replace(/\B(?=(\d{3})+$)/, (_, end, at, all) =>
        all.length > 4 && !all.includes(".") ? "\u00a0" : "",
      );
  const brief = (value) =>
    value < 1000 ? number(value) : `${number(value / 1000)}k`;

  // Markup of SVG. `tone` is the class that colors a thing.

  const px = (value) => +value.toFixed(2);
  const line = (points, tone) =>
    `<path class="${tone}" d="M${points.map((p) => p.map(px)).join("L")}"/>`;
  const circle = (x, y, radius, tone) =>
    `<circle class="${tone}" cx="${px(x)}" cy="${px(y)}" r="${px(radius)}"/>`;
  const box = (x, y, width, height, tone, more = "") =>
    `<rect class="${tone}" x="${px(x)}" y="${px(y)}" width="${px(width)}"
      height="${px(height)}" ${more}/>`;
  const text = (x, y, words, tone = "") =>
    `<text class="${tone}" x="${px(x)}" y="${px(y)}">${words}</text>`;
  // What can be dragged: a grip is held by a finger, an area lets it scroll.
  const grip = (name, inside) =>
    `<g class="grip" data-drag="${name}">${inside}</g>`;
  const area = (name, inside) =>
    `<g class="area" data-drag="${name}">${inside}</g>`;

  // Numbers to pixels, and back.
  function scale([from, to], [start, end]) {
    const pixels = (v) => start + ((v - from) / (to - from)) * (end - start);
    const back = (p) => from + ((p - start) / (end - start)) * (to - from);
    return Object.assign(pixels, { start, end, back });
  }

  function axes(X, Y, { xTicks, xLabel, yTicks, digits = 0, title = "" }) {
    const across = yTicks.map((v) =>
      line([[X.start, Y(v)], [X.end, Y(v)]], "grid") +
      text(X.start - 8, Y(v) + 4, number(v, digits), "end soft"));
    const along = xTicks.map((v) =>
      line([[X(v), Y.start], [X(v), Y.start + 4]], "tick") +
      text(X(v), Y.start + 18, number(v), "middle soft"));
    return across.join("") + along.join("") +
      line([[X.start, Y.start], [X.end, Y.start]], "tick") +
      text((X.start + X.end) / 2, Y.start + 36, xLabel, "middle soft") +
      text(X.start, 12, title);
  }

  // Clock hands, and the heatmap of their sines and cosines.

  const tipOf = (dial, angle, part = 1) => [
    dial.x + part * dial.radius * Math.cos(angle),
    dial.y - part * dial.radius * Math.sin(angle),
  ];
  const hand = (dial, angle, tone = "hand") =>
    line([[dial.x, dial.y], tipOf(dial, angle)], tone) +
    circle(...tipOf(dial, angle), 3.5, `tip ${tone}`);

  const knob = (x, y, tone) =>
    circle(x, y, 22, "room") + circle(x, y, 8, `knob ${tone}`);
  function sector(dial, from, to, tone) {
    const arc = range(33).map((i) => tipOf(dial, from + ((to - from) * i) / 32));
    return line([[dial.x, dial.y], ...arc, [dial.x, dial.y]], tone);
  }

  // Whoever drags a hand turns it, from wherever it is taken.
  function turned(dial, frequency, place, drag) {
    const angle = Math.atan2(dial.y - place.y, place.x - dial.x);
    const by = angle - (drag.angle ?? angle);
    drag.angle = angle;
    drag.turned = (drag.turned ?? 0) + halfTurn(by);
    return drag.turned / frequency;
  }

  // Blue, white and red, as in `plot_matrix`.
  const RED_BLUE = [
    ...["053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7"],
    ...["fddbc7", "f4a582", "d6604d", "b2182b", "67001f"],
  ].map((hex) => hex.match(/../g).map((two) => parseInt(two, 16)));
  function color(value) {
    const place = clamp(0, 5 * (value + 1), 9.999);
    const low = Math.floor(place);
    const mixed = RED_BLUE[low].map((part, k) =>
      Math.round(part + (RED_BLUE[low + 1][k] - part) * (place - low)),
    );
    return `rgb(${mixed})`;
  }
  function heatmap(rows, x, y, width, height) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [rows[0].length, rows.length];
    const pen = canvas.getContext("2d");
    rows.forEach((row, p) =>
      row.forEach((value, column) => {
        pen.fillStyle = color(value);
        pen.fillRect(column, p, 1, 1);
      }),
    );
    return `<image x="${px(x)}" y="${px(y)}" width="${px(width)}"
      height="${px(height)}" preserveAspectRatio="none"
      href="${canvas.toDataURL()}"/>`;
  }

  const figures = {};
  const BASE = {
    ...{ label: "Maximum wavelength", start: 10_000, min: 100, max: 1e6 },
    ...{ power: 10, step: 0.25 },
  };

  // One row of the encoding: eight clock hands, read twice each.

  const HANDS = angularFrequencies(16);
  const ROWS = range(64).map((position) => rowOf(position, HANDS));

  figures.hands = {
    ask: `Drag the framed row through the matrix, or turn one of the fast hands
      on the left. Which hands tell neighboring positions apart? Which tell the
      first half of the positions from the second?`,
    note: `The number above each dial is the hand's wavelength. The first hand is
      back where it was after 6.3 positions, the last one after 19\u00a0869. That
      is why the left columns flicker from row to row, while the right columns
      hardly change.`,
    settings: {
      position: { label: "Position", start: 7, min: 0, max: 63 },
    },
    plays: "position",
    draw({ position }, width) {
      const wide = width > 540;
      const [left, cell] = [46, (width - 50) / 16];
      const radius = Math.min(0.84 * cell, 34);
      const dials = HANDS.map((_, i) => (
        { x: left + (2 * i + 1) * cell, y: 24 + radius, radius }
      ));
      const strip = 48 + 2 * radius;
      const top = strip + 44;
      const Y = scale([0, 64], [top, top + 256]);

      const clocks = HANDS.map((w, i) => {
        const { x, y } = dials[i];
        const angle = position * w;
        const [tipX, tipY] = tipOf(dials[i], angle);
        const wavelength = TURN / w;
        const shown = wide ? number(wavelength, i ? 0 : 1) : brief(wavelength);
        const drawn =
          circle(x, y, radius, "dial") +
          line([[x, y], [tipX, y]], "leg orange") +
          line([[tipX, y], [tipX, tipY]], "leg blue") +
          hand(dials[i], angle);
        // A slow hand would run through all positions at a touch.
        const isFast = 64 * w > 1;
        return text(x, 12, shown, "middle soft") +
          (isFast ? grip(i, drawn + circle(x, y, radius + 4, "room")) : drawn);
      });
      const row = ROWS[position].map((value, column) => {
        const x = left + column * cell;
        const name = column % 2 ? ["cos", "c", "orange"] : ["sin", "s", "blue"];
        const tone = Math.abs(value) > 0.55 ? "on-dark" : "on-light";
        return box(x, strip, cell, 26, "", `fill="${color(value)}"`) +
          text(x + cell / 2, strip - 6, name[wide ? 0 : 1], `middle ${name[2]}`) +
          (wide ? text(x + cell / 2, strip + 17.5, number(value, 2), `middle ${tone}`) : "");
      });
      const [from, to] = [Y(position), Y(position + 1)];
      const [x0, x1] = [left, left + 16 * cell];
      const frame =
        line([[x0, strip + 26], [x0, to], [x1, to], [x1, strip + 26]], "frame") +
        line([[x0, from], [x1, from]], "frame") +
        box(x0, strip, x1 - x0, 26, "frame");
      const labels = [0, 16, 32, 48, 63].map((p) =>
        Math.abs(p - position) < 6 ? "" : text(left - 10, Y(p + 0.5) + 4, p, "end soft"),
      );
      const tab = grip(
        "row",
        box(0, from - 20, left + 40, 44, "room") +
          box(6, from - 9, 34, 22, "tab", 'rx="5"') +
          text(23, from + 6.5, position, "middle on-tab"),
      );
      const turns = (i, digits) => number((position * HANDS[i]) / TURN, digits);
      const toRow = ({ y }) => ({ position: clamp(0, Math.floor(Y.back(y)), 63) });
      return {
        pictures: [
          {
            width,
            height: top + 282,
            layers: [
              (wide
                ? text(0, 12, "wave-", "soft") + text(0, 25, "length", "soft")
                : text(left - 10, 12, "λ", "end soft")) + clocks.join(""),
              row.join(""),
              area("row", heatmap(ROWS, left, top, 16 * cell, 256)),
              text(left + 8 * cell, top + 276, "16 columns, two for each hand", "middle soft"),
              labels.join("") + frame + tab,
            ],
          },
        ],
        drag: {
          row: toRow,
          ...HANDS.map((w, i) => (place, drag) => {
            drag.from ??= position;
            const moved = drag.from + turned(dials[i], w, place, drag);
            return { position: clamp(0, Math.round(moved), 63) };
          }),
        },
        says: `Position ${position}: the first hand has made ${turns(0, 1)} turns,
          the fourth ${turns(3, 2)}, the last ${turns(7, 4)}.`,
      };
    },
  };

  // Four signals, and how far one position is from a hundred others.

  const SIGNALS = {
    "Index / 100 000": () => (k) => Math.abs(k) / 100_000,
    "One slow hand, frequency 0.001": () => (k) => distance(k, [0.001]),
    "One fast hand, frequency": ({ frequency }) => (k) => distance(k, [frequency]),
    "Eight hands, as in a row of 16 columns": () => (k) => distance(k, HANDS),
  };
  const CLEAR = 0.1; // of the longest row

  figures.apart = {
    ask: `Drag the marked position. In which of the four signals do other
      positions come closer to it than the dashed line, a tenth of the length
      of a row?`,
    note: `By index and by the slow hand, neighbors are nearly equal. The fast
      hand tells neighbors apart, but it comes back. Try other frequencies: a
      hundred tips do not fit on one circle a tenth apart, so some positions
      are always too close. Eight hands manage both, because they are never all
      back at once.`,
    settings: {
      position: { label: "Marked position", start: 20, min: 0, max: 99, tone: "blue" },
      frequency: {
        ...{ label: "Frequency of the fast hand", start: 1, min: 0.05, max: 3.1 },
        ...{ step: 0.01, show: (frequency) => number(frequency, 2) },
      },
    },
    draw({ position, frequency }, width) {
      const others = range(100).filter((q) => q !== position);
      const X = scale([0, 99], [34, width - 12]);
      const height = 88;
      const found = [];
      const strips = Object.entries(SIGNALS).map(([title, signal], i) => {
        const far = signal({ frequency });
        const Y = scale([0, 1], [i * height + 84, i * height + 26]);
        const close = others.filter((q) => far(q - position) < CLEAR);
        found.push(Math.min(...others.map((q) => far(q - position))));
        const words = i === 2 ? `${title} ${number(frequency, 2)}` : title;
        const verdict = close.length ? `${close.length} too close` : "all clear";
        return text(34, Y.end - 10, words) +
          text(width - 12, Y.end - 10, verdict, `end ${close.length ? "orange" : "good"}`) +
          [0, 1].map((v) =>
            line([[X.start, Y(v)], [X.end, Y(v)]], "grid") +
            text(26, Y(v) + 4, v ? "≥ 1" : "0", "end soft")).join("") +
          line([[X.start, Y(CLEAR)], [X.end, Y(CLEAR)]], "dashed") +
          others.map((q) => {
            const y = Y(Math.min(far(q - position), 1));
            const tone = close.includes(q) ? "orange" : "blue";
            return circle(X(q), y, width < 500 ? 1.6 : 2.4, `dot ${tone}`);
          }).join("");
      });
      const floor = 4 * height + 4;
      const ticks = range(5, 0, 25).map((p) => Math.min(p, 99));
      const marked = X(position);
      const drag = ({ x }) => ({ position: clamp(0, Math.round(X.back(x)), 99) });
      return {
        pictures: [
          {
            width,
            height: floor + 42,
            layers: [
              area("position", box(X.start, 0, X.end - X.start, floor, "room")),
              line([[marked, 12], [marked, floor - 4]], "mark"),
              strips.join(""),
              ticks.map((p) => Math.abs(p - position) < 6 ? "" : text(X(p), floor + 20, p, "middle soft")).join("") +
                text((X.start + X.end) / 2, floor + 36, "Position", "middle soft"),
              grip("position", knob(marked, floor - 4, "blue") +
                text(marked, floor + 20, position, "middle strong")),
            ],
          },
        ],
        drag: { position: drag },
        says: `Nearest to position ${position}: ${number(found[0], 5)} away by index,
          ${number(found[1], 3)} by the slow hand, ${number(found[2], 3)} by the fast
          hand, ${number(found[3], 2)} by eight hands.`,
      };
    },
  };

  // A row and the row k positions later, hand and ghost.

  const MORE_ROWS = range(96).map((position) => rowOf(position, HANDS));

  figures.pair = {
    ask: `Drag the blue row, which takes the orange one along. Then drag the orange
      row alone. When does the dot product of the two rows change?`,
    note: `While both rows move, every hand turns, and yet the angle between a blue
      hand and its orange one stays. So does the dot product, which depends on the
      offset alone.`,
    settings: {
      position: { label: "Position, p", start: 7, min: 0, max: 63, tone: "blue" },
      offset: { label: "Offset, k", start: 3, min: 0, max: 32, tone: "orange" },
    },
    plays: "position",
    draw({ position, offset }, width) {
      const later = position + offset;
      const cell = width / 8;
      const radius = Math.min(0.42 * cell, 34);
      const clocks = HANDS.map((w, i) => {
        const dial = { x: (i + 0.5) * cell, y: 6 + radius, radius };
        return sector(dial, position * w, position * w + halfTurn(offset * w), "between") +
          circle(dial.x, dial.y, radius, "dial") +
          hand(dial, later * w, "hand orange") + hand(dial, position * w, "hand blue");
      });

      const half = width < 500 ? width : width / 2 - 8;
      const Y = scale([0, 96], [4, 196]);
      const [x0, x1] = [66, half - 6];
      const row = (p, name, words, tone) =>
        box(x0, Y(p) - 2, x1 - x0, 6, "halo") +
        box(x0, Y(p) - 2, x1 - x0, 6, `frame ${tone}`) +
        grip(
          name,
          box(0, Y(p) - 20, x0 + 40, 44, "room") +
            box(0, Y(p) - 10, 62, 22, `tab ${tone}`, 'rx="5"') +
            text(31, Y(p) + 5.5, words, "middle on-tab"),
        );
      const toRow = ({ y }) => Math.floor(Y.back(y));
      const both = (place) => ({ position: clamp(0, toRow(place), 63) });

      const K = scale([0, 32], [34, half - 12]);
      const V = scale([0, 8], [172, 22]);
      const product = (k) => 8 * similarity(k, HANDS);
      const dot = [K(offset), V(product(offset))];
      return {
        pictures: [
          { width, height: 2 * radius + 24, layers: [
            clocks.join(""),
          ] },
          { width: half, height: 214, layers: [
            area("both", heatmap(MORE_ROWS, x0, 4, x1 - x0, 192)),
            row(later, "later", `p + k ${later}`, "orange") + row(position, "both", `p ${position}`, "blue"),
            text((x0 + x1) / 2, 211, "96 rows of 16 columns", "middle soft"),
          ] },
          { width: half, height: 214, layers: [
            axes(K, V, {
              ...{ xTicks: range(5, 0, 8), xLabel: "Offset, k" },
              ...{ yTicks: [0, 4, 8], title: "Dot product of the two rows" },
            }),
            line(range(129, 0, 0.25).map((k) => [K(k), V(product(k))]), "curve"),
            line([[dot[0], V.start], dot, [K.start, dot[1]]], "dashed"),
            grip("offset", knob(...dot, "orange")),
          ] },
        ],
        drag: {
          both,
          later: (place) => ({ offset: clamp(0, toRow(place) - position, 32) }),
          offset: ({ x }) => ({ offset: clamp(0, Math.round(K.back(x)), 32) }),
        },
        says: `The dot product of rows ${position} and ${later} is
          ${number(product(offset), 2)}. That of a row with itself is 8.`,
      };
    },
  };

  // How alike one position is to all others.

  figures.alike = {
    ask: `Drag the marked position to the left and to the right. What happens to the
      shape of its curve? Then change the number of columns.`,
    note: `The lower curve stays as it is, and its blue part slides along: the
      similarity of two positions depends on their offset alone. Columns and
      maximum wavelength do change its shape.`,
    settings: {
      position: { label: "Marked position", start: 40, min: 0, max: 127, tone: "blue" },
      d_model: { label: "Columns, d", start: 64, min: 4, max: 512, power: 2 },
      max_wavelength: BASE,
    },
    draw({ position, d_model, max_wavelength }, width) {
      const frequencies = angularFrequencies(d_model, max_wavelength);
      const curve = range(128).map((k) => similarity(k, frequencies));
      const at = (q) => curve[Math.abs(q - position)];
      const ends = [38, width - 12];
      const ticks = { yTicks: [-1, 0, 1] };
      const chart = (X, Y, from, to, tone) =>
        line(range(to - from + 1, from).map((q) => [X(q), Y(at(q + position))]), tone);

      const Q = scale([0, 127], ends);
      const U = scale([-1, 1], [176, 30]);
      const K = scale([-127, 127], ends);
      const L = scale([-1, 1], [126, 14]);
      const points = range(128).map((q) => [Q(q), U(at(q))]);
      const move = ({ x }) => ({ position: clamp(0, Math.round(Q.back(x)), 127) });
      const half = d_model / 2;
      const product = (k) => number(half * curve[k], 2);
      return {
        pictures: [
          { width, height: 220, layers: [
            area("position", box(Q.start, 0, Q.end - Q.start, 176, "room")),
            axes(Q, U, { ...ticks, xTicks: [...range(4, 0, 32), 127],
              xLabel: "Position", title: "Similarity to the marked position" }),
            line([[Q(position), U.start], [Q(position), U(1)]], "mark") +
              line(points, "curve blue") +
              points.map(([x, y]) => circle(x, y, width < 500 ? 1.3 : 2, "dot blue")).join(""),
            grip("position", knob(Q(position), U(1), "blue")),
          ] },
          { width, height: 166, layers: [
            axes(K, L, { ...ticks, xTicks: range(5, -128, 64).map((k) => clamp(-127, k, 127)),
              xLabel: "Offset from the marked position" }),
            chart(K, L, -127, 127, "curve faint") + chart(K, L, -position, 127 - position, "curve blue"),
          ] },
        ],
        drag: { position: move },
        says: `The dot product of a row with itself is ${number(half)}, with the next
          row ${product(1)}, with the row ten positions away ${product(10)}.`,
      };
    },
  };

  // Rotary positions: query and key are turned, each by its own position.

  figures.rotary = {
    ask: `Drag the query, then the key. Then drag the bar between them, which moves
      both. When do the scores change?`,
    note: `The bar turns both arrows by the same angle, so the angle between them and
      all scores stay: they depend on the distance alone. With fewer rotated columns
      the curve rises, because a pair that does not turn scores the same at any
      distance.`,
    settings: {
      query: { label: "Position of the query", start: 20, min: 0, max: 63, tone: "blue" },
      key: { label: "Position of the key", start: 32, min: 0, max: 63, tone: "orange" },
      pair: { label: "Pair on the dial", start: 8, min: 0, max: 31 },
      rotary_dim: {
        ...{ label: "Rotated columns", start: 64, min: 16, max: 64, step: 16 },
        show: (columns) => `${columns} of 64`,
      },
      max_wavelength: BASE,
    },
    draw({ query, key, pair, rotary_dim, max_wavelength }, width) {
      // The pairs that are left out do not turn.
      const turning = angularFrequencies(rotary_dim, max_wavelength);
      const frequencies = range(32).map((i) => turning[i] ?? 0);
      const w = frequencies[pair];
      const offset = key - query;
      const score = (k) => similarity(k, frequencies);

      const P = scale([0, 63], [20, width - 20]);
      const [x0, x1] = [query, key].sort((a, b) => a - b).map(P);
      const place = (x) => clamp(0, Math.round(P.back(x)), 63);
      const label = (x, words, tone) => text(clamp(22, x, width - 22), 14, words, `middle ${tone}`);
      const apart = x1 - x0 < 46 ? Math.sign(offset || 1) * (46 - (x1 - x0)) / 2 : 0;

      const one = 0.4 * width;
      const dial = { x: one / 2, y: 118, radius: Math.min(0.36 * one, 84) };
      const begin = 0.8; // of both, before they are rotated
      const angle = { query: begin + query * w, key: begin + key * w };
      const arrow = (who, tone) =>
        line([[dial.x, dial.y], tipOf(dial, angle[who])], `arrow ${tone}`);
      const turner = (who, tone) =>
        w ? grip(`turn ${who}`, knob(...tipOf(dial, angle[who]), tone)) : "";
      const turn = (who) => (at, drag) => {
        drag.from ??= { query, key }[who];
        const moved = drag.from + turned(dial, w, at, drag);
        return { [who]: clamp(0, Math.round(moved), 63) };
      };
      const product = Math.cos(offset * w);

      const two = width - one - 8;
      const D = scale([0, 63], [34, two - 12]);
      const S = scale([-1, 1], [196, 40]);
      const far = Math.abs(offset);
      return {
        pictures: [
          { width, height: 84, layers: [
            line([[P.start, 40], [P.end, 40]], "tick") +
              range(8, 0, 9).map((p) => line([[P(p), 36], [P(p), 44]], "tick") +
                text(P(p), 66, p, "middle soft")).join("") +
              text(width / 2, 82, "Position", "middle soft"),
            grip("bar", box(x0, 20, x1 - x0, 40, "room") + box(x0, 34, x1 - x0, 12, "bar")),
            label(P(query) - apart, "query", "blue") + label(P(key) + apart, "key", "orange") +
              grip("query", knob(P(query), 40, "blue")) + grip("key", knob(P(key), 40, "orange")),
          ] },
          { width: one, height: 236, layers: [
            text(one / 2, 14, w ? `Pair ${pair}: a turn in ${brief(TURN / w)}` : `Pair ${pair} does not turn`, "middle"),
            sector(dial, angle.query, angle.query + halfTurn(offset * w), "between"),
            circle(dial.x, dial.y, dial.radius, "dial"),
            line([[dial.x, dial.y], tipOf(dial, begin)], "dashed") +
              arrow("query", "blue") + arrow("key", "orange"),
            turner("query", "blue") + turner("key", "orange"),
            text(one / 2, 228, "dashed: both at position 0", "middle soft"),
          ] },
          { width: two, height: 236, layers: [
            axes(D, S, { xTicks: range(4, 0, 21), xLabel: "Distance", yTicks: [-1, 0, 1], title: "Score by distance" }),
            line(range(253, 0, 0.25).map((k) => [D(k), S(Math.cos(k * w))]), "curve thin orange"),
            line(range(253, 0, 0.25).map((k) => [D(k), S(score(k))]), "curve blue"),
            text(D.end, 34, "all pairs", "end blue") + text(D.end - 62, 34, `pair ${pair}`, "end orange"),
            line([[D(far), S(-1)], [D(far), S(1)]], "mark") + circle(D(far), S(score(far)), 5, "dot blue") +
              circle(D(far), S(product), 4, "dot orange"),
          ] },
        ],
        drag: {
          query: ({ x }) => ({ query: place(x) }),
          key: ({ x }) => ({ key: place(x) }),
          "turn query": turn("query"),
          "turn key": turn("key"),
          bar({ x }, drag) {
            drag.from ??= { query, key, at: P.back(x) };
            const { from } = drag;
            const by = clamp(-Math.min(from.query, from.key), Math.round(P.back(x) - from.at),
              63 - Math.max(from.query, from.key));
            return { query: from.query + by, key: from.key + by };
          },
        },
        says: `The key is ${far} positions ${offset < 0 ? "before" : "after"} the query. The
          score of pair ${pair} is ${number(product, 2)}, the mean over all pairs
          ${number(score(far), 2)}.`,
      };
    },
  };

  // Angles that a trained model has met, and those that it has not.

  const REMEDIES = ["none", "interpolation", "NTK-aware", "by parts"];

  figures.unseen = {
    ask: `Drag the end of the text beyond the end of training. Which pair comes to
      angles that it has not met in training? Then try the three remedies.`,
    note: `A pair that has made a full turn in training has met every angle. The
      fastest pair that has not is the first to go where it has never been. Interpolation
      slows every pair, so that neighboring positions come closer for pair 0 too. By
      parts slows only the pairs that have made no full turn.`,
    settings: {
      trained: { label: "Length in training", start: 20, min: 4, max: 64, tone: "blue" },
      length: { label: "Length of the text", start: 40, min: 4, max: 160, tone: "orange" },
      max_wavelength: { ...BASE, min: 1, max: 1e8 },
      remedy: {
        ...{ label: "Remedy", start: 0, min: 0, max: 3 },
        show: (remedy) => REMEDIES[remedy],
      },
    },
    draw({ trained, length, max_wavelength, remedy }, width) {
      const stretch = Math.max(1, length / trained);
      const before = angularFrequencies(8, max_wavelength);
      const after = [
        before,
        before.map((w) => w / stretch),
        angularFrequencies(8, max_wavelength * stretch ** (8 / 6)),
        before.map((w) => (trained * w < TURN ? w / stretch : w)),
      ][remedy];

      const P = scale([0, 160], [16, width - 16]);
      const end = (name, at, y, words, tone) =>
        line([[P(0), y], [P(at), y]], `bar ${tone}`) +
        (at < 100
          ? text(P(at) + 14, y + 4, words, tone)
          : text(P(at) - 14, y - 9, words, `end ${tone}`)) +
        grip(name, knob(P(at), y, tone));
      const place = (x, most) => clamp(4, Math.round(P.back(x)), most);

      const cell = width / 4;
      const radius = Math.min(0.4 * cell, 70);
      const isNew = before.map((w, i) => trained * w < TURN && length * after[i] > trained * w + 1e-9);
      const fastest = before.findIndex((w) => trained * w < TURN);
      const dials = before.map((w, i) => {
        const dial = { x: (i + 0.5) * cell, y: 30 + radius, radius };
        const met = Math.min(trained * w, TURN);
        const reached = Math.min(length * after[i], TURN);
        const ring = { ...dial, radius: radius + 7 };
        const turns = (angle) => number(angle / TURN, angle < 0.995 * TURN ? 3 : 1);
        return text(dial.x, 14, `Pair ${i}`, `middle ${i === fastest ? "strong" : ""}`) +
          sector(dial, 0, met, "met") +
          (isNew[i] ? sector(ring, met, reached, "new") : "") +
          circle(dial.x, dial.y, radius, "dial") +
          line([[dial.x, dial.y], tipOf(dial, after[i])], "step") +
          text(dial.x, 2 * radius + 58, `${turns(trained * w)} turns`, "middle blue") +
          text(dial.x, 2 * radius + 75, `${turns(length * after[i])} turns`, "middle orange");
      });
      const list = before.map((_, i) => i).filter((i) => isNew[i]);
      const words = list.length
        ? `New angles for pair${list.length > 1 ? "s" : ""} ${list.join(", ")}.`
        : "No pair meets a new angle.";
      return {
        pictures: [
          { width, height: 96, layers: [
            line([[P(0), 72], [P(160), 72]], "tick") +
              range(5, 0, 40).map((p) => text(P(p), 90, p, "middle soft")).join(""),
            end("trained", trained, 22, `${trained} in training`, "blue") +
                end("length", length, 54, `${length} in the text`, "orange"),
          ] },
          { width, height: 2 * radius + 82, layers: [dials.join("")] },
        ],
        drag: {
          trained: ({ x }) => ({ trained: place(x, 64) }),
          length: ({ x }) => ({ length: place(x, 160) }),
        },
        says: `${words} ${fastest < 0 ? "Every pair makes a full turn in training." :
          `Pair ${fastest} is the fastest without a full turn in training.`} From one position
          to the next, pair 0 turns by ${number(after[0], 2)} radians.`,
      };
    },
  };

  // What all figures share: the state, the sliders, the hand that moves them.

  class Stage {
    constructor(host) {
      this.host = host;
      this.figure = figures[host.getAttribute("figure")];
      this.state = {};
      for (const [name, { start }] of Object.entries(this.figure.settings)) {
        this.state[name] = Number(host.dataset[name] ?? start);
      }
      const root = host.attachShadow({ mode: "open" });
      root.innerHTML = `<style>${STYLE}</style>
        <div class="figure" role="group" aria-labelledby="ask">
          <p class="ask" id="ask">${this.figure.ask}</p>
          <div class="pictures"></div>
          <p class="says"></p>
          <p class="heard" role="status"></p>
          <div class="controls">${this.controls()}</div>
          <p class="note">${this.figure.note}</p>
        </div>`;
      this.part = (selector) => root.querySelector(selector);
      this.listen(this.part(".figure"));
    }

    controls() {
      const sliders = Object.entries(this.figure.settings).map(
        ([name, setting]) => {
          const { min, max, step } = slider(setting);
          return `<label class="${setting.tone ?? ""}">
            <span>${setting.label}</span>
            <span class="value" aria-hidden="true"></span>
            <input type="range" name="${name}" min="${min}" max="${max}"
              step="${step}"></label>`;
        },
      );
      const button = '<button type="button">Play</button>';
      return `${this.figure.plays ? button : ""}
        <div class="sliders">${sliders.join("")}</div>`;
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
        const input = this.part(`input[name=${name}]`);
        const value = this.state[name];
        const words = (setting.show ?? number)(value, this.state);
        input.value = slider(setting).at(value);
        input.setAttribute("aria-valuetext", words);
        input.previousElementSibling.textContent = words;
      }
    }

    // Only what has changed is drawn anew.
    paint({ width, height, layers }, i) {
      const svg = this.part(".pictures").children[i] ?? this.part(".pictures")
        .appendChild(document.createElementNS(SVG, "svg"));
      svg.setAttribute("aria-hidden", "true");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.style.width = `${width}px`;
      layers.forEach((markup, k) => {
        const layer = svg.children[k] ??
          svg.appendChild(document.createElementNS(SVG, "g"));
        if (layer.markup !== markup) layer.innerHTML = layer.markup = markup;
      });
    }

    // Mouse, pen and finger on the pictures; keys on sliders and button.
    listen(node) {
      let drag = null; // from where a move began, until it ends
      const act = (event) => {
        const toPicture = drag.svg.getScreenCTM().inverse();
        const pointer = new DOMPoint(event.clientX, event.clientY);
        const place = pointer.matrixTransform(toPicture);
        this.move(this.view.drag[drag.name](place, drag));
      };
      const on = (kind, then, more) => node.addEventListener(kind, then, more);
      on("pointerdown", (event) => {
        const part = event.target.closest("[data-drag]");
        if (!part || event.button) return;
        this.pause();
        const svg = part.ownerSVGElement;
        drag = { name: part.dataset.drag, svg };
        svg.setPointerCapture(event.pointerId);
        // A finger on an area may be about to scroll.
        if (event.pointerType !== "touch") act(event);
      });
      on("pointermove", (event) => drag && act(event));
      on("pointerup", (event) => drag && act(event));
      on("lostpointercapture", () => (drag = null));
      // Marks no text, and selects no cell of JupyterLab.
      on("mousedown", (event) => {
        if (!event.target.closest("[data-drag]")) return;
        event.preventDefault();
        event.stopPropagation();
      });
      // Chromium reads `touch-action` of whole pictures only.
      const hold = (event) => event.target.closest(".grip") && event.preventDefault();
      on("touchstart", hold, { passive: false });
      on("input", ({ target }) => {
        this.pause();
        const setting = this.figure.settings[target.name];
        this.move({ [target.name]: slider(setting).value(+target.value) });
      });
      on("click", ({ target }) => {
        if (target.matches("button")) this.timer ? this.pause() : this.play();
      });
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

  // A setting with a `power` has a slider for its logarithm.
  function slider({ min, max, step = 1, power }) {
    const same = (value) => value;
    if (!power) return { min, max, step, at: same, value: same };
    const at = (value) => Math.log(value) / Math.log(power);
    const value = (place) => Number((power ** place).toPrecision(3));
    return { min: at(min), max: at(max), step, at, value };
  }

  const SVG = "http://www.w3.org/2000/svg";
  const STYLE = `
    :host {
      --ink: #1c2024; --soft: #565d67; --line: #9aa1ab; --grid: #e6e9ed;
      --blue: #1f6fb2; --orange: #b95504; --ground: #fff;
      display: block; margin: 0.5rem 0 1rem; max-width: 46rem;
      /* A change of color shows that the theme has changed. */
      transition: color 1ms;
    }
    :host([dark]) {
      --ink: #e9ebee; --soft: #a9b1bc; --line: #69717d; --grid: #2e343d;
      --blue: #62b0f3; --orange: #ffa94d; --ground: #15191e;
    }
    @media print { :host { display: none; } }
    * { box-sizing: border-box; }
    .figure {
      background: var(--ground); border: 1px solid var(--line);
      border-radius: 10px; color: var(--ink); padding: 0.8rem 0.9rem;
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
    .knob { fill: var(--ground); stroke: var(--tone); stroke-width: 3.5; }
    .grip:hover .knob { fill: var(--tone); }
    .between { fill: var(--line); opacity: 0.45; stroke: none; }
    .met { fill: var(--blue); opacity: 0.35; stroke: none; }
    .new { fill: var(--orange); opacity: 0.75; stroke: none; }
    .step { stroke: var(--ink); stroke-width: 1.5; }
    .arrow { stroke-width: 3.5; }
    .bar { fill: var(--line); stroke-width: 8; }
    svg .strong { font-weight: 600; }
    svg .good { fill: var(--soft); }
    .frame { fill: none; stroke: var(--tone, var(--ink)); stroke-width: 2; }
    .halo { fill: none; stroke: var(--ground); stroke-width: 5; }
    .tab { fill: var(--tone, var(--ink)); }
    svg .on-tab { fill: var(--ground); font-weight: 600; }
    .room { fill: transparent; }
    .grip, .area { cursor: grab; }
    .grip:active, .area:active { cursor: grabbing; }
    .grip:hover .dial { stroke: var(--ink); stroke-width: 2; }

    .controls { align-items: end; display: flex; flex-wrap: wrap;
      gap: 0.35rem 1.6rem; }
    .sliders { display: grid; flex: 1 1 17rem; gap: 0.35rem 1.6rem;
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }
    label { column-gap: 0.6rem; display: grid; grid-template-columns: 1fr auto; }
    .value { color: var(--soft); font-variant-numeric: tabular-nums; }
    input { accent-color: var(--tone, var(--blue)); cursor: pointer;
      grid-column: 1 / -1; height: 1.75rem; margin: 0; width: 100%; }
    button { background: none; border: 1.5px solid var(--blue);
      border-radius: 8px; color: inherit; cursor: pointer; font: inherit;
      min-height: 2.75rem; min-width: 6rem; }
    @media (max-width: 40rem) { .says { min-height: 4.35em; } }
    :focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }`;

  // The picture that a figure stands for: in its cell, the one before it.
  function pictureAbove(host) {
    const ends = ".jp-Cell, .cell, article, body";
    for (let node = host; !node.matches(ends); node = node.parentElement) {
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
      if (!figures[this.getAttribute("figure")]) return; // the picture stands
      this.stage ??= new Stage(this);
      this.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's
      pictureAbove(this)?.classList.add("posenc-still");
      this.sizes = new ResizeObserver(() => this.repaint());
      this.sizes.observe(this);
      this.addEventListener("transitionend", this.repaint);
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
