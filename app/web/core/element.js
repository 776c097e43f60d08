// Elements from descriptions. Text always goes in as text, so nothing that somebody wrote is markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return an HTML element: `element("a", { class: "quiet", href, onclick: go }, "Go", icon)`.
 * Functions are listeners, `true` is an attribute without a value, null and false are left out, and
 * so are children that are null or false.
 */
export function element(tag, attributes = {}, ...children) {
  return furnished(document.createElement(tag), attributes, children);
}

/** Return an SVG element, described in the same way. */
export function svg(tag, attributes = {}, ...children) {
  return furnished(document.createElementNS(SVG, tag), attributes, children);
}

function furnished(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) set(made, name, value);
  made.append(...children.flat(Infinity).filter((each) => each != null && each !== false));
  return made;
}

function set(made, name, value) {
  if (typeof value === "function") made.addEventListener(name.replace(/^on/, ""), value);
  else if (name === "dataset") Object.assign(made.dataset, value);
  else if (value === true) made.setAttribute(name, "");
  else if (value != null && value !== false) made.setAttribute(name, String(value));
}

/** Put children in place of those that an element has. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((each) => each != null && each !== false));
  return parent;
}

/**
 * Put children in place of those that an element has, and keep the focus there if it was: on the
 * control of the same name, or else on the first one.
 */
export function refill(parent, ...children) {
  const before = parent.contains(document.activeElement) ? document.activeElement : null;
  fill(parent, ...children);
  if (!before || before === parent || parent.contains(document.activeElement)) return parent;
  const controls = [...parent.querySelectorAll("button, input, select, textarea, a[href], summary")];
  const able = controls.filter((each) => !each.disabled && each.checkVisibility());
  (able.find((each) => nameOf(each) === nameOf(before)) ?? able[0])?.focus({ preventScroll: true });
  return parent;
}

function nameOf(control) {
  return control.dataset.name ?? control.textContent;
}

/** Change the text of an element only if it is another: a screen reader would say it again. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
