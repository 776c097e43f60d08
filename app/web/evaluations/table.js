// Tables of evaluations: with a caption, scopes, columns to sort by, and room to scroll within themselves.

import { element } from "../core/element.js";
import { NOTHING } from "./numerals.js";

/** Only a table that does not fit is a stop for the keyboard. */
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

/**
 * Return a table. Columns are `{ title, isNumber, isHead, key }`, cells are texts, elements, or null.
 *
 * `caption` is shown unless `isCaptionHidden`. With `sorted` (`{ key, isDescending }`) and `onsort(key)`,
 * columns with a key can be sorted by. With `asCards`, a narrow page shows each row as a card.
 */
export function table(caption, columns, rows, { isCaptionHidden, sorted, onsort, asCards } = {}) {
  const made = element(
    "table",
    { class: asCards ? "as-cards" : null, role: asCards ? "table" : null },
    element("caption", { class: "visually-hidden" }, caption),
    element(
      "thead",
      { role: asCards ? "rowgroup" : null },
      element("tr", { role: asCards ? "row" : null }, columns.map((each) => head(each, sorted, onsort, asCards))),
    ),
    element(
      "tbody",
      { role: asCards ? "rowgroup" : null },
      rows.map((cells) =>
        element("tr", { role: asCards ? "row" : null }, cells.map((each, place) => cell(each, columns[place], asCards))),
      ),
    ),
  );
  const frame = element("div", { class: "scroll-x", role: "group", "aria-label": caption }, made);
  scrolling.observe(frame);
  if (isCaptionHidden) return frame;
  // A caption of the table itself would scroll away with it.
  return element("div", {}, element("p", { class: "caption quiet small", "aria-hidden": "true" }, caption), frame);
}

function head(column, sorted, onsort, asCards) {
  const isSorted = sorted && column.key && sorted.key === column.key;
  const order = isSorted ? (sorted.isDescending ? "descending" : "ascending") : column.key ? "none" : null;
  const arrow = isSorted ? (sorted.isDescending ? "▾" : "▴") : "";
  const content = column.key
    ? element(
        "button",
        { type: "button", class: "sort", "data-key": column.key, onclick: () => onsort(column.key) },
        column.title,
        element("span", { "aria-hidden": "true", class: "sort-arrow" }, arrow),
      )
    : column.title;
  return element(
    "th",
    {
      scope: "col",
      class: column.isNumber ? "number" : null,
      "aria-sort": order,
      // Browsers forget what a cell is once it is not laid out as a table.
      role: asCards ? "columnheader" : null,
    },
    content,
    column.below ?? null,
  );
}

function cell(content, column, asCards) {
  const attributes = {
    class: [column.isNumber && "number", column.class].filter(Boolean).join(" ") || null,
    "data-title": asCards && typeof column.title === "string" ? column.title : null,
  };
  const shown = content ?? NOTHING;
  if (column.isHead) return element("th", { scope: "row", role: asCards ? "rowheader" : null, ...attributes }, shown);
  return element("td", { role: asCards ? "cell" : null, ...attributes }, shown);
}
