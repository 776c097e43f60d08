// How far an evaluation has come, as it changes: games, agents, test, money, time.

import { element, fill, say } from "../core/element.js";
import { capital, count, duration, money, sentence } from "../core/wording.js";
import { showProgress } from "./evaluation_card.js";
import { intervalPlot } from "./interval_plot.js";
import { isOver } from "./kinds.js";
import { percent, properSigns } from "./numerals.js";
import { resultsBar } from "./results_bar.js";
import { sprtBar } from "./sprt_bar.js";
import { table } from "./table.js";

/** A panel that can be told how the evaluation stands now. */
export class ProgressPanel {
  constructor(plan) {
    this.plan = plan;
    this.bar = element("progress", { "aria-label": "Progress" });
    this.counted = element("span", { "aria-live": "polite" });
    this.waiting = element("p", { class: "notice", role: "status", hidden: true });
    this.facts = element("dl", { class: "facts-grid" });
    this.sprt = element("div");
    this.agents = element("div");
    this.element = element(
      "section",
      { class: "panel stack", "aria-labelledby": "progress-title" },
      element("h2", { id: "progress-title" }, "Progress"),
      element("div", { class: "progress-line" }, this.bar, this.counted),
      this.waiting,
      this.facts,
      this.sprt,
      this.agents,
    );
  }

  /** Show a state. */
  update(state) {
    const { progress } = state;
    showProgress(this.bar, this.counted, state);
    const waits = progress?.waiting || (isOver(state) ? "" : state.detail);
    say(this.waiting, sentence(properSigns(waits)));
    this.waiting.hidden = !waits;
    if (!progress) return;
    this.showFacts(state);
    if (isOver(state)) {
      fill(this.sprt); // the report has it, and more
      fill(this.agents);
    } else {
      fill(this.sprt, progress.sprt && sprtBar(progress.sprt, this.plan.sprt?.bounds));
      fill(this.agents, ratingsOf(state, this.plan), agentsTable(state));
    }
  }

  showFacts({ progress, status, kind }) {
    const { games } = progress;
    const isPositions = kind === "positions";
    const facts = [
      ["Phase", capital(progress.phase)],
      ["Under way", count(games.playing)],
      ["Void", count(games.void)],
      isPositions ? null : ["Analysed", count(progress.analysed)],
      ["Spent", spentText(progress.spent)],
      ["Budget", budgetText(progress.budget)],
      status === "running" ? ["Time left", (progress.eta_ms != null && duration(Math.max(1000, progress.eta_ms))) || "nobody can tell"] : null,
    ];
    const made = facts.filter(Boolean);
    if (this.facts.children.length !== made.length) {
      fill(this.facts, made.map(([name]) => element("div", {}, element("dt", {}, name), element("dd"))));
    }
    made.forEach(([name, value], place) => {
      say(this.facts.children[place].firstChild, name);
      say(this.facts.children[place].lastChild, value);
    });
  }
}

function ratingsOf({ progress }, plan) {
  const rows = progress.agents.filter((each) => each.rating).map((each) => ({ label: each.agent, rating: each.rating }));
  const anchors = (plan.anchors ?? []).map((each) => ({ label: each.title ?? each.name, elo: each.elo }));
  const caption = "Rating so far with its 95 % interval, draws taken into account; dashed lines are anchors.";
  return intervalPlot(rows, { caption, anchors: anchors.filter((each) => each.elo != null) });
}

function agentsTable({ progress, kind }) {
  if (kind === "positions") {
    const columns = [{ title: "Agent", isHead: true }, { title: "Answers", isNumber: true }];
    return table("Agents so far", columns, progress.agents.map((each) => [each.agent, count(each.games)]));
  }
  const columns = [
    { title: "Agent", isHead: true },
    { title: "Won–drawn–lost" },
    { title: "Games", isNumber: true },
    { title: "Score", isNumber: true },
  ];
  const rows = progress.agents.map((each) => [
    each.agent,
    resultsBar(each),
    count(each.games),
    each.games ? percent((each.wins + each.draws / 2) / each.games, 1) : null,
  ]);
  return table("Agents so far", columns, rows);
}

function spentText({ calls, tokens, cost_usd: cost }) {
  if (!calls) return "$0, no model call";
  return `${money(cost)} · ${count(calls)} calls · ${count(tokens)} tokens`;
}

function budgetText({ usd, tokens, calls }) {
  const parts = [];
  if (usd != null) parts.push(money(usd));
  if (tokens != null) parts.push(`${count(tokens)} tokens`);
  if (calls != null) parts.push(`${count(calls)} calls`);
  return parts.join(" · ") || "no bound";
}
