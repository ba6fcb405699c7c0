// Below the pictures, a control for each setting of a figure.

// How a slider is marked off. One with a `power` is for the logarithm.
const WAVELENGTHS = { power: 10, step: 0.25 };
function track({ min, max, step = 1, power }) {
  const same = (value) => value;
  if (!power) return { min, max, step, at: same, value: same };
  const at = (value) => +(Math.log(value) / Math.log(power)).toFixed(9);
  const value = (place) => Number((power ** place).toPrecision(3));
  return { min: at(min), max: at(max), step, at, value };
}
// `show` says a value; the other settings may have a say in it.
const inWords = ({ show }, value, state) => (show ? show(value, state) : number(value));
// Switches are the bits of one number.
const isOn = (switches, place) => Math.floor(switches / 2 ** place) % 2;

// The markup of all controls.
function controlsOf(settings) {
  const controls = Object.entries(settings).map(([name, setting]) => {
    if (setting.choices) return buttons(name, setting);
    if (setting.switches) return switches(name, setting);
    if (setting.clean) return field(name, setting);
    return slider(name, setting);
  });
  return controls.join("");
}

function slider(name, setting) {
  const { min, max, step } = track(setting);
  const { tone = "", room = "" } = setting;
  return `<label class="setting ${tone} ${room}">
    <span>${setting.label}</span>
    <span class="value" aria-hidden="true"></span>
    <input type="range" name="${name}" min="${min}" max="${max}"
      step="${step}"></label>`;
}

function buttons(name, { label, choices, room = 8.5 }) {
  const each = choices.map(
    (words, value) => `<label class="choice">
      <input type="radio" name="${name}" value="${value}">${words}</label>`,
  );
  return `<fieldset style="--room: ${room}rem"><legend>${label}</legend>
    ${each.join("")}</fieldset>`;
}

function field(name, { label, max }) {
  return `<label class="field"><span>${label}</span>
    <input type="text" name="${name}" maxlength="${max}" autocomplete="off"
      autocapitalize="none" spellcheck="false"></label>`;
}
// Rows of small switches, which are the bits of one number.
function switches(name, { switches: rows }) {
  let place = 0;
  return rows
    .map(({ label, names, marks }) => {
      const each = names.map(
        (whole, i) => `<label class="switch">
        <input type="checkbox" name="${name}" value="${place++}"
          aria-label="${whole}">${marks?.[i] ?? i}</label>`,
      );
      return `<div class="row" role="group" aria-label="${label}">
      <span aria-hidden="true">${label}</span>${each.join("")}</div>`;
    })
    .join("");
}

// Let the controls show a state.
function showState(root, settings, state) {
  for (const [name, setting] of Object.entries(settings)) {
    const inputs = [...root.querySelectorAll(`[name=${name}]`)];
    const value = state[name];
    if (setting.choices) {
      inputs[value].checked = true;
    } else if (setting.switches) {
      for (const input of inputs) input.checked = isOn(value, input.value);
    } else if (setting.clean) {
      // Not while the reader types in it.
      if (!inputs[0].matches(":focus")) inputs[0].value = value;
    } else {
      moveSlider(inputs[0], setting, state);
    }
  }
}
function moveSlider(input, setting, state) {
  // The other settings may allow less than the range.
  const most = setting.last?.(state) ?? setting.max;
  const shown = Math.min(state[input.name], most);
  input.max = track({ ...setting, max: most }).max;
  input.value = track(setting).at(shown);
  const words = inWords(setting, shown, state);
  input.setAttribute("aria-valuetext", words);
  input.previousElementSibling.textContent = words;
}

// What a control now asks for, or undefined while a text is too short.
function valueOf({ value, checked }, setting, before) {
  if (setting.switches) return before + (checked ? 1 : -1) * 2 ** value;
  if (!setting.clean) return track(setting).value(+value);
  const typed = setting.clean(value);
  return typed.length >= setting.min ? typed : undefined;
}
