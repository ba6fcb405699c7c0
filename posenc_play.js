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

  // Numbers.

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
    pixels.back = (p) => from + ((p - start) / (end - start)) * (to - from);
    return pixels;
  }

  // Clock hands, and the heatmap of their sines and cosines.

  const tipOf = (dial, angle, part = 1) => [
    dial.x + part * dial.radius * Math.cos(angle),
    dial.y - part * dial.radius * Math.sin(angle),
  ];
  const hand = (dial, angle, tone = "hand") =>
    line([[dial.x, dial.y], tipOf(dial, angle)], tone) +
    circle(...tipOf(dial, angle), 3.5, `tip ${tone}`);

  // Whoever drags a hand turns it, from wherever it is taken.
  function turned(dial, frequency, place, drag) {
    const angle = Math.atan2(dial.y - place.y, place.x - dial.x);
    const by = angle - (drag.angle ?? angle);
    drag.angle = angle;
    drag.turned = (drag.turned ?? 0) + by - TURN * Math.round(by / TURN);
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
      return (this.figure.plays ? button : "") + sliders.join("");
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
      padding-left: 0.6rem; visibility: hidden; }
    :host([played]) .note { visibility: visible; }

    .pictures { display: flex; flex-wrap: wrap; margin-bottom: 0.5rem; }
    svg { display: block; overflow: visible; touch-action: pan-y pinch-zoom;
      user-select: none; -webkit-user-select: none; }
    svg text { fill: var(--ink); font-size: 12px; }
    svg .middle { text-anchor: middle; }
    svg .end { text-anchor: end; }
    svg .soft { fill: var(--soft); }
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
    .frame { fill: none; stroke: var(--ink); stroke-width: 2; }
    .tab { fill: var(--ink); }
    svg .on-tab { fill: var(--ground); font-weight: 600; }
    .room { fill: transparent; }
    .grip, .area { cursor: grab; }
    .grip:active, .area:active { cursor: grabbing; }
    .grip:hover .dial { stroke: var(--ink); stroke-width: 2; }

    .controls { align-items: end; display: flex; flex-wrap: wrap;
      gap: 0.35rem 1.6rem; }
    label { column-gap: 0.6rem; display: grid; flex: 1 1 17rem;
      grid-template-columns: 1fr auto; }
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
