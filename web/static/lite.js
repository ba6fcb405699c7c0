"use strict";

// The list of files may be minutes old in the browser: a notebook that is
// newer would not be found. So ask each time whether the list has changed.
const fetchAsUsual = window.fetch;
window.fetch = (what, how) => {
  const isList = String(what.url ?? what).endsWith("/all.json");
  return fetchAsUsual(what, isList ? { ...how, cache: "no-cache" } : how);
};

// Says why nothing happens while Python starts, and when it does not start.
const STARTING =
  "Python is starting in your browser. The first time, this takes about " +
  "half a minute. You can read on, or run cells: they wait.";
const FAILED =
  "Python has not started within two minutes. Reload the page; a private " +
  "window or an old browser may not allow it.";
const note = document.createElement("p");
note.setAttribute("role", "status");
note.textContent = STARTING;
note.style.cssText =
  "position: fixed; bottom: 0; left: 0; right: 0; z-index: 100; margin: 0;" +
  "padding: 0.6rem 1rem; background: #1b4f8a; color: #fff;" +
  "font: 1rem/1.4 sans-serif; text-align: center";
document.body.append(note);

const began = Date.now();
const timer = setInterval(() => {
  const notebook = window.jupyterapp?.shell.currentWidget;
  const status = notebook?.sessionContext?.kernelDisplayStatus;
  if (status === "idle" || status === "busy") {
    note.remove();
    clearInterval(timer);
  } else if (Date.now() - began > 120_000) {
    note.textContent = FAILED;
  }
}, 200);
