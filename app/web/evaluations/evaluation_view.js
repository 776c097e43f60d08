// One evaluation: how far it has come, as it happens, and what it found.

import { get } from "../core/api.js";
import { tellConnection } from "../core/connection.js";
import { element, fill } from "../core/element.js";
import { follow } from "../core/event_stream.js";
import { View } from "../core/view.js";
import { moment, sentence, variantName } from "../core/wording.js";
import { CommandsBar } from "./commands_bar.js";
import { KINDS, isOver, statusChip } from "./kinds.js";
import { properSigns } from "./numerals.js";
import { ProblemNotice } from "./problem_notice.js";
import { ProgressPanel } from "./progress_panel.js";
import { ReportPanel } from "./report_panel.js";

class EvaluationView extends View {
  async show() {
    this.id = this.place.parameters.evaluation_id;
    this.title("Evaluation");
    this.problems = new ProblemNotice();
    const heading = element("h1", {}, "Evaluation");
    fill(this, heading, this.problems.element);
    let details;
    try {
      details = await get(`/api/evaluations/${this.id}`, { signal: this.leaving });
    } catch (error) {
      this.problems.say(error);
      return;
    }
    this.title(details.name);
    heading.textContent = details.name;
    this.build(heading, details);
    this.update(details);
    this.followOn();
  }

  build(heading, { kind, plan, created_at: begun }) {
    const isPositions = kind === "positions";
    this.status = element("span", { role: "status" });
    this.detail = element("p", { class: "quiet" });
    this.commands = new CommandsBar(this.id, {
      done: (state) => this.commanded(state),
      refused: (problem) => this.problems.say(problem),
      signal: this.leaving,
    });
    this.progress = new ProgressPanel(plan);
    this.report = new ReportPanel(this.id, this.leaving);
    this.soFar = element("button", { type: "button", onclick: () => this.report.load() }, "Report so far");
    fill(
      this,
      element("p", { class: "small" }, element("a", { href: "/evaluations" }, "All evaluations")),
      element("div", { class: "spread" }, heading, element("span", { class: "row" }, chips(kind, plan), this.status)),
      element("p", { class: "quiet" }, `${KINDS[kind].explanation} Begun ${moment(begun)}.`),
      this.detail,
      this.problems.element,
      element(
        "div",
        { class: "row commands" },
        this.commands.element,
        element("a", { class: "button", href: `/?evaluation=${this.id}` }, isPositions ? "Its answers" : "Its games"),
        this.soFar,
      ),
      element("div", { class: "sections" }, this.progress.element, this.report.element),
    );
  }

  /** Show a state, if it is news. */
  update(state) {
    if (this.state && state.revision < this.state.revision) return;
    this.state = state;
    if (this.status.dataset.status !== state.status) {
      this.status.dataset.status = state.status;
      fill(this.status, statusChip(state.status));
    }
    this.detail.textContent = isOver(state) ? sentence(properSigns(state.detail)) : "";
    this.detail.hidden = !this.detail.textContent;
    this.commands.update(state);
    this.progress.update(state);
    this.soFar.hidden = isOver(state) || !state.progress;
    if (isOver(state) && !this.isReported) {
      this.isReported = true;
      this.report.load();
    }
  }

  /** What came of a command; one that was over may go on. */
  commanded(state) {
    this.problems.clear();
    const wasOver = isOver(this.state);
    if (wasOver && !isOver(state)) this.isReported = false;
    this.update(state);
    if (wasOver) this.followOn();
  }

  followOn() {
    if (isOver(this.state)) return;
    follow(`/api/evaluations/${this.id}/events`, {
      deal: (events) => {
        this.newest = events.at(-1).data;
        this.soon("update", () => this.update(this.newest));
      },
      tell: tellConnection,
      after: this.state.revision,
      lastType: "evaluation.ended",
      rests: true,
      signal: this.leaving,
    });
  }
}

function chips(kind, { variant }) {
  const names = [KINDS[kind].title, variant === "standard" ? null : variantName(variant)];
  return names.filter(Boolean).map((each) => element("span", { class: "chip" }, each));
}

customElements.define("evaluation-view", EvaluationView);
