// What a reader writes is kept in the reader's own browser, and shown: beside
// the answers, at the end of the page, on the cards and in the list of pages.
"use strict";

const posenc = (() => {
  const PAGE = location.pathname.match(/([^/]*?)(\.html)?$/)[1];
  let store = {}; // where the browser keeps nothing, or has no room left
  let isLasting = false;
  try {
    store = localStorage;
    store.setItem("posenc-test", "");
    store.removeItem("posenc-test");
    isLasting = true;
  } catch {
    store = { ...store }; // what was kept before can still be read
  }

  // Kinds are "prediction", a text; "cell", with the `source` and what it was;
  // "right", an exercise. Ids are those of the notebook's cells.
  const key = (kind, id, page = PAGE) => `posenc-${kind}/${page}/${id}`;
  const read = (kind, id) => JSON.parse(store[key(kind, id)] ?? "null");

  function write(kind, id, value) {
    try {
      if (value) store[key(kind, id)] = JSON.stringify(value);
      else delete store[key(kind, id)];
    } catch {
      store = { ...store, [key(kind, id)]: JSON.stringify(value) };
      isLasting = false;
    }
    document.dispatchEvent(new Event("work"));
  }

  function ids(kind, page = PAGE) {
    const start = key(kind, "", page);
    const names = Object.keys(store).filter((name) => name.startsWith(start));
    return names.map((name) => name.slice(start.length));
  }

  // Printed lines longer than code are sentences, which go on below; others
  // scroll in their box, as does what is very long.
  function fit(printed) {
    printed.classList.toggle("sentences", /.{80}/.test(printed.textContent));
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = printed;
    printed.tabIndex = scrollWidth > clientWidth || scrollHeight > clientHeight ? 0 : -1;
  }

  function button(text, act, label = text) {
    const element = document.createElement("button");
    Object.assign(element, { type: "button", textContent: text, onclick: act });
    element.setAttribute("aria-label", label);
    return element;
  }

  return { PAGE, read, write, ids, fit, button, isLasting: () => isLasting };
})();
globalThis.posenc = posenc;
document.querySelectorAll(".cell_output pre").forEach(posenc.fit);

// Predictions: a field, or choices of which the last may have a field.

const wordsOf = (element) => element.textContent.trim().replace(/\s+/g, " ");

class Prediction {
  constructor(box) {
    this.id = box.dataset.question;
    this.question = wordsOf(box.closest(".predict").querySelector("p")).replace(/^Predict\. /, "");
    this.field = box.querySelector("textarea");
    this.choices = [...box.querySelectorAll("input")];
    const answer = document.querySelector(`details[data-question="${this.id}"]`);
    this.beside = document.createElement("p");
    this.beside.className = "predicted";
    answer?.querySelector("summary").after(this.beside);
    this.value = String(posenc.read("prediction", this.id) ?? "");
    this.show();
    box.addEventListener("input", (event) => {
      if (event.target === this.other) this.field.focus();
      posenc.write("prediction", this.id, this.value);
      this.show();
    });
  }

  // The choice that has the field.
  get other() {
    return this.field && this.choices.at(-1);
  }

  get value() {
    const chosen = this.choices.find((choice) => choice.checked);
    if (!chosen) return this.choices.length ? "" : this.field.value;
    const words = wordsOf(chosen.labels[0]);
    return chosen === this.other ? this.field.value || words : words;
  }

  // A choice that the page no longer has is the reader's own text.
  set value(text) {
    const chosen = this.choices.find((choice) => wordsOf(choice.labels[0]) === text) ?? this.other;
    if (chosen && text) chosen.checked = true;
    if (this.field && (!chosen || (chosen === this.other && text !== wordsOf(chosen.labels[0])))) {
      this.field.value = text;
    }
  }

  show() {
    this.beside.hidden = !this.value;
    this.beside.textContent = `You predicted: ${this.value}`;
  }
}

const predictions = [...document.querySelectorAll("[data-question]:is(label, fieldset)")].map(
  (box) => new Prediction(box),
);

// Code that was kept, below the page's own until Python runs.
for (const id of posenc.ids("cell")) {
  const cell = document.getElementById(`cell-id=${id}`)?.nextElementSibling;
  const input = cell?.querySelector(".cell_input");
  if (!input) continue; // the scratch cell, or one that the page no longer has
  const words = document.createElement("p");
  words.className = "predicted";
  words.textContent = "Your code:";
  const code = document.createElement("pre");
  code.textContent = posenc.read("cell", id).source;
  input.append(words, code);
}

// How far one is: this page's exercises and those of the others.

const EXERCISES = Object.fromEntries(
  (document.querySelector("meta[name=exercises]")?.content ?? "")
    .split(" ")
    .map((each) => each.split(":")),
);

function progress(page) {
  const right = posenc.ids("right", page).length;
  if (right) return `${right} of ${EXERCISES[page]} exercises right`;
  return ["prediction", "cell"].some((kind) => posenc.ids(kind, page).length) ? "begun" : "";
}

function showProgress() {
  document.querySelectorAll("a.chapter, nav.bd-links a.internal").forEach((link) => {
    const page = link.pathname.split("/").pop().replace(".html", "");
    const words = page in EXERCISES ? progress(page) : "";
    link.querySelector(".how-far")?.remove();
    if (!words) return;
    const mark = document.createElement("span");
    mark.className = "how-far";
    mark.textContent = words;
    (link.querySelector(".about") ?? link).append(" ", mark);
  });
}

// The end of the page: what one has done here, to take along.

async function download(say) {
  const answer = await fetch(`notebooks/${posenc.PAGE}.ipynb`);
  const text = JSON.stringify(withWork(await answer.json()), null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = `${posenc.PAGE}_mine.ipynb`;
  link.click();
  say(`${link.download} has your predictions and your code. JupyterLab opens it.`);
}

// Without https, a browser lets no page copy.
async function copy(say) {
  const lines = predictions.flatMap(({ question, value }, i) =>
    value ? [`${i + 1}. ${question}`, `   ${value}`] : [],
  );
  const text = [document.title, ...lines].join("\n");
  if (!lines.length) return say("There is no prediction yet.");
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return say("Your predictions are copied.");
  }
  const field = document.createElement("textarea");
  Object.assign(field, { value: text, rows: 6, readOnly: true, ariaLabel: "Your predictions" });
  say("This browser does not let the page copy: copy the text yourself.", field);
  field.select();
}

function forget() {
  if (!confirm("Delete what you have written on this page?")) return;
  for (const kind of ["prediction", "cell", "right"]) {
    posenc.ids(kind).forEach((id) => posenc.write(kind, id, null));
  }
  location.reload();
}

function yourWork() {
  const section = document.createElement("section");
  section.id = section.className = "your-work";
  section.setAttribute("aria-labelledby", "your-work-title");
  section.innerHTML =
    '<h2 id="your-work-title">Your work</h2><p></p><p class="buttons"></p><div role="status"></div>';
  const [done, buttons, status] = [...section.children].slice(1);
  const say = (...parts) => status.replaceChildren(...parts);
  const button = (words, act, failed) =>
    posenc.button(words, () => act(say).catch(() => say(failed)));

  function count() {
    const written = predictions.filter(({ value }) => value).length;
    const parts = [];
    if (predictions.length) parts.push(`${written} of ${predictions.length} predictions`);
    const exercises = EXERCISES[posenc.PAGE];
    if (+exercises) parts.push(`${posenc.ids("right").length} of ${exercises} exercises right`);
    const where = posenc.isLasting()
      ? "It stays in this browser, on this device, and is sent nowhere."
      : "This browser keeps nothing: download your notebook before you leave.";
    done.textContent = `${parts.join(", ")}. ${where}`;
  }

  buttons.append(
    button("Copy my predictions", copy, "The browser did not let the page copy."),
    button("Download my notebook", download, "The notebook cannot be loaded from this site now."),
    posenc.button("Delete my work", forget),
  );
  document.addEventListener("work", count);
  count();
  return section;
}

// A notebook with what the reader has written: a raw cell has the place for a
// prediction, and a scratch cell comes last.
function withWork(notebook) {
  const places = new Map(predictions.map(({ id, value }) => [`your-${id}`, value]));
  for (const cell of notebook.cells) {
    const written = [cell.source].flat().join("");
    cell.source = posenc.read("cell", cell.id)?.source ?? written + (places.get(cell.id) ?? "");
  }
  const source = posenc.read("cell", "scratch")?.source;
  const empty = { cell_type: "code", execution_count: null, metadata: {}, outputs: [] };
  if (source) notebook.cells.push({ ...empty, id: "scratch", source });
  return notebook;
}

if (posenc.PAGE in EXERCISES) document.querySelector("article").append(yourWork());
document.addEventListener("work", showProgress);
showProgress();

// Browsers load Python only from a server.
if (location.protocol === "file:") {
  document.querySelectorAll("[data-run]").forEach((place) => {
    place.textContent =
      "This page was opened as a file, and browsers load Python only from a server. In the folder of the site, run" +
      " python3 -m http.server, and open http://localhost:8000 to run this page.";
  });
}
