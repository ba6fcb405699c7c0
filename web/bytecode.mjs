// Runs bytecode.py in Pyodide, in the folder that is named.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const [folder, packages, program] = process.argv.slice(2);
const entry = pathToFileURL(`${folder}/pyodide.mjs`);
const { loadPyodide } = await import(entry);
const pyodide = await loadPyodide({ packages: JSON.parse(packages) });
pyodide.mountNodeFS("/archives", folder);
pyodide.runPython(readFileSync(program, "utf-8"));
process.exit(0);
