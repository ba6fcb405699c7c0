// A cell of the page: its code in a field, its buttons, what it shows.
import { Editor } from "./editor.js";
import { Outputs } from "./outputs.js";

const RIGHT = /^Correct\./m; // is what `check` says of a right answer
const NEWER = "This cell has changed since you edited it; to see the new one, reset it.";

export class Cell {
  // Its `box` on the page, its number, and what runs it.
  constructor(box, number, run) {
    Object.assign(this, { box, number, ran: null });
    // An anchor with the cell's id stands before each cell.
    this.id = box.previousElementSibling.id.replace("cell-id=", "");
    this.name = `Cell ${number}`;
    const input = box.querySelector(".cell_input");
    this.original = input.querySelector("pre").textContent.replace(/\n$/, "");
    const kept = posenc.read("cell", this.id);
    this.editor = new Editor(kept?.source ?? this.original, `Code of ${this.name}`, {
      run: () => run(this),
      changed: (source) => this.changed(source),
    });
    this.says = document.createElement("span");
    this.resets = posenc.button("Reset", () => this.reset(), `Reset ${this.name}`);
    const bar = document.createElement("div");
    bar.className = "cell-bar";
    bar.append(
      posenc.button("Run", () => run(this), `Run ${this.name}`),
      this.says,
      this.resets,
    );
    input.replaceChildren(this.editor.element);
    input.after(bar);
    this.outputs = new Outputs(box);
    const isOld = kept && kept.was !== this.original;
    this.say(isOld ? NEWER : kept ? "edited" : "");
  }

  is(...tags) {
    return tags.some((tag) => this.box.classList.contains(`tag_${tag}`));
  }

  get source() {
    return this.editor.value;
  }

  get hasRun() {
    return this.ran === this.source;
  }

  changed(source) {
    const was = posenc.read("cell", this.id)?.was ?? this.original;
    posenc.write("cell", this.id, source === this.original ? null : { source, was });
    this.say(this.ran === null || this.hasRun ? "edited" : "edited since it ran");
  }

  reset() {
    this.editor.value = this.original;
    posenc.write("right", this.id, null);
    this.changed(this.original);
    this.say("as it was");
    this.editor.field.focus();
  }

  say(what) {
    this.says.textContent = `${this.name}${what && ": "}${what}`;
    this.resets.hidden = !posenc.read("cell", this.id);
  }

  begin() {
    this.began = performance.now();
    this.editor.mark(0);
    this.outputs.begin();
    this.say("running");
  }

  // It ran this code, to its end or to an error in a line.
  end(source, error, line) {
    this.outputs.end(error);
    this.ran = error ? null : source;
    if (error) {
      this.editor.mark(line);
      this.say("stopped with an error");
      return;
    }
    const seconds = (performance.now() - this.began) / 1000;
    this.say(seconds < 1 ? "ran" : `ran in ${seconds.toFixed(1)} s`);
    if (this.is("exercise") && RIGHT.test(this.outputs.text)) {
      posenc.write("right", this.id, true);
      this.say("right");
    }
  }

  // Bring it into sight, with all folds open that it is in.
  show() {
    for (let fold = this.editor.element; fold; fold = fold.parentElement) {
      if (fold.matches("details")) fold.open = true;
    }
    this.editor.element.scrollIntoView({ block: "center" });
    this.editor.field.focus();
  }
}
