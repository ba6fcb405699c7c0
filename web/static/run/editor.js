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

function colored(code) {
  const parts = [];
  let end = 0;
  for (const { index, groups, 0: text } of code.matchAll(TOKENS)) {
    const token = document.createElement("span");
    token.className = Object.keys(groups).find((name) => groups[name] !== undefined);
    token.textContent = text;
    parts.push(code.slice(end, index), token);
    end = index + text.length;
  }
  return [...parts, `${code.slice(end)}\n`];
}

// What the keys do; Shift+Enter and Ctrl+Enter call `run`. Tab leads on to the
// next field until the reader has clicked or typed here, and after Escape:
// nobody is caught, or indents by accident.
function listenToKeys(field, run) {
  let tabLeads = true;
  const type = (text) => document.execCommand("insertText", false, text); // can be undone
  field.addEventListener("click", () => (tabLeads = false));
  field.addEventListener("blur", () => (tabLeads = true));
  field.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey, isComposing } = event;
    const indents = key === "Tab" && !shiftKey && !tabLeads;
    if (!["Tab", "Shift"].includes(key)) tabLeads = key === "Escape";
    if (isComposing || (key !== "Enter" && !indents)) return;
    event.preventDefault();
    if (indents) type("    ");
    else if (shiftKey || ctrlKey || metaKey) run();
    else {
      const line = field.value.slice(0, field.selectionStart).split("\n").pop();
      type(`\n${line.match(/^ */)[0]}${/:\s*(#.*)?$/.test(line) ? "    " : ""}`);
    }
  });
}

export class Editor {
  // `label` names the field; `run` and `changed` are called as it says.
  constructor(source, label, { run, changed }) {
    this.element = document.createElement("div");
    this.element.className = "editor highlight";
    this.element.innerHTML =
      '<div aria-hidden="true"></div><div class="failed-line"></div><textarea rows="1" wrap="off" translate="no"' +
      ' spellcheck="false" autocomplete="off" autocapitalize="off" autocorrect="off"' +
      ' aria-describedby="keys-of-cells"></textarea>';
    [this.colors, this.failed, this.field] = this.element.children;
    this.field.setAttribute("aria-label", label);
    this.value = source;
    listenToKeys(this.field, run);
    this.field.addEventListener("input", () => {
      this.straighten();
      this.paint();
      changed(this.value);
    });
  }

  get value() {
    return this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.paint();
  }

  // Keyboards of telephones write curly quotes, which Python does not know.
  straighten() {
    const { selectionStart, value } = this.field;
    const straight = value.replace(/[“”]/g, '"').replace(/[‘’]/g, "'");
    if (straight === value) return;
    this.field.value = straight;
    this.field.setSelectionRange(selectionStart, selectionStart);
  }

  paint() {
    this.colors.replaceChildren(...colored(this.value));
    this.mark(0);
  }

  // Mark a line, counted from 1, that has failed; 0 is none.
  mark(line) {
    this.failed.hidden = !line;
    this.failed.style.setProperty("--line", line - 1);
  }
}
