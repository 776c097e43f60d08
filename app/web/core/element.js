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

/** Change the text of an element only if it is another: a screen reader would say it again. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
