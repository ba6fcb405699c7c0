// Runs bytecode.py in Pyodide, in the folder that is named.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const folder = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({
  fsInit: (FS, { sitePackages }) => {
    FS.mkdirTree(sitePackages);
    FS.mount(FS.filesystems.NODEFS, { root: `${folder}/packages` }, sitePackages);
  },
});
python.mountNodeFS("/pyodide", folder);
python.runPython(readFileSync(new URL("bytecode.py", import.meta.url), "utf-8"));
process.exit(0);
