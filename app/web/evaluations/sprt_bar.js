// Where the sequential test of a duel stands, between its bounds.

import { element, svg } from "../core/element.js";
import { number } from "./numerals.js";

const HEIGHT = 44;

/** Return a bar from H0's bound to H1's, with a mark at the log-likelihood ratio. */
export function sprtBar({ llr, lower_bound: lower, upper_bound: upper, decision }, bounds = null) {
  const label = words({ llr, lower, upper, decision });
  const low = Math.min(lower, llr);
  const high = Math.max(upper, llr);
  const room = 0.04 * (high - low);
  const at = (value) => `${((100 * (value - low + room)) / (high - low + 2 * room)).toFixed(2)}%`;
  const line = (kind, value) => svg("line", { class: kind, x1: at(value), x2: at(value), y1: 4, y2: 26 });
  const name = (value, text, anchor) => svg("text", { x: at(value), y: 41, "text-anchor": anchor }, text);
  return element(
    "div",
    { class: "sprt" },
    svg(
      "svg",
      { class: "sprt-bar", width: "100%", height: HEIGHT, role: "img", "aria-label": label },
      svg("line", { class: "band", x1: at(lower), x2: at(upper), y1: 15, y2: 15 }),
      svg("line", { class: "way", x1: at(0), x2: at(llr), y1: 15, y2: 15 }),
      line("bound", lower),
      line("guide", 0),
      line("bound", upper),
      svg("circle", { class: "mark", cx: at(llr), cy: 15, r: 6 }),
      name(lower, `H0 ${number(lower, 2)}`, "start"),
      name(upper, `H1 ${number(upper, 2)}`, "end"),
    ),
    element("p", { class: "small" }, said({ llr, decision }, bounds)),
  );
}

function said({ llr, decision }, bounds) {
  const meaning = (name) => (bounds ? `${name}, ${number(bounds[name === "H1" ? 1 : 0])} Elo,` : name);
  const ratio = `Log-likelihood ratio ${number(llr, 2)}`;
  if (!decision) return `${ratio}: not decided between ${meaning("H0")} and ${meaning("H1").replace(/,$/, "")}.`;
  return `${ratio}: the test accepts ${meaning(decision)} rather than ${decision === "H1" ? "H0" : "H1"}.`;
}

function words({ llr, lower, upper, decision }) {
  const verdict = decision ? `${decision} is accepted` : "not decided";
  const bounds = `between ${number(lower, 2)} for H0 and ${number(upper, 2)} for H1`;
  return `Sequential test: ${number(llr, 2)} ${bounds}; ${verdict}`;
}
