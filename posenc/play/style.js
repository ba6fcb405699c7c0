// How all figures look.

const STYLE = `
  :host {
    --ink: #1c2024; --soft: #565d67; --line: #9aa1ab; --grid: #e6e9ed;
    --blue: #1f6fb2; --orange: #b95504; --ground: #fff;
    color-scheme: light; display: block; margin: 0.5rem 0 1rem;
    max-width: 46rem;
    /* A change of color shows that the theme has changed. */
    transition: color 1ms;
  }
  :host([dark]) {
    --ink: #e9ebee; --soft: #a9b1bc; --line: #69717d; --grid: #2e343d;
    --blue: #62b0f3; --orange: #ffa94d; --ground: #15191e;
    color-scheme: dark;
  }
  @media print { :host { display: none; } }
  * { box-sizing: border-box; }
  .figure {
    background: var(--ground); border: 1px solid var(--line);
    border-radius: 10px; color: var(--ink); container-type: inline-size;
    padding: 0.8rem 0.9rem;
    font: 0.95rem/1.45 system-ui, "Helvetica Neue", "Segoe UI",
      "Liberation Sans", Arial, sans-serif; text-align: left;
  }
  p { margin: 0 0 0.6rem; text-wrap: pretty; }
  .ask { font-weight: 600; }
  .says { font-variant-numeric: tabular-nums; }
  .heard { clip-path: inset(50%); height: 1px; margin: 0; overflow: hidden;
    position: absolute; white-space: nowrap; width: 1px; }
  .note { border-left: 3px solid var(--orange); margin: 0.6rem 0 0;
    padding-left: 0.6rem; }
  :host(:not([played])) .note, .ask:empty, .note:empty { display: none; }

  .pictures { column-gap: 0; display: flex; flex-wrap: wrap;
    justify-content: space-between; margin-bottom: 0.5rem; row-gap: 0.6rem; }
  svg { display: block; overflow: visible; touch-action: pan-y pinch-zoom;
    user-select: none; -webkit-user-select: none; }
  svg text { fill: var(--ink); font-size: 12px; paint-order: stroke;
    stroke: var(--ground); stroke-width: 3px; }
  svg .middle { text-anchor: middle; }
  svg .end { text-anchor: end; }
  svg .soft { fill: var(--soft); }
  svg :is(.on-dark, .on-light, .on-tab) { stroke: none; }
  svg .on-dark { fill: #fff; font-size: 11px; }
  svg .on-light { fill: #14171b; font-size: 11px; }
  .blue { --tone: var(--blue); }
  .orange { --tone: var(--orange); }
  svg text:is(.blue, .orange) { fill: var(--tone); }
  path { fill: none; stroke: var(--tone, var(--ink)); }
  image { image-rendering: pixelated; }
  .dial { fill: none; stroke: var(--line); }
  .leg { stroke-width: 4; }
  .hand { stroke-linecap: round; stroke-width: 2; }
  .tip { fill: var(--tone, var(--ink)); stroke: none; }
  .grid { stroke: var(--grid); }
  .tick { stroke: var(--line); }
  .dashed { stroke: var(--tone, var(--soft)); stroke-dasharray: 3 3; }
  .mark { stroke: var(--soft); }
  .curve { stroke-linejoin: round; stroke-width: 2.2; }
  .thin { stroke-width: 1.3; }
  .faint { stroke: var(--line); }
  .dot { fill: var(--tone); }
  .peak { fill: var(--ink); stroke: var(--ground); }
  .knob { fill: var(--ground); stroke: var(--tone); stroke-width: 3.5; }
  .between { fill: var(--line); opacity: 0.45; stroke: none; }
  .met { fill: var(--blue); opacity: 0.35; stroke: none; }
  .new { fill: var(--orange); opacity: 0.75; stroke: none; }
  .step { stroke: var(--ink); stroke-width: 1.5; }
  .arrow { stroke-width: 3.5; }
  .bar { fill: var(--line); }
  .long { stroke-width: 8; }
  svg .strong { font-weight: 600; }
  .frame { fill: none; stroke: var(--tone, var(--ink)); stroke-width: 2; }
  .halo { fill: none; stroke: var(--ground); stroke-width: 4; }
  .tab { fill: var(--tone, var(--ink)); }
  svg .on-tab { fill: var(--ground); font-weight: 600; }
  .room { fill: transparent; }
  .weight { fill: var(--blue); }
  .wrong { fill: none; stroke: var(--tone); stroke-width: 1.5; }
  .ahead { fill: var(--ground); stroke: none; }
  .edge { fill: none; stroke: var(--line); }
  .off { opacity: 0.25; }
  .looks { stroke: var(--orange); stroke-width: 1.5; }
  svg .letter { font-size: 13px; }
  .grip, .area { cursor: grab; }
  .grip:active, .area:active { cursor: grabbing; }
  .grip:hover .dial { stroke: var(--ink); stroke-width: 2; }

  .settings { display: grid; gap: 0.35rem 1.6rem; margin-bottom: 0.5rem;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }
  .narrow .settings {
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); }
  .setting { column-gap: 0.6rem; display: grid;
    grid-template-columns: 1fr auto; }
  .value { color: var(--soft); font-variant-numeric: tabular-nums; }
  input { accent-color: var(--tone, var(--blue)); cursor: pointer;
    margin: 0; }
  [type=range] { grid-column: 1 / -1; height: 1.75rem; width: 100%; }
  fieldset { border: 0; display: grid; gap: 0.35rem; grid-column: 1 / -1;
    grid-template-columns: repeat(auto-fit, minmax(var(--room), 1fr));
    margin: 0; min-width: 0; padding: 0; }
  legend { padding: 0 0 0.2rem; }
  .field { align-items: center; display: grid; gap: 0.2rem 0.6rem;
    grid-column: 1 / -1; grid-template-columns: auto 1fr; }
  [type=text] { background: var(--ground); border: 1.5px solid var(--line);
    border-radius: 8px; color: inherit; cursor: text; font: inherit;
    letter-spacing: 0.08em; min-height: 2rem; min-width: 0;
    padding: 0 0.5rem; }
  .row { align-items: center; display: flex; gap: 0.25rem; }
  .row > span { flex: 0 0 7rem; }
  .switch { border: 1.5px dashed var(--line); border-radius: 6px;
    color: var(--soft); cursor: pointer; flex: 1 1 1.4rem;
    line-height: 1.75rem; max-width: 7rem; position: relative;
    text-align: center; text-decoration: line-through; }
  .switch:has(:checked) { border: 1.5px solid var(--blue);
    color: inherit; font-weight: 600; text-decoration: none; }
  .switch:has(:focus-visible) { outline: 3px solid var(--blue);
    outline-offset: 2px; }
  [type=checkbox] { height: 100%; inset: 0; opacity: 0; position: absolute;
    width: 100%; }
  .choice { align-items: center; border: 1.5px solid var(--line);
    border-radius: 8px; cursor: pointer; display: flex; gap: 0.4rem;
    min-height: 2.2rem; padding: 0 0.5rem; }
  .choice:has(:checked) { border-color: var(--blue); font-weight: 600; }
  /* On a phone, all that changes together is on the screen together. */
  @container (max-width: 31rem) {
    .settings { row-gap: 0; }
    .setting { line-height: 1.3; }
    .narrow .settings { column-gap: 1rem;
      grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
    .settings:has(.half) { column-gap: 0.8rem;
      grid-template-columns: 1fr 1fr; }
    .field { margin-bottom: 0.3rem; }
    [type=text] { min-height: 1.75rem; }
    .row, .settings:has(.half) .setting:not(.half) {
      grid-column: 1 / -1; }
    .row + .row { margin-top: 0.15rem; }
    .switch { font-size: 0.9em; line-height: 1.6rem; }
    .row > span { flex-basis: 6.2rem; font-size: 0.86em; }
    [type=range] { height: 1.5rem; }
  }
  :focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
  [type=range]:focus-visible { border-radius: 6px; outline-offset: -3px; }`;
