// What a cell shows below its code, in the same elements as on the page.

function box(kind, ...content) {
  const element = document.createElement("div");
  element.className = `output ${kind}`;
  element.append(...content);
  return element;
}

function textBox(kind, text) {
  const element = box(`${kind} highlight-myst-ansi notranslate`);
  element.innerHTML = '<div class="highlight"><pre></pre></div>';
  element.querySelector("pre").textContent = text;
  return element;
}

function picture(content, { alt, width }) {
  const image = document.createElement("img");
  image.src = `data:image/png;base64,${content}`;
  image.alt = alt ?? "A picture without a description";
  if (width) image.width = width;
  return image;
}

function shown(data, metadata) {
  const { "text/html": html, "image/png": png, "text/plain": text } = data;
  // As a fragment, so that its scripts run.
  if (html) return box("text_html", document.createRange().createContextualFragment(html));
  if (png) return picture(png, metadata["image/png"] ?? {});
  return textBox("text_plain", text ?? "");
}

export class Outputs {
  constructor(cell) {
    this.cell = cell;
    this.box = cell.querySelector(".cell_output");
  }

  // What is old stays until something new comes, so that the page keeps still.
  begin() {
    this.isOld = true;
  }

  clear() {
    if (!this.isOld) return;
    this.isOld = false;
    this.box?.remove();
    this.box = document.createElement("div");
    this.box.className = "cell_output docutils container";
    this.cell.append(this.box);
  }

  // `what` is "text" (`first` names its stream), or "data" (by kind, with their
  // metadata, both as JSON).
  add({ what, first, second }) {
    this.clear();
    if (what === "text") this.print(first, second);
    else this.box.append(shown(JSON.parse(first), JSON.parse(second)));
  }

  print(stream, text) {
    let last = this.box.lastElementChild;
    if (last?.dataset.stream !== stream) {
      last = textBox(`stream ${stream}`, "");
      last.dataset.stream = stream;
      this.box.append(last);
    }
    last.querySelector("pre").append(text);
  }

  // The cell has ended, with an error if there is a text for it.
  end(error) {
    this.clear();
    if (error) {
      const message = textBox("error", error);
      message.setAttribute("role", "alert");
      this.box.append(message);
    }
    this.box.querySelectorAll("pre").forEach(posenc.fit);
  }

  get text() {
    return this.box?.textContent ?? "";
  }
}
