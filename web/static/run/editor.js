// A field for code: a <textarea> whose text cannot be seen, on a <pre> that
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

// What the keys do; `run` is called by Shift+Enter and Ctrl+Enter.
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
    const { key, shiftKey, altKey, isComposing } = event;
    const command = event.ctrlKey || event.metaKey;
    if (isComposing || altKey) return;
    if (key === "Escape") this.tabLeads = true;
    else if (!["Tab", "Shift", "Control", "Meta"].includes(key)) this.tabLeads = false;
    if (key === "Enter" && (shiftKey || command)) this.run();
    else if (key === "Enter") this.newLine();
    else if (key === "Tab" && !command && !this.tabLeads) this.indent(shiftKey);
    else if (!(key === "Backspace" && !command && this.unindent())) return;
    event.preventDefault();
  }

  // Typed as the reader would, so that the browser can undo it.
  type(text) {
    document.execCommand(text ? "insertText" : "delete", false, text);
  }

  get lineBefore() {
    return this.field.value.slice(0, this.field.selectionStart).split("\n").pop();
  }

  newLine() {
    const before = this.lineBefore;
    this.type(`\n${before.match(/^ */)[0]}${/:\s*(#.*)?$/.test(before) ? INDENT : ""}`);
  }

  // Backspace behind spaces alone takes a whole step back.
  unindent() {
    const { field, lineBefore } = this;
    const isStep = /^( {4})+$/.test(lineBefore) && field.selectionStart === field.selectionEnd;
    if (isStep) {
      field.setSelectionRange(field.selectionStart - INDENT.length, field.selectionStart);
      this.type("");
    }
    return isStep;
  }

  // At the caret, or all lines of which something is selected.
  indent(back) {
    const { selectionStart, selectionEnd, value } = this.field;
    if (!back && selectionStart === selectionEnd) {
      this.type(" ".repeat(INDENT.length - (this.lineBefore.length % INDENT.length)));
      return;
    }
    const begin = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const next = value.indexOf("\n", selectionEnd);
    const end = next < 0 ? value.length : next;
    const old = value.slice(begin, end);
    const text = back ? old.replace(/^ {1,4}/gm, "") : old.replace(/^(?=.)/gm, INDENT);
    if (text === old) return;
    this.field.setSelectionRange(begin, end);
    this.type(text);
    this.field.setSelectionRange(begin, begin + text.length);
  }
}

export class Editor {
  // `label` names the field; `run` and `changed` are called as it says.
  constructor(source, label, { run, changed }) {
    this.colors = document.createElement("pre");
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
