// Python in a worker. It loads Pyodide, and then runs one cell after another,
// as they come: { number, source }. What it posts has a `kind`:
// "ready"; "begins", "output", "ends" for each cell; "broken" if all is lost.
const { search } = new URL(import.meta.url);
const pyodideFolder = new URL("../../pyodide/", import.meta.url).href;
// What nearly every first cell imports.
const FIRST = "import matplotlib.pyplot, posenc_helpers, posenc.check";

const post = (kind, more) => postMessage({ kind, ...more });

async function load(name) {
  const answer = await fetch(`${pyodideFolder}${name}${search}`);
  if (!answer.ok) throw new Error(`${name} does not load: ${answer.status}`);
  return answer;
}

async function gunzip(answer) {
  try {
    const stream = answer.body.pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error("packages.bin did not arrive whole");
  }
}

// Write what packages.bin holds: a line of paths and sizes, then the contents.
function unpack(bytes, FS, folder) {
  let at = bytes.indexOf("\n".charCodeAt()) + 1;
  const sizes = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at)));
  for (const [name, size] of Object.entries(sizes)) {
    const path = `${folder}/${name}`;
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, bytes.subarray(at, at + size), { canOwn: true });
    at += size;
  }
}

async function start() {
  const packages = load("packages.bin").then(gunzip);
  const [{ loadPyodide }, lockFileContents] = await Promise.all([
    import(`${pyodideFolder}pyodide.mjs`),
    load("pyodide-lock.json").then((answer) => answer.text()),
  ]);
  const python = await loadPyodide({
    indexURL: pyodideFolder,
    lockFileContents,
    fsInit: async (FS, { sitePackages }) => unpack(await packages, FS, sitePackages),
  });
  await packages; // Pyodide hides the error of its `fsInit`
  python.registerJsModule("page", {
    post: (what, first, second) => post("output", { what, first, second }),
  });
  const { run_cell } = python.pyimport("page_session");
  return { python, run: run_cell };
}

async function run({ number, source }) {
  const { run } = await ready;
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
