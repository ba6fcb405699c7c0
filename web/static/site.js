// A prediction, written or chosen, is kept in the reader's own browser, and
// stands beside the answer. Without this file one can write all the same.
"use strict";

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null; // the reader's browser keeps nothing
  }
}

// What is written in a field, or chosen in a set of choices.
function read(field) {
  const chosen = field.querySelector("input:checked");
  return field.value ?? chosen?.value ?? "";
}

function write(field, text) {
  if (field.matches("textarea")) {
    field.value = text;
  }
  field.querySelectorAll("input").forEach((choice) => {
    choice.checked = choice.value === text;
  });
}

function keepPrediction(field) {
  const question = field.dataset.question;
  const page = location.pathname.split("/").pop().replace(".html", "");
  const key = `posenc-prediction/${page}/${question}`;
  const answer = document.querySelector(`details[data-question="${question}"]`);
  const beside = document.createElement("p");
  beside.className = "predicted";
  answer.querySelector("summary").after(beside);

  function show() {
    beside.hidden = !read(field);
    beside.textContent = `You predicted: ${read(field)}`;
  }

  write(field, storage()?.getItem(key) ?? "");
  show();
  field.addEventListener("input", () => {
    if (read(field)) {
      storage()?.setItem(key, read(field));
    } else {
      storage()?.removeItem(key);
    }
    show();
  });
}

document.querySelectorAll("[data-question]:is(textarea, fieldset)").forEach(keepPrediction);

// A sentence is judged with a button, and then the verdict opens.
document.querySelectorAll(".claim").forEach((claim) => {
  const verdict = claim.querySelector("details");
  const row = document.createElement("p");
  row.className = "judge";
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const judge = (answer) => {
    const isRight = answer === claim.dataset.verdict;
    said.textContent = isRight
      ? `You said: ${answer}. So says the computation.`
      : `You said: ${answer}. The computation says otherwise.`;
    verdict.open = true;
    for (const button of row.children) {
      const pressed = button.textContent.toLowerCase() === answer;
      button.setAttribute("aria-pressed", pressed);
    }
  };
  for (const words of ["True", "False", "It depends"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => judge(words.toLowerCase()));
    row.append(button);
  }
  verdict.before(row);
  verdict.querySelector("summary").after(said);
});

// On paper the colors are those of the light theme.
let theme;
window.addEventListener("beforeprint", () => {
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = theme;
});

// A formula that is too wide is made smaller. If that is not enough, it
// scrolls in its box: also by keyboard.
document.fonts.ready.then(() => {
  document.querySelectorAll(".formula").forEach((formula) => {
    const share = formula.clientWidth / formula.scrollWidth;
    if (share < 1) {
      formula.style.fontSize = `${Math.max(share * 0.92, 0.65)}em`;
    }
    if (formula.scrollWidth > formula.clientWidth) {
      formula.tabIndex = 0;
    }
  });
});

// Printed lines longer than code are sentences; others may be a table, which
// is made to fit a telephone: site.css.
document.querySelectorAll(".cell_output pre").forEach((output) => {
  const lines = output.textContent.trimEnd().split("\n");
  const columns = Math.max(...lines.map((line) => line.length));
  if (columns > 79) {
    output.classList.add("sentences");
  } else if (lines.length > 1) {
    output.style.setProperty("--columns", columns);
  }
});

// Exercises are done in the notebook, and the way to it is far above.
const run = document.querySelector(".run a");
const exercise = document.querySelector('section[id^="exercise-1-"]');
if (run && exercise) {
  const note = document.createElement("p");
  note.className = "run";
  note.append("Exercises are done in the notebook: ", run.cloneNode(true), ".");
  exercise.before(note);
}

// A figure that is small on a telephone opens by itself, to be enlarged.
document.querySelectorAll("article img").forEach((image) => {
  if (!image.closest("a")) {
    const link = document.createElement("a");
    link.href = image.src;
    image.replaceWith(link);
    link.append(image);
  }
});

// The search page quotes a page's text: neither its menus nor its answers.
if (typeof Search !== "undefined") {
  Search.htmlToText = (source, anchor) => {
    const page = new DOMParser().parseFromString(source, "text/html");
    const article = page.querySelector("article");
    article
      .querySelectorAll(".headerlink, script, style, details[class]")
      .forEach((part) => part.remove());
    const section = anchor && article.querySelector(anchor);
    return (section || article).textContent;
  };
}

// A link of the page's outline closes the outline, which would cover the page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("dialog a[href^='#']");
  link?.closest("dialog").close();
});
