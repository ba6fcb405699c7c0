// Runs bytecode.py in Pyodide, in the folder that is named.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const [folder, program] = process.argv.slice(2);
const { packages } = JSON.parse(readFileSync(`${folder}/pyodide-lock.json`));
const entry = pathToFileURL(`${folder}/pyodide.mjs`);
const { loadPyodide } = await import(entry);
const pyodide = await loadPyodide({ packages: Object.keys(packages) });
// What posenc_helpers and page_session import, which only a page has.
pyodide.registerJsModule("page", { post() {} });
pyodide.mountNodeFS("/archives", folder);
pyodide.runPython(readFileSync(program, "utf-8"));
process.exit(0);
