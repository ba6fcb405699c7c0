// What a cell shows below its code, in the same elements as on the page.
const KINDS = ["text/html", "image/svg+xml", "image/png", "text/plain"];

function textBox(kind, text) {
  const box = document.createElement("div");
  box.className = `output ${kind} highlight-myst-ansi notranslate`;
  box.innerHTML = '<div class="highlight"><pre></pre></div>';
  box.querySelector("pre").textContent = text;
  return box;
}

// Scripts that are set as text do not run: each is made anew.
function htmlBox(html) {
  const box = document.createElement("div");
  box.className = "output text_html";
  box.innerHTML = html;
  for (const old of box.querySelectorAll("script")) {
    const script = document.createElement("script");
    for (const { name, value } of old.attributes) script.setAttribute(name, value);
    script.textContent = old.textContent;
    old.replaceWith(script);
  }
  return box;
}

// A picture that opens by itself, to be enlarged.
function picture(kind, content, { alt, width }) {
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: kind }));
  link.target = "_blank";
  const image = document.createElement("img");
  image.src = link.href;
  image.alt = alt ?? "A picture without a description";
  if (width) image.width = width;
  link.append(image);
  return link;
}

function shown(data, metadata) {
  const kind = KINDS.find((each) => each in data);
  if (kind === "text/html" || kind === "image/svg+xml") return htmlBox(data[kind]);
  if (kind?.startsWith("image/")) return picture(kind, data[kind], metadata[kind] ?? {});
  return textBox("text_plain", data[kind] ?? "");
}

export class Outputs {
  constructor(cell) {
    this.cell = cell;
    this.box = cell.querySelector(".cell_output");
    this.isOld = true;
  }

  // What is old stays until something new comes, so that the page keeps still.
  begin() {
    this.isOld = true;
  }

  clear() {
    if (!this.isOld) return;
    this.isOld = false;
    if (!this.box) {
      this.box = document.createElement("div");
      this.box.className = "cell_output docutils container";
      this.cell.append(this.box);
    }
    this.box.querySelectorAll("a[href^='blob:']").forEach(({ href }) => URL.revokeObjectURL(href));
    this.box.replaceChildren();
  }

  // `what` is "text" (`first` names its stream), "data" (by kind, with their
  // metadata, both as JSON) or "clear".
  add({ what, first, second }) {
    if (what === "clear") {
      this.isOld = true;
      return;
    }
    this.clear();
    if (what === "text") this.print(first, second);
    else this.box.append(shown(JSON.parse(first), JSON.parse(second)));
  }

  print(stream, text) {
    let box = this.box.lastElementChild;
    if (box?.dataset.stream !== stream) {
      box = textBox(`stream ${stream}`, "");
      box.dataset.stream = stream;
      this.box.append(box);
    }
    box.querySelector("pre").append(text);
  }

  // The cell has ended, with an error if there is a text for it.
  end(error) {
    this.clear();
    if (error) {
      const box = textBox("error", error);
      box.setAttribute("role", "alert");
      this.box.append(box);
    }
    this.box.querySelectorAll("pre").forEach(posenc.fit);
  }

  get text() {
    return this.box?.textContent ?? "";
  }
}
