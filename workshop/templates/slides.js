// Slides, two counts of hands for each question, and the presenter's view.

const KEPT = `hands in ${document.title}`;
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const sum = (list) => list.reduce((total, each) => total + each, 0);
const slides = all(".slide");
const planned = slides.map((slide) => Number(slide.dataset.minutes));
let place = 0;
let step = 0; // how many of the slide's later parts are shown
let began = 0; // when the first slide was left
let desk = null; // the presenter's window

// Where we are.

const laterParts = () => all(".later:not(:empty)", slides[place]);

function show(newPlace, newStep = 0) {
  place = Math.max(0, Math.min(slides.length - 1, newPlace));
  const later = laterParts();
  step = Math.min(newStep, later.length);
  slides.forEach((slide, number) => slide.classList.toggle("shown", number === place));
  later.forEach((part, number) => part.classList.toggle("waits", number >= step));
  history.replaceState(null, "", `#${slides[place].id}`);
  drawDesk();
}

function goOn() {
  began ||= Date.now();
  if (step < laterParts().length) show(place, step + 1);
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
  ArrowLeft: goBack,
  PageUp: goBack,
  b: () => document.body.classList.toggle("black"),
  f: () => document.documentElement.requestFullscreen(),
  s: openDesk,
};

function onKey(event) {
  // Figures keep their own keys, apart from those of a clicker.
  const isClicker = event.key.startsWith("Page");
  const isBusy = !isClicker && event.target.closest?.("posenc-play");
  const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (!act || isBusy || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

// Sizes: a slide is 1280 by 720, and scaled to the window.

function scale() {
  const factor = Math.min(innerWidth / 1280, innerHeight / 720);
  document.body.style.setProperty("--scale", factor);
}

const overflows = (box) =>
  box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
const isTooLarge = (slide) => [slide, ...all("pre", slide)].some(overflows);

// A figure that moves has its settings beside its pictures.
const BESIDE = `
  .figure { column-gap: 1.2rem; display: grid; grid-template: repeat(8, auto) 1fr / minmax(0, 5fr) minmax(0, 3fr) }
  .pictures { align-content: start; grid-row: 1 / 10 }
  .settings { grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)) }`;

// Let text, or a figure that moves, be as large as the slide has room for.
async function fit(slide) {
  const moves = slide.querySelector("posenc-play");
  moves?.shadowRoot.append(Object.assign(document.createElement("style"), { textContent: BESIDE }));
  slide.classList.add("measured");
  for (let size = moves ? 1.6 : 1.3; size > 0.5; size -= 0.05) {
    if (moves) moves.style.zoom = size;
    else slide.style.setProperty("--fit", size);
    // It draws itself anew at the end of a frame.
    if (moves) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    if (!isTooLarge(slide)) break;
  }
  slide.classList.remove("measured");
}

// Hands: hands[question] lists two numbers for each choice, one after the other.

const hands = JSON.parse(localStorage.getItem(KEPT) ?? "{}");

function count(box) {
  const read = (input) => Math.max(0, Math.round(Number(input.value)) || 0);
  hands[box.dataset.question] = all("input", box).map(read);
  localStorage.setItem(KEPT, JSON.stringify(hands));
  drawBars(box);
}

// Two bars for each choice, as long as the share of the hands.
function drawBars(box) {
  const name = box.dataset.question;
  const bars = document.querySelector(`.bars[data-question="${name}"]`);
  const counts = hands[name] ?? [];
  const totals = [0, 1].map((round) => sum(counts.filter((_, at) => at % 2 === round)));
  const bar = (value, round) =>
    `<progress max="${totals[round] || 1}" value="${value}"></progress><span>${value}</span>`;
  const row = (choice, at) =>
    `<span>${(choice.querySelector("strong") ?? choice).innerHTML}</span>` +
    counts
      .slice(2 * at, 2 * at + 2)
      .map(bar)
      .join("");
  bars.innerHTML = sum(totals) ? all(".choice", box).map(row).join("") : "";
  fit(bars.closest(".slide")); // which has less room now
}

for (const box of all(".choices")) {
  const kept = hands[box.dataset.question] ?? [];
  all("input", box).forEach((field, at) => (field.value = kept[at] ?? ""));
  box.addEventListener("input", () => count(box));
}

// The presenter's view: this slide, the next one, notes, clock and pace.

function openDesk() {
  desk = open("", "desk", "width=1180,height=760");
  if (!desk) return;
  desk.document.head.innerHTML = document.querySelector("style").outerHTML;
  desk.document.body.className = "desk";
  desk.document.onkeydown = onKey;
  drawDesk();
}

function drawDesk() {
  if (!desk || desk.closed) return;
  const copies = slides.slice(place, place + 2).map((slide) => slide.cloneNode(true));
  for (const figure of copies.flatMap((copy) => all("posenc-play", copy))) figure.remove();
  const clock = document.createElement("p");
  const notes = copies[0].querySelector(".notes");
  clock.className = "clock";
  desk.document.body.replaceChildren(...copies, clock, notes);
  tick();
}

function tick() {
  if (!desk || desk.closed) return;
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
document.querySelector("main").addEventListener("click", (event) => {
  if (!event.target.closest("input, posenc-play")) goOn();
});
scale();
show(slides.findIndex((slide) => `#${slide.id}` === location.hash));
setInterval(tick, 1000);
Promise.all([...document.fonts].map((font) => font.load())).then(async () => {
  for (const slide of slides) await fit(slide);
  all(".choices").forEach(drawBars);
  document.body.dataset.ready = "yes";
});
