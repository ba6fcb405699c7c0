// Runs bytecode.py in Pyodide, in the folder that is named.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf-8");
const folder = process.argv[2];
const { info, wheels } = JSON.parse(read("pyodide.json"));
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ lockFileContents: JSON.stringify({ info, packages: {} }) });
await python.loadPackage(Object.keys(wheels).map((name) => `${folder}/${name}`));
python.mountNodeFS("/archives", folder);
python.runPython(read("bytecode.py"));
process.exit(0);
