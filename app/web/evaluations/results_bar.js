// Games won, drawn and lost as a bar, beside the numbers.

import { element } from "../core/element.js";
import { many } from "../core/wording.js";
import { results } from "./numerals.js";

/** Return the bar of somebody's `{ wins, draws, losses }`. */
export function resultsBar(row) {
  const told = `${row.wins} won, ${row.draws} drawn, ${row.losses} lost`;
  const bars = ["wins", "draws", "losses"].filter((kind) => row[kind] > 0).map((kind) => {
    const part = element("span", { class: kind });
    part.style.flexGrow = row[kind];
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
