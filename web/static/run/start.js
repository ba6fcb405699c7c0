// Puts the button "Run this page here" on a page; loads nothing before a click.
const { search } = new URL(import.meta.url);
const LOADS = "loads Python into this page: about 20 MB the first time, and nothing to install.";
const HOW =
  "Python runs in this page. Run a cell with its button or with Shift+Enter: the cells above it that have not" +
  " run yet run first. What you change stays in this browser.";
const LOST = "The files that run this page do not load. Reload it once the network is back.";

const places = [...document.querySelectorAll("[data-run]")];
const first = document.querySelector(".tag_exercise")?.closest("section");
if (first) {
  const place = document.createElement("p");
  place.className = "run";
  first.querySelector("h3").after(place);
  places.push(place);
}

async function run(place) {
  let module;
  try {
    module = await import(`./session.js${search}`);
  } catch {
    place.textContent = LOST;
    return;
  }
  places.forEach((each) => each !== place && each.remove());
  place.textContent = HOW;
  place.tabIndex = -1;
  place.focus();
  addScratchCell();
  const { Session } = module;
  posenc.session = new Session([...document.querySelectorAll("[id^='cell-id='] + .cell")]);
}

function addScratchCell() {
  const scratch = document.createElement("section");
  scratch.innerHTML =
    "<h2>Scratch cell</h2><p>Try something here, with all variables of the cells that have run.</p>" +
    '<div id="cell-id=scratch"></div><div class="cell docutils container">' +
    '<div class="cell_input docutils container"><pre></pre></div></div>';
  document.querySelector("#your-work").before(scratch);
}

for (const place of places) {
  place.replaceChildren(
    posenc.button("Run this page here", () => run(place)),
    ` ${LOADS}`,
  );
}
