// Games won, drawn and lost as a bar, beside the numbers.

import { element } from "../core/element.js";
import { many } from "../core/wording.js";
import { results } from "./numerals.js";

/** Return the bar of somebody's `{ wins, draws, losses }`. */
export function resultsBar(row) {
  const parts = [["won", row.wins], ["drawn", row.draws], ["lost", row.losses]];
  const told = `${row.wins} won, ${row.draws} drawn, ${row.losses} lost`;
  const bars = parts.filter(([, number]) => number > 0).map(([kind, number]) => {
    const part = element("span", { class: `part ${kind}` });
    part.style.flexGrow = number;
    return part;
  });
  return element(
    "span",
    { class: "results", title: `${told} of ${many(row.wins + row.draws + row.losses, "game")}` },
    element("span", { class: "results-bar", "aria-hidden": "true" }, bars),
    element("span", { class: "visually-hidden" }, told),
    element("span", { class: "results-text", "aria-hidden": "true" }, results(row)),
  );
}
