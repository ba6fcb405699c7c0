// Python, and the order in which cells run.
import { Cell } from "./cell.js";

const { search } = new URL(import.meta.url);
const KEYS =
  "Shift and Enter run the cell. Tab indents; Escape and then Tab lead out of the field.";
const STARTING = "Python is starting.";
const STILL = "Python is still starting: the first time, your network has to bring 20 MB.";
const STOPPED =
  "Stopped, so all variables are gone: the next run begins with the cells above it again.";
const LONG = "If it does not end, stop it; all variables are lost then.";

export class Session {
  constructor(boxes) {
    this.start(); // which takes longest
    this.cells = boxes.map((box, index) => new Cell(box, index + 1, (cell) => this.ask(cell)));
    this.queue = [];
    const bar = document.createElement("section");
    bar.className = "session";
    bar.setAttribute("aria-label", "Python");
    bar.innerHTML = `<span role="status"></span><span></span><a href="#your-work">Your work</a>
      <p id="keys-of-cells" hidden>${KEYS}</p>`;
    [this.says, this.more] = bar.children; // `more` has a button, if there is one
    this.stops = posenc.button("Stop", () => this.stop());
    this.more.after(
      this.stops,
      posenc.button("Run all", () => this.runAll()),
    );
    document.querySelector("article").append(bar);
    this.say(STARTING);
  }

  start() {
    this.isReady = false;
    this.worker = new Worker(new URL(`worker.mjs${search}`, import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this[data.kind](data);
    this.worker.onerror = ({ message }) =>
      this.broken({ text: message || "its files do not load" });
    this.later(8, () => this.isReady || this.say(STILL));
  }

  // Do something after some seconds, unless something else is to be done later.
  later(seconds, act) {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, 1000 * seconds);
  }

  say(text, ...more) {
    this.says.textContent = text;
    this.more.replaceChildren(...more);
    this.stops.hidden = !this.running;
  }

  // Cells: they are asked for, planned, and run one after the other.

  ask(cell) {
    const above = this.cells.slice(0, this.cells.indexOf(cell));
    const isAlone = cell.id === "scratch";
    this.plan(
      isAlone ? [cell] : [...above.filter((each) => !each.hasRun && !each.is("solution")), cell],
    );
  }

  runAll() {
    this.plan(this.cells.filter((cell) => !cell.is("solution") && cell.id !== "scratch"));
  }

  plan(cells) {
    for (const cell of cells) {
      const runs = cell === this.running && cell.source === this.asked;
      if (runs || this.queue.includes(cell)) continue;
      cell.say("waits");
      this.queue.push(cell);
    }
    this.next();
  }

  next() {
    if (this.running || !this.queue.length) return;
    this.running = this.queue.shift();
    this.asked = this.running.source;
    this.worker.postMessage({ number: this.running.number, source: this.asked });
    this.say(this.isReady ? this.progress : `${STARTING} Then ${this.running.name} runs.`);
  }

  get progress() {
    const rest = this.queue.length ? `; then ${this.queue.length} more` : "";
    return `${this.running.name} runs${rest}.`;
  }

  // What the worker reports.

  ready() {
    this.isReady = true;
    clearTimeout(this.timer);
    if (!this.running) this.say("Python is ready.");
  }

  begins() {
    this.running.begin();
    this.say(this.progress);
    this.later(10, () => this.say(`${this.running.name} still runs. ${LONG}`));
  }

  output(data) {
    this.running?.outputs.add(data);
  }

  ends({ text: error, line }) {
    clearTimeout(this.timer);
    const cell = this.running;
    this.running = null;
    cell.end(this.asked, error, line);
    const { name } = cell;
    // An exercise that is not solved yet holds nothing up.
    if (error && this.queue.length && !cell.is("exercise", "form")) {
      this.queue.forEach((each) => each.say(""));
      this.queue = [];
      this.say(
        `${name} stopped with an error, so the cells below it did not run.`,
        posenc.button("Show it", () => cell.show(), `Show ${name}`),
      );
    } else if (this.queue.length) {
      this.next();
    } else {
      this.say(`${name} ${error ? "stopped with an error" : "has run"}.`);
    }
  }

  broken({ text }) {
    const who = this.running ? `${this.running.name} made Python fail` : "Python failed";
    this.halt("stopped, because Python failed");
    const again = posenc.button("Start Python again", () => {
      this.start();
      this.say(STARTING);
    });
    this.say(`${who} (${text}). What you wrote is kept.`, again);
  }

  stop() {
    this.halt("stopped");
    this.start();
    this.say(STOPPED);
  }

  // End Python; no cell has run any more.
  halt(word) {
    clearTimeout(this.timer);
    // A crash is reported more than once; the first report names the cell.
    this.worker.onmessage = this.worker.onerror = null;
    this.worker.terminate();
    this.running?.outputs.clear();
    this.running?.say(word);
    this.queue.forEach((cell) => cell.say(""));
    this.queue = [];
    this.running = null;
    this.cells.forEach((cell) => (cell.ran = null));
  }
}
