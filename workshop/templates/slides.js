// Slides, two counts of hands for each question, and the presenter's view.

const WIDTH = 1280;
const HEIGHT = 720;
const KEPT = `hands in ${document.title}`;
const slides = [...document.querySelectorAll(".slide")];
const planned = slides.map((slide) => Number(slide.dataset.minutes));
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
let place = 0;
let step = 0; // how many of the slide's later parts are shown
let began = 0; // when the first slide was left
let desk = null; // the presenter's window

// Where we are.

function show(newPlace, newStep = 0) {
  place = Math.max(0, Math.min(slides.length - 1, newPlace));
  const later = all(".later", slides[place]);
  step = Math.min(newStep, later.length);
  slides.forEach((slide, number) => slide.classList.toggle("shown", number === place));
  later.forEach((part, number) => part.classList.toggle("waits", number >= step));
  history.replaceState(null, "", `#${slides[place].id}`);
  drawDesk();
}

function goOn() {
  began ||= Date.now();
  if (step < all(".later", slides[place]).length) show(place, step + 1);
  else if (place + 1 < slides.length) show(place + 1);
}

function goBack() {
  if (step) show(place, step - 1);
  else if (place) show(place - 1, Infinity);
}

const KEYS = {
  " ": goOn,
  ArrowRight: goOn,
  PageDown: goOn,
  Enter: goOn,
  ArrowLeft: goBack,
  PageUp: goBack,
  Backspace: goBack,
  Home: () => show(0),
  End: () => show(slides.length - 1),
  b: () => document.body.classList.toggle("black"),
  f: () => document.documentElement.requestFullscreen?.(),
  s: openDesk,
};

function onKey(event) {
  // Fields, buttons and figures keep their own keys.
  const isBusy = event.target.closest?.("input, button, posenc-play");
  const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (!act || isBusy || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

// Sizes: a slide is 1280 by 720, and scaled to the window.

function scale() {
  const factor = Math.min(innerWidth / WIDTH, innerHeight / HEIGHT);
  document.body.style.setProperty("--scale", factor);
}

const overflows = (box) =>
  box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;

// Let text, or a figure that moves, be as large as the slide has room for.
async function fit(slide) {
  const moves = slide.querySelector("posenc-play");
  const sizes = [];
  for (let size = moves ? 1.6 : 1.3; size > 0.5; size -= moves ? 0.1 : 0.05) sizes.push(size);
  const isTooLarge = () => overflows(slide) || all("pre", slide).some(overflows);
  slide.classList.add("measured");
  for (const size of sizes) {
    if (moves) moves.style.zoom = size;
    else slide.style.setProperty("--fit", size.toFixed(2));
    if (moves) await new Promise(requestAnimationFrame); // it draws itself anew
    if (!isTooLarge()) break;
  }
  slide.classList.remove("measured");
}

// A minute to write.

for (const button of all(".minute")) {
  const words = button.textContent;
  button.addEventListener("click", () => {
    if (button.timer) {
      button.timer = clearInterval(button.timer);
      button.textContent = words;
      button.style.removeProperty("--left");
      return;
    }
    const end = Date.now() + 60_000;
    button.timer = setInterval(() => {
      const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      button.textContent = left ? `${left} seconds` : "Time";
      button.style.setProperty("--left", `${(left / 60) * 100}%`);
    }, 200);
  });
}

// Hands: hands[question][round] lists a number for each choice.

const hands = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
const fieldsOf = (box) => [1, 2].map((round) => all(`[data-count="${round}"] input`, box));

function count(box) {
  const read = (input) => Math.max(0, Math.round(Number(input.value)) || 0);
  hands[box.dataset.question] = fieldsOf(box).map((fields) => fields.map(read));
  localStorage.setItem(KEPT, JSON.stringify(hands));
  const bars = document.querySelector(`.bars[data-question="${box.dataset.question}"]`);
  if (!bars) return;
  drawBars(bars);
  fit(bars.closest(".slide")); // which has less room now
}

// A bar as long as the share of the hands; the number says how many.
function drawBars(box) {
  const counts = hands[box.dataset.question] ?? [];
  const totals = counts.map((of) => of.reduce((sum, each) => sum + each, 0));
  box.hidden = !totals.some(Boolean);
  all(".bar", box).forEach((bar) => {
    const round = bar.dataset.count - 1;
    const number = counts[round]?.[bar.dataset.choice] ?? 0;
    bar.hidden = !totals[round];
    bar.textContent = number;
    bar.style.setProperty("--share", `${(number / (totals[round] || 1)) * 100}%`);
  });
}

for (const box of all(".choices[data-question]")) {
  const kept = hands[box.dataset.question] ?? [];
  fieldsOf(box).forEach((fields, round) =>
    fields.forEach((field, choice) => (field.value = kept[round]?.[choice] ?? "")),
  );
  box.addEventListener("input", () => count(box));
  box.addEventListener("click", (event) => {
    const more = event.target.closest("button");
    if (!more) return;
    const field = more.parentElement.querySelector("input");
    field.value = Math.max(0, Number(field.value) + (event.shiftKey ? -1 : 1));
    count(box);
  });
}

// A line of code that is clicked is lit, and the others step back.

for (const line of all(".highlight .line")) {
  line.addEventListener("click", () => line.classList.toggle("lit"));
}

// The presenter's view: this slide, the next one, notes, clock and pace.

function openDesk() {
  desk = open("", "desk", "width=1180,height=760");
  if (!desk) return;
  desk.document.title = "Presenter's view";
  desk.document.head.innerHTML = document.querySelector("style").outerHTML;
  desk.document.body.className = "desk";
  desk.document.onkeydown = onKey;
  drawDesk();
}

function drawDesk() {
  if (!desk || desk.closed) return;
  const copies = slides.slice(place, place + 2).map((slide) => slide.cloneNode(true));
  for (const moves of copies.flatMap((copy) => all("posenc-play", copy))) moves.remove();
  for (const later of all(".waits", copies[1])) later.classList.remove("waits");
  const clock = desk.document.createElement("p");
  clock.className = "clock";
  const notes = copies[0].querySelector(".notes");
  desk.document.body.replaceChildren(...copies, clock, notes);
  tick();
}

function tick() {
  if (!desk || desk.closed) return;
  const sum = (list) => list.reduce((total, each) => total + each, 0);
  const spent = began ? (Date.now() - began) / 60_000 : 0;
  const late = Math.round(spent - sum(planned.slice(0, place + 1)));
  const early = Math.round(sum(planned.slice(0, place)) - spent);
  const pace = late > 0 ? `${late} min late` : early > 0 ? `${early} min early` : "in time";
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  desk.document.querySelector(".clock").textContent =
    `${time} · ${Math.round(spent)} of ${Math.round(sum(planned))} min · ${pace}` +
    ` · slide ${place + 1} of ${slides.length}`;
}

addEventListener("keydown", onKey);
addEventListener("resize", scale);
addEventListener("hashchange", () =>
  show(slides.findIndex((each) => `#${each.id}` === location.hash)),
);
document.querySelector("main").addEventListener("click", (event) => {
  if (!event.target.closest("a, button, input, label, summary, posenc-play, .highlight")) goOn();
});
scale();
all(".bars").forEach(drawBars);
Promise.all([...document.fonts].map((font) => font.load())).then(async () => {
  for (const slide of slides) await fit(slide);
  document.body.dataset.ready = "yes";
});
show(slides.findIndex((each) => `#${each.id}` === location.hash));
setInterval(tick, 1000);
