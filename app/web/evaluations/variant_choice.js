// A choice of the variant: who is strong in one need not be so in another.

import { element } from "../core/element.js";
import { variantName } from "../core/wording.js";

const VARIANTS = ["standard", "chess960", "kings-cooking"];

/** Return the variant that an address names, or chess. */
export function variantOf(query) {
  return VARIANTS.includes(query.variant) ? query.variant : "standard";
}

/** Return a labelled select; `choose(variant)` hears of a choice. */
export function variantChoice(chosen, choose) {
  const select = element(
    "select",
    { id: "variant-choice", onchange: () => choose(select.value) },
    VARIANTS.map((each) => element("option", { value: each, selected: each === chosen }, variantName(each))),
  );
  return element("div", { class: "filter-line" }, element("label", { for: "variant-choice" }, "Variant"), select);
}
