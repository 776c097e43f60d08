// Commands to an evaluation: pause, resume (perhaps with another budget), cancel.

import { post } from "../core/api.js";
import { BudgetFields } from "../core/budget_fields.js";
import { element } from "../core/element.js";
import { isOver } from "./kinds.js";

/** Buttons that fit how an evaluation stands; `done(state)` and `refused(problem)` hear what came of it. */
export class CommandsBar {
  constructor(id, { done, refused, signal }) {
    this.path = `/api/evaluations/${id}`;
    this.done = done;
    this.refused = refused;
    this.signal = signal;
    this.pause = button("Pause", () => this.send("pause"));
    this.resume = button("Resume", () => this.send("resume"), "primary");
    this.another = button("Resume with another budget …", () => this.askBudget());
    this.cancel = button("Cancel …", () => this.askCancel(), "danger");
    this.element = element("div", { class: "row" }, this.pause, this.resume, this.another, this.cancel);
  }

  /** Show the buttons that make sense. */
  update(state) {
    this.state = state;
    const isSpent = state.status === "finished" && state.detail.includes("budget");
    this.pause.hidden = !["created", "running"].includes(state.status);
    this.resume.hidden = state.status !== "paused";
    this.another.hidden = state.status !== "paused" && !isSpent;
    this.cancel.hidden = isOver(state);
  }

  async send(what, body) {
    const buttons = [...this.element.children];
    for (const each of buttons) each.disabled = true;
    try {
      this.done(await post(`${this.path}/${what}`, body, { signal: this.signal }));
    } catch (error) {
      this.refused(error);
    } finally {
      for (const each of buttons) each.disabled = false;
    }
  }

  askCancel() {
    ask({
      title: "Cancel this evaluation?",
      words: "Games under way are aborted, and it cannot go on later. What was scored is kept, and can be reported.",
      confirm: button("Cancel it for good", null, "danger"),
      refuse: "Let it go on",
      signal: this.signal,
      confirmed: () => this.send("cancel"),
    });
  }

  askBudget() {
    const budget = new BudgetFields("budget");
    budget.show(this.state.progress?.budget);
    ask({
      title: "Resume with another budget",
      words: "It takes the place of the one there was; what was spent counts. An empty field is no bound.",
      content: budget.elements,
      confirm: button("Resume", null, "primary"),
      refuse: "Leave it as it is",
      signal: this.signal,
      confirmed: () => this.send("resume", { budget: budget.value() }),
    });
  }
}

function button(text, onclick, kind = null) {
  return element("button", { type: "button", class: kind, onclick }, text);
}

/** Ask in a dialog, which goes when the view does. */
function ask({ title, words, content = [], confirm, refuse, signal, confirmed }) {
  confirm.type = "submit";
  const dialog = element(
    "dialog",
    { class: "dialog", "aria-labelledby": "ask-title", onclose: () => dialog.remove() },
    element("h2", { id: "ask-title" }, title),
    element("p", {}, words),
    element(
      "form",
      {
        class: "stack",
        onsubmit(event) {
          event.preventDefault();
          dialog.close();
          confirmed();
        },
      },
      content,
      element("div", { class: "row" }, confirm, button(refuse, () => dialog.close())),
    ),
  );
  signal.addEventListener("abort", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
