// A form for a plan: what to measure and how. It tells what that will cost before anything is begun.

import { get, post } from "../core/api.js";
import { Attempt } from "../core/attempt.js";
import { element, fill } from "../core/element.js";
import { go } from "../core/router.js";
import { View } from "../core/view.js";
import { sentence } from "../core/wording.js";
import { AgentFields } from "./agent_fields.js";
import { estimateTable } from "./estimate_table.js";
import { KINDS } from "./kinds.js";
import { PlanFields } from "./plan_fields.js";
import { ProblemNotice } from "./problem_notice.js";
import { variantOf } from "./variant_choice.js";

class StartEvaluationView extends View {
  async show() {
    this.title("New evaluation");
    this.attempt = new Attempt();
    this.problems = new ProblemNotice();
    fill(this, element("h1", {}, "New evaluation"), this.problems.element);
    try {
      const { players } = await get("/api/players", { signal: this.leaving });
      this.build(players.filter((each) => each.kind !== "human" && each.unavailable === null));
      this.tellUnavailable(players.filter((each) => each.unavailable !== null));
    } catch (error) {
      this.problems.say(error);
    }
  }

  build(players) {
    const { kind, agents, variant } = this.place.query;
    const changed = () => this.changed();
    this.kinds = kindChoice(KINDS[kind] ? kind : "ladder", changed);
    this.agents = new AgentFields(players, { changed });
    this.fields = new PlanFields({ changed });
    this.fields.at("variant").input.value = variantOf({ variant });
    this.agents.begin(agents ? agents.split(",") : ["classical@nodes=1000"]);
    this.unavailable = element("p", { class: "hint quiet small", hidden: true });
    this.agents.element.append(this.unavailable);
    this.estimate = element("div", { "aria-live": "polite" });
    this.ask = element("button", { type: "button", onclick: () => this.send(true) }, "What will it cost?");
    this.start = element("button", { type: "submit", class: "primary" }, "Start");
    this.form = element(
      "fieldset",
      { class: "stack plan-form" },
      element("legend", { class: "visually-hidden" }, "Plan"),
      element("div", { class: "panel" }, this.kinds),
      element("div", { class: "panel" }, this.agents.element),
      element("div", { class: "panel" }, this.fields.first),
      element("details", { class: "panel" }, element("summary", {}, "Further settings"), this.fields.further),
    );
    const form = element(
      "form",
      { class: "stack", onsubmit: (event) => this.submit(event) },
      this.form,
      this.source(),
      this.problems.element,
      element("div", { class: "row" }, this.start, this.ask),
      this.estimate,
    );
    fill(this, element("h1", {}, "New evaluation"), form);
    this.changed();
  }

  /** Return the plan as JSON, which may also be written by hand. */
  source() {
    this.text = element("textarea", {
      id: "plan-text", class: "mono", rows: 14, spellcheck: "false", "aria-describedby": "plan-text-hint",
      oninput: () => this.own(true),
    });
    this.back = element("button", { type: "button", hidden: true, onclick: () => this.own(false) }, "Back to the form");
    return element(
      "details",
      { class: "panel plan-source" },
      element("summary", {}, "The plan as JSON"),
      element(
        "div",
        { class: "field" },
        element("label", { for: "plan-text" }, "Plan"),
        element(
          "p",
          { class: "hint", id: "plan-text-hint" },
          "What the form comes to. Change it, and it is used in the form's place: it can say more than the form.",
        ),
        this.text,
        this.back,
      ),
    );
  }

  own(isOwn) {
    this.isOwn = isOwn;
    this.form.disabled = isOwn;
    this.back.hidden = !isOwn;
    this.forget();
    if (!isOwn) this.changed();
  }

  changed() {
    const kind = this.kinds.querySelector("input:checked").value;
    this.forget();
    this.fields.fit(kind);
    this.agents.fit(kind);
    const variant = this.fields.at("variant").input.value;
    if (variant !== this.agents.variant) this.agents.offer(variant);
    if (this.isOwn) return;
    this.text.value = JSON.stringify({ kind, ...this.fields.value(), agents: this.agents.value() }, null, 2);
  }

  submit(event) {
    event.preventDefault();
    this.send(false);
  }

  async send(isDry) {
    this.forget();
    if (isDry && !this.isOwn && !this.querySelector("form").reportValidity()) return;
    this.ask.disabled = this.start.disabled = true;
    try {
      const plan = this.plan();
      if (isDry) {
        const estimate = await post("/api/evaluations?dry_run=true", plan, { signal: this.leaving });
        fill(this.estimate, estimateTable(estimate, plan.kind));
        return;
      }
      const headers = this.attempt.headers(plan); // it may be dear: an answer that got lost starts no second one
      const { id } = await post("/api/evaluations", plan, { headers, signal: this.leaving });
      this.attempt.end();
      go(`/evaluations/${id}`);
    } catch (error) {
      this.tell(error);
    } finally {
      this.ask.disabled = this.start.disabled = false;
    }
  }

  plan() {
    try {
      return JSON.parse(this.text.value);
    } catch (error) {
      throw new Error(`the plan is not JSON: ${error.message}`);
    }
  }

  /** Say at its field what is wrong, and above the buttons what is wrong at no field. */
  tell(problem) {
    const errors = problem.members?.errors ?? [{ field: problem.field, detail: problem.message }];
    const rest = this.isOwn ? errors : errors.filter(({ field, detail }) => !this.mark(field, detail));
    if (rest.length) this.problems.say({ message: rest.map((each) => sentence(each.detail)).join(" ") });
    this.querySelector("[aria-invalid]")?.focus();
  }

  mark(field, detail) {
    if (!field) return false;
    const found = field.startsWith("agents") ? this.agents : this.fields.at(field);
    if (!found) return false;
    found.element.closest("details")?.setAttribute("open", "");
    found.wrong.hidden = false;
    found.wrong.textContent = sentence(detail.replace(`${field}: `, ""));
    const [, place] = /^agents\.(\d+)/.exec(field) ?? [];
    (found.input ?? found.rows[place ?? 0].select).setAttribute("aria-invalid", "true");
    return true;
  }

  /** What was said of another plan holds no more. */
  forget() {
    this.problems.clear();
    fill(this.estimate);
    for (const each of this.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
    for (const each of this.querySelectorAll(".wrong")) each.hidden = true;
  }

  tellUnavailable(players) {
    if (!players.length) return;
    const reasons = [...new Set(players.map((each) => each.unavailable))];
    this.unavailable.hidden = false;
    const names = players.map((each) => each.name).join(", ");
    this.unavailable.textContent = `Not set up: ${names}. ${reasons.map(sentence).join(" ")}`;
  }
}

function kindChoice(chosen, changed) {
  return element(
    "fieldset",
    { class: "kinds" },
    element("legend", {}, "Kind"),
    Object.entries(KINDS).map(([kind, { title, explanation }]) =>
      element(
        "div",
        { class: "kind" },
        element("input", {
          type: "radio",
          name: "kind",
          id: `kind-${kind}`,
          value: kind,
          checked: kind === chosen,
          onchange: changed,
          "aria-describedby": `kind-${kind}-words`,
        }),
        element("label", { for: `kind-${kind}` }, title),
        element("p", { class: "hint quiet small", id: `kind-${kind}-words` }, explanation),
      ),
    ),
  );
}

customElements.define("start-evaluation-view", StartEvaluationView);
