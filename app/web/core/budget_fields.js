// A budget in a form: what may be spent at most, in dollars, tokens and calls.

import { element } from "./element.js";

const BOUNDS = [
  { key: "usd", title: "Dollars", step: "any" },
  { key: "tokens", title: "Tokens", step: 1 },
  { key: "calls", title: "Calls", step: 1 },
];

/** Fields for a budget; `prefix` tells their ids from those of other fields. */
export class BudgetFields {
  constructor(prefix) {
    this.inputs = new Map(
      BOUNDS.map(({ key, step }) => [
        key, element("input", { id: `${prefix}-${key}`, type: "number", min: 0, step, placeholder: "no bound" }),
      ]),
    );
    this.elements = BOUNDS.map(({ key, title }) => {
      const input = this.inputs.get(key);
      return element("div", { class: "field" }, element("label", { for: input.id }, title), input);
    });
  }

  /** Fill in a budget; a bound that is not there is left open. */
  show(budget) {
    for (const [key, input] of this.inputs) input.value = budget?.[key] ?? "";
  }

  /** Return the budget that is filled in, as the service has it. */
  value() {
    const filled = [...this.inputs].filter(([, input]) => input.value !== "");
    return Object.fromEntries(filled.map(([key, input]) => [key, Number(input.value)]));
  }
}
