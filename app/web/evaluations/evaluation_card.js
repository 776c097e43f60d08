// One evaluation in the list: what it measures, and how far it has come.

import { element, fill, say } from "../core/element.js";
import { ago, capital, duration, many, moment, money } from "../core/wording.js";
import { KINDS, isOver, statusChip } from "./kinds.js";
import { properSigns } from "./numerals.js";

/** A card that can be told how its evaluation stands now. */
export class EvaluationCard {
  constructor(state) {
    this.state = state;
    this.status = element("span");
    this.bar = element("progress", { "aria-label": `Progress of ${state.name}` });
    this.counted = element("span");
    this.line = element("div", { class: "progress-line" }, this.bar, this.counted);
    this.agents = element("p", { class: "agents" });
    this.facts = element("p", { class: "quiet small facts" });
    this.element = element(
      "li",
      { class: "panel evaluation-card" },
      element(
        "div",
        { class: "spread" },
        element("h2", {}, element("a", { href: `/evaluations/${state.id}` }, state.name)),
        element("span", { class: "row" }, element("span", { class: "chip" }, KINDS[state.kind].title), this.status),
      ),
      this.agents,
      this.line,
      this.facts,
    );
    this.update(state);
  }

  /** Show a state, if it is not older than the one that is shown. */
  update(state) {
    if (state.revision < this.state.revision) return;
    this.state = state;
    const { progress } = state;
    fill(this.status, statusChip(state.status));
    fill(this.agents, (progress?.agents ?? []).map((each) => element("span", { class: "agent-name" }, each.agent)));
    this.agents.hidden = !progress;
    showProgress(this.bar, this.counted, state);
    this.bar.hidden = isOver(state);
    const told = progress?.waiting || state.detail;
    const facts = [told ? capital(properSigns(told)) : null, `begun ${ago(state.created_at)}`].filter(Boolean);
    if (progress?.spent.calls) facts.push(`${money(progress.spent.cost_usd)} for ${many(progress.spent.calls, "call")}`);
    if (progress && !isOver(state) && progress.eta_ms) facts.push(`about ${duration(progress.eta_ms)} left`);
    say(this.facts, facts.join(" · "));
    this.facts.title = moment(state.created_at);
  }
}

/** Show how many games are scored of how many, as a bar and in words. */
export function showProgress(bar, words, { progress, kind, status }) {
  const nouns = kind === "positions" ? "answers" : "games";
  if (!progress) {
    bar.max = 1;
    bar.value = 0;
    say(words, status === "created" ? "waits for its turn" : `no ${nouns} yet`);
    return;
  }
  const { scored, expected } = progress.games;
  const isAnalysing = progress.phase === "analysing";
  bar.max = Math.max(1, isAnalysing ? scored : expected);
  bar.value = isAnalysing ? progress.analysed : scored;
  say(
    words,
    isAnalysing ? `${progress.analysed} of ${many(scored, "game")} analysed` : `${scored} of ${expected} ${nouns} scored`,
  );
}
