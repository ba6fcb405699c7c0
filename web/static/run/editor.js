// A field for code: a <textarea> whose text cannot be seen, on a box that
// shows the same text in colors and gives both their size.
const KEYWORDS =
  "and as assert async await break case class continue def del elif else except finally for from global if" +
  " import in is lambda match nonlocal not or pass raise return try while with yield";
const QUOTED = ['"""', "'''"].map((quotes) => `${quotes}(?:\\\\[^]|[^])*?(?:${quotes}|$)`);
const LINES = ['"', "'"].map((quote) => `${quote}(?:\\\\.|[^\\\\\\n${quote}])*${quote}?`);
// The names of the groups are the classes that Pygments gives on the page.
const TOKENS = new RegExp(
  [
    "(?<c1>#.*)",
    `(?<s2>(?:\\b[bfrtu]{1,2})?(?:${[...QUOTED, ...LINES].join("|")}))`,
    "(?<nf>(?<=\\b(?:def|class) )\\w+)",
    `(?<k>\\b(?:${KEYWORDS.replaceAll(" ", "|")})\\b)`,
    "(?<kc>\\b(?:True|False|None)\\b)",
    "(?<mi>\\b(?:0[xbo]\\w+|\\d[\\d_.]*(?:e[-+]?\\d+)?j?))",
    "(?<o>[-+*/%@=<>!&|^~]+)",
  ].join("|"),
  "gi",
);
const HTML = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaped = (text) => text.replace(/[&<>]/g, (sign) => HTML[sign]);
const INDENT = "    ";

function colored(code) {
  let html = "";
  let end = 0;
  for (const { index, groups, 0: text } of code.matchAll(TOKENS)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    html += `${escaped(code.slice(end, index))}<span class="${kind}">${escaped(text)}</span>`;
    end = index + text.length;
  }
  return `${html}${escaped(code.slice(end))}\n`;
}

// What the keys do; Shift+Enter and Ctrl+Enter call `run`.
class Keys {
  constructor(field, run) {
    Object.assign(this, { field, run });
    // Tab leads on to the next field until the reader has clicked or typed
    // here, and after Escape: nobody is caught, or indents by accident.
    this.tabLeads = true;
    field.addEventListener("click", () => (this.tabLeads = false));
    field.addEventListener("blur", () => (this.tabLeads = true));
    field.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    const { key, shiftKey, ctrlKey, metaKey, altKey, isComposing } = event;
    if (isComposing || altKey) return;
    if (key === "Enter" && (shiftKey || ctrlKey || metaKey)) this.run();
    else if (key === "Enter") this.newLine();
    else if (key === "Tab" && !this.tabLeads) this.indent(shiftKey);
    else {
      if (!["Tab", "Shift"].includes(key)) this.tabLeads = key === "Escape";
      return;
    }
    event.preventDefault();
  }

  // Typed as the reader would, so that the browser can undo it.
  type(text) {
    document.execCommand(text ? "insertText" : "delete", false, text);
  }

  newLine() {
    const before = this.field.value.slice(0, this.field.selectionStart).split("\n").pop();
    this.type(`\n${before.match(/^ */)[0]}${/:\s*(#.*)?$/.test(before) ? INDENT : ""}`);
  }

  // All lines of which something is selected, or the one with the caret.
  indent(back) {
    const { selectionStart: start, selectionEnd, value } = this.field;
    const begin = value.lastIndexOf("\n", start - 1) + 1;
    const next = value.indexOf("\n", selectionEnd);
    const old = value.slice(begin, next < 0 ? value.length : next);
    const text = old.replace(back ? /^ {1,4}/gm : /^/gm, back ? "" : INDENT);
    this.field.setSelectionRange(begin, begin + old.length);
    this.type(text);
    const end = begin + text.length;
    const isOne = start === selectionEnd;
    const caret = Math.max(begin, start + text.length - old.length);
    this.field.setSelectionRange(...(isOne ? [caret, caret] : [begin, end]));
  }
}

export class Editor {
  // `label` names the field; `run` and `changed` are called as it says.
  constructor(source, label, { run, changed }) {
    this.colors = document.createElement("div");
    this.colors.setAttribute("aria-hidden", "true");
    this.field = document.createElement("textarea");
    Object.assign(this.field, { value: source, spellcheck: false, autocomplete: "off", rows: 1 });
    const attributes = {
      "aria-label": label,
      "aria-describedby": "keys-of-cells",
      autocapitalize: "off",
      autocorrect: "off",
      translate: "no",
      wrap: "off",
    };
    for (const [name, value] of Object.entries(attributes)) this.field.setAttribute(name, value);
    this.failed = document.createElement("div");
    this.failed.className = "failed-line";
    this.element = document.createElement("div");
    this.element.className = "editor highlight";
    this.element.append(this.colors, this.failed, this.field);
    new Keys(this.field, run);
    this.field.addEventListener("input", () => {
      this.paint();
      changed(this.value);
    });
    this.paint();
  }

  get value() {
    return this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.paint();
  }

  paint() {
    this.colors.innerHTML = colored(this.value);
    this.mark(0);
  }

  // Mark a line, counted from 1, that has failed; 0 is none.
  mark(line) {
    this.failed.hidden = !line;
    this.failed.style.setProperty("--line", line - 1);
  }
}
