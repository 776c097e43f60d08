// What the service refused, said where it happened.

import { element, fill } from "../core/element.js";
import { sentence } from "../core/wording.js";

/** A place for problems: empty until there is one. */
export class ProblemNotice {
  constructor() {
    this.element = element("div", { class: "problems", role: "alert" });
  }

  /** Say what went wrong, unless it is only that the view was left. */
  say(error) {
    if (error.name === "AbortError") return;
    fill(this.element, element("p", { class: "notice bad" }, sentence(error.message)));
  }

  /** Take back what was said. */
  clear() {
    fill(this.element);
  }
}
