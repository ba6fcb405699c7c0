// Mouse, pen and finger on the pictures of a figure.

// While a part with data-drag="name" is dragged, `moves` is called with the
// name, the place in the picture where the part is to be, and an object that
// lasts as long as the drag: its `pointer` is where the finger is, and a figure
// may note there from what the drag began.
function listenForDrags(node, moves) {
  const on = (kind, then, more) => node.addEventListener(kind, then, more);
  let drag = null;
  const act = (event) => {
    const toPicture = drag.svg.getScreenCTM().inverse();
    const inPicture = (x, y) => new DOMPoint(x, y).matrixTransform(toPicture);
    drag.pointer = inPicture(event.clientX, event.clientY);
    const { x, y } = drag.held;
    moves(drag.name, inPicture(event.clientX - x, event.clientY - y), drag);
  };
  on("pointerdown", (event) => {
    const part = event.target.closest("[data-drag]");
    if (!part || event.button) return;
    const svg = part.ownerSVGElement;
    // A finger on an area may be about to scroll: it taps there.
    const taps = event.pointerType === "touch" && part.matches(".area");
    drag = { name: part.dataset.drag, svg, taps, held: { x: 0, y: 0 } };
    // A grip stays under the pointer as it was taken, off its middle.
    if (part.matches(".grip")) {
      const { x, y, width, height } = part.getBoundingClientRect();
      drag.held.x = event.clientX - x - width / 2;
      drag.held.y = event.clientY - y - height / 2;
    }
    svg.setPointerCapture(event.pointerId);
    if (event.pointerType !== "touch") act(event);
  });
  on("pointermove", (event) => drag && !drag.taps && act(event));
  on("pointerup", (event) => drag && act(event));
  on("lostpointercapture", () => (drag = null));
  // Marks no text, and selects no cell of JupyterLab.
  on("mousedown", (event) => {
    if (!event.target.closest("[data-drag]")) return;
    event.preventDefault();
    event.stopPropagation();
  });
  // Chromium reads `touch-action` of whole pictures only.
  const hold = (event) => event.target.closest(".grip") && event.preventDefault();
  on("touchstart", hold, { passive: false });
}
