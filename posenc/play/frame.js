// What all figures share: the state, the pictures, the element on the page.
//
// <posenc-play figure="hands" data-position="7"> is a figure to play with. It
// needs no kernel, no library and no network. On screen it takes the place of
// the still picture above it; on paper the picture is printed.

const SVG = "http://www.w3.org/2000/svg";
const ADDED = "posenc-figure-added"; // an event

// Add a figure to those that elements can show. It is an object with
// - `ask`, the question it asks, and `note`, what to notice after the first
//   move. If the element has a question of its own (data-ask), it takes the
//   place of both, since the note would answer another question;
// - `settings`: each has a `label` and a slider, a button for each of its
//   `choices`, or a field for text that is made `clean`; or it has `switches`.
//   A slider may move by its `step`, or on a scale of powers (`power`), end where
//   the other settings allow (`last`), `show` its value in another way, and have
//   a `tone` and a `room` (its width) of its own. figures.json says where each
//   begins, and the range of its values, or of its length;
// - `together`, the settings that an arrow key moves at once if Shift is held;
//   and `narrow` if two of its many sliders stand side by side on a phone;
// - `draw`, which makes two things from the state, which is a value for each
//   setting, and from the room in pixels: `says`, the numbers in a sentence, and
//   `pictures`. These have `layers` of SVG markup, and `drag`, which holds for
//   each data-drag="name" in the markup how a place changes the state.
function add(name, figure) {
  for (const [setting, listed] of Object.entries(SETTINGS[name])) {
    Object.assign(figure.settings[setting], listed);
  }
  // A page may bring this script more than once, and a figure of its own each
  // time. All of them stand in one list, for the first script's elements.
  globalThis.posencFigures ??= {};
  globalThis.posencFigures[name] = figure;
  define();
  globalThis.dispatchEvent(new Event(ADDED));
}

class Play extends HTMLElement {
  // JupyterLab takes outputs out of the page and puts them back.
  connectedCallback() {
    this.figure ??= globalThis.posencFigures[this.getAttribute("figure")];
    if (!this.figure) {
      // Until its script has run, the picture stands.
      const again = () => this.isConnected && !this.figure && this.connectedCallback();
      globalThis.addEventListener(ADDED, again, { once: true });
      return;
    }
    if (!this.shadowRoot) this.build();
    this.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's
    pictureAbove(this)?.classList.add("posenc-still");
    this.sizes = new ResizeObserver(() => this.repaint());
    this.sizes.observe(this);
    this.addEventListener("transitionend", this.repaint);
    this.addEventListener("transitioncancel", this.repaint);
  }
  disconnectedCallback() {
    this.sizes?.disconnect();
  }

  build() {
    const { settings, narrow, ask, note } = this.figure;
    this.state = {};
    for (const [name, { start }] of Object.entries(settings)) {
      const begin = this.dataset[name] ?? start;
      this.state[name] = typeof start === "string" ? begin : Number(begin);
    }
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${STYLE}</style>
      <div class="figure ${narrow ? "narrow" : ""}" role="group"
        aria-label="A figure to play with">
        <p class="ask"></p>
        <div class="pictures"></div>
        <div class="settings">${controlsOf(settings)}</div>
        <p class="says"></p>
        <p class="heard" role="status"></p>
        <p class="note"></p>
      </div>`;
    this.inner = (selector) => root.querySelector(selector);
    this.inner(".ask").textContent = this.dataset.ask ?? ask;
    this.inner(".note").textContent = "ask" in this.dataset ? "" : note;
    this.listen(this.inner(".figure"));
  }

  // Change the state as the reader wants it.
  move(changes) {
    Object.assign(this.state, changes);
    this.toggleAttribute("played", true);
    this.draw();
    // Said when the figure has come to rest, and not at every step.
    clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      this.inner(".heard").textContent = this.inner(".says").textContent;
    }, 800);
  }

  // Dark is where the page writes in light colors.
  repaint() {
    if (!this.isConnected) return; // taken away in the middle of a transition
    const [r, g, b] = getComputedStyle(this).color.match(/[\d.]+/g);
    this.toggleAttribute("dark", +r + +g + +b > 380);
    this.draw();
  }

  draw() {
    const room = this.inner(".pictures").clientWidth;
    if (!room) return; // folded away
    const { pictures, says } = this.figure.draw(this.state, room);
    this.drags = Object.assign({}, ...pictures.map(({ drag }) => drag));
    pictures.forEach((picture, i) => this.paint(picture, i));
    this.inner(".says").textContent = says.replace(/\s+/g, " ");
    showState(this.inner(".settings"), this.figure.settings, this.state);
  }

  // Only what has changed is drawn anew.
  paint({ width, height, layers }, i) {
    const svg =
      this.inner(".pictures").children[i] ??
      this.inner(".pictures").appendChild(document.createElementNS(SVG, "svg"));
    svg.setAttribute("aria-hidden", "true");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.width = `${width}px`;
    layers.forEach((markup, k) => {
      const layer = svg.children[k] ?? svg.appendChild(document.createElementNS(SVG, "g"));
      const wanted = all(markup);
      if (layer.markup !== wanted) layer.innerHTML = layer.markup = wanted;
    });
  }

  listen(node) {
    listenForDrags(node, (name, place, drag) => this.move(this.drags[name](place, drag)));
    const on = (kind, then) => node.addEventListener(kind, then);
    let shift = false;
    on("keydown", (event) => (shift = event.shiftKey));
    on("keyup", (event) => (shift = event.shiftKey));
    on("input", ({ target }) => {
      const { name } = target;
      const setting = this.figure.settings[name];
      const value = valueOf(target, setting, this.state[name]);
      if (value !== undefined) this.move(this.changes(name, value, shift));
    });
    // What was typed is left as it was understood.
    on("focusout", ({ target }) => {
      if (target.type === "text") target.value = this.state[target.name];
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
    return Object.fromEntries(names.map((each) => [each, this.state[each] + by]));
  }
}

// The picture that a figure stands for, with its link: the last one in its cell.
function pictureAbove(host) {
  const cell = host.closest(".jp-Cell, .cell, article, body");
  const isBefore = (image) =>
    image.compareDocumentPosition(host) & Node.DOCUMENT_POSITION_FOLLOWING;
  const image = [...(cell?.querySelectorAll("img") ?? [])].filter(isBefore).at(-1);
  return image?.closest("a") ?? image;
}

function define() {
  if (customElements.get("posenc-play")) return;
  const style = document.createElement("style");
  style.textContent = "@media screen { .posenc-still { display: none !important; } }";
  document.head.append(style);
  customElements.define("posenc-play", Play);
}
