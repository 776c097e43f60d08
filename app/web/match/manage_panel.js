// Pausing, resuming and aborting a match, for whoever may do that.

import { post } from "../core/api.js";
import { BudgetFields } from "../core/budget_fields.js";
import { element, refill, say } from "../core/element.js";
import { sentence } from "../core/wording.js";

/** The panel of commands that concern the whole match. */
export class ManagePanel {
  constructor(matchId, leaving) {
    this.path = `/api/matches/${matchId}`;
    this.leaving = leaving;
    this.reason = element("input", { id: "manage-reason", maxlength: 200, placeholder: "optional; watchers see it" });
    this.budget = new BudgetFields("manage");
    this.reasonField = element("div", { class: "field" }, element("label", { for: "manage-reason" }, "Reason"), this.reason);
    this.budgetFields = element(
      "fieldset",
      { class: "stack" },
      element("legend", {}, "Go on with this budget"),
      element("span", { class: "quiet small" }, "In place of the one that it had; what was spent counts. An empty field is no bound."),
      this.budget.elements,
    );
    this.buttons = element("div", { class: "row" });
    this.message = element("p", { class: "wrong", role: "alert" });
    this.root = element(
      "details",
      { class: "panel manage-panel", hidden: true },
      element("summary", {}, "Manage this match"),
      element("div", { class: "stack" }, this.reasonField, this.budgetFields, this.buttons, this.message),
    );
  }

  /** Show what can be done now. */
  show(log) {
    this.log = log;
    this.root.hidden = log.isOver;
    if (this.root.dataset.status === log.status) return;
    this.root.dataset.status = log.status;
    const isPaused = log.status === "paused";
    this.budgetFields.hidden = log.pause?.cause !== "budget";
    this.budget.show(log.budget);
    const button = (text, action, kind = null) => element("button", { type: "button", class: kind, onclick: action }, text);
    refill(
      this.buttons,
      isPaused
        ? button("Resume", () => this.#send("resume", this.#resumption()))
        : button("Pause", () => this.#send("pause", this.#reasoned())),
      button("Abort", () => this.#confirmAbort(), "danger"),
    );
  }

  #reasoned() {
    const reason = this.reason.value.trim();
    return reason ? { reason } : undefined;
  }

  #resumption() {
    return this.budgetFields.hidden ? undefined : { budget: this.budget.value() };
  }

  #confirmAbort() {
    const back = () => {
      delete this.root.dataset.status;
      this.show(this.log);
    };
    refill(
      this.buttons,
      element("span", {}, "End it without a result?"),
      element("button", { type: "button", class: "danger", onclick: () => this.#send("abort", this.#reasoned()) }, "Yes, abort"),
      element("button", { type: "button", onclick: back }, "No"),
    );
  }

  async #send(route, data) {
    say(this.message, "");
    try {
      await post(`${this.path}/${route}`, data, { signal: this.leaving });
      this.reason.value = "";
    } catch (problem) {
      if (problem.name !== "AbortError") say(this.message, sentence(problem.message));
    }
  }
}
