// Python in a worker. It loads Pyodide, and then runs one cell after another,
// as they come: { number, source }. What it posts has a `kind`:
// "ready"; "begins", "output", "ends" for each cell; "broken" if all is lost.
const { search } = new URL(import.meta.url);
const pyodideFolder = new URL("../../pyodide/", import.meta.url).href;
const LATER = "mpmath"; // is loaded for a cell that names it
// What nearly every first cell imports.
const FIRST = "import matplotlib.pyplot, posenc_helpers, posenc.check";

const post = (kind, more) => postMessage({ kind, ...more });

async function start() {
  const [{ loadPyodide }, lockFileContents] = await Promise.all([
    import(`${pyodideFolder}pyodide.mjs`),
    fetch(`${pyodideFolder}pyodide-lock.json${search}`).then((answer) => answer.text()),
  ]);
  const { packages } = JSON.parse(lockFileContents);
  const python = await loadPyodide({
    indexURL: pyodideFolder,
    packageBaseUrl: pyodideFolder,
    lockFileContents,
    packages: Object.keys(packages).filter((name) => name !== LATER),
  });
  python.registerJsModule("page", {
    post: (what, first, second) => post("output", { what, first, second }),
  });
  const { run_cell } = python.pyimport("page_session");
  return { python, run: run_cell };
}

async function run({ number, source }) {
  const { python, run } = await ready;
  if (source.includes(LATER)) await python.loadPackage(LATER, { messageCallback() {} });
  post("begins");
  // Called, and not awaited: a crash of Python then is an error here, and not
  // a promise that never ends.
  const answer = run(number, source);
  const [text, line] = answer ? JSON.parse(answer) : [];
  post("ends", { text, line });
}

const broken = (error) =>
  post("broken", { text: `${error?.message ?? error}`.trim().slice(0, 300) });
const ready = start();
let waiting = 0;
let before = ready.then(({ python }) => {
  post("ready");
  // Imported while the reader still reads.
  setTimeout(() => waiting || python.runPython(FIRST));
}, broken);
onmessage = ({ data }) => {
  waiting += 1;
  before = before
    .then(() => run(data))
    .catch(broken)
    .finally(() => (waiting -= 1));
};
for (const kind of ["error", "unhandledrejection"]) {
  addEventListener(kind, ({ message, reason }) => broken(reason ?? message));
}
