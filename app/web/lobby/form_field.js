// Fields of a form: a label, a control, what it is for, and a place to say what is wrong with it.

import { element } from "../core/element.js";

/**
 * Return a labelled control. `name` is the field of the request that it fills, by which problems are
 * shown at it.
 */
export function field(name, label, control, hint = null) {
  const id = idOf(name);
  Object.assign(control, { id, name });
  control.setAttribute("aria-describedby", `${id}-hint ${id}-wrong`);
  return element(
    "div",
    { class: "field", dataset: { field: name } },
    element("label", { for: id }, label),
    control,
    hintOf(name, hint),
    wrongOf(name),
  );
}

/** Return a group of controls that fill one field together. */
export function group(name, legend, hint, ...content) {
  const id = idOf(name);
  return element(
    "fieldset",
    { class: "field", dataset: { field: name }, "aria-describedby": `${id}-hint ${id}-wrong` },
    element("legend", {}, legend),
    hintOf(name, hint),
    content,
    wrongOf(name),
  );
}

/** Return a box to tick, with its label beside it. */
export function tick(name, label, { isChecked = false, hint = null } = {}) {
  const id = idOf(name);
  const control = element("input", {
    type: "checkbox", id, name, checked: isChecked, "aria-describedby": `${id}-hint ${id}-wrong`,
  });
  return element(
    "div",
    { class: "field", dataset: { field: name } },
    element("span", { class: "tick" }, control, element("label", { for: id }, label)),
    hintOf(name, hint),
    wrongOf(name),
  );
}

/** Return choices of which one is taken: `[value, text, hint]` each, the first to begin with. */
export function choices(name, options) {
  return element(
    "div",
    { class: "choices" },
    options.map(([value, text, hint], index) => {
      const id = `${idOf(name)}-${index}`;
      return element(
        "label",
        { class: "choice", for: id },
        element("input", { type: "radio", id, name, value, checked: index === 0 }),
        element("span", { class: "choice-text" }, text, hint && element("small", {}, hint)),
      );
    }),
  );
}

/** Return an input for whole numbers in some bounds, or for any with `isWhole: false`. */
export function numberInput(least, most, { isWhole = true, placeholder = "" } = {}) {
  return element("input", {
    type: "number", inputmode: isWhole ? "numeric" : "decimal", min: least, max: most,
    step: isWhole ? 1 : "any", placeholder, autocomplete: "off",
  });
}

/** Return a list to choose from: `[value, text]` each. */
export function selection(options) {
  return element("select", {}, options.map(([value, text]) => element("option", { value }, text)));
}

function idOf(name) {
  return `match-${name.replaceAll(".", "-")}`;
}

function hintOf(name, hint) {
  return element("p", { class: "hint", id: `${idOf(name)}-hint`, hidden: !hint }, hint);
}

function wrongOf(name) {
  return element("p", { class: "wrong", id: `${idOf(name)}-wrong`, hidden: true });
}
