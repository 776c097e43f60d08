// Two agents side by side: who is stronger, how sure that is, and what it costs.

import { get } from "../core/api.js";
import { element, fill } from "../core/element.js";
import { noteQuery } from "../core/router.js";
import { View } from "../core/view.js";
import { agentText } from "./agent_fields.js";
import { MEASURES, betterBy, differenceOf, expectedScore, strengthForMoney } from "./comparison.js";
import { intervalPlot } from "./interval_plot.js";
import { KINDS } from "./kinds.js";
import { keysOf, nameOf } from "./leaderboard_rows.js";
import { elo, intervalText, percent } from "./numerals.js";
import { ProblemNotice } from "./problem_notice.js";
import { table } from "./table.js";
import { variantChoice, variantOf } from "./variant_choice.js";

/** More of the evaluations that two share are not looked at. */
const MOST_SHARED = 8;

class CompareView extends View {
  show() {
    this.title("Compare");
    this.variant = variantOf(this.place.query);
    this.wanted = [this.place.query.a, this.place.query.b];
    this.problems = new ProblemNotice();
    this.choices = element("div", { class: "compare-choices" });
    this.content = element("div", { class: "stack", "aria-live": "polite" });
    const choose = (variant) => {
      this.variant = variant;
      this.wanted = [];
      this.load();
    };
    fill(
      this,
      element("h1", {}, "Compare"),
      variantChoice(this.variant, choose),
      this.choices,
      this.problems.element,
      this.content,
    );
    this.load();
  }

  async load() {
    const { variant } = this;
    fill(this.choices);
    fill(this.content, element("p", { class: "quiet" }, "Rating everybody …"));
    try {
      const found = await get("/api/ratings", { query: { variant }, signal: this.leaving });
      if (variant !== this.variant) return;
      this.problems.clear();
      this.found = found;
      this.keys = keysOf(found.rows);
      this.offer();
    } catch (error) {
      fill(this.content);
      this.problems.say(error);
    }
  }

  offer() {
    const { rows } = this.found;
    if (rows.length < 2) {
      fill(this.choices);
      fill(this.content, tooFew());
      return;
    }
    const byKey = new Map([...this.keys].map(([row, key]) => [key, row]));
    this.chosen = this.wanted.map((key) => byKey.get(key) ?? null);
    this.chosen[0] ??= rows.find((row) => row !== this.chosen[1]);
    this.chosen[1] ??= rows.find((row) => row !== this.chosen[0]);
    fill(this.choices, [0, 1].map((side) => this.select(side)));
    this.compare();
  }

  select(side) {
    const { rows } = this.found;
    const select = element(
      "select",
      {
        id: `side-${side}`,
        onchange: () => {
          this.chosen[side] = rows[Number(select.value)];
          this.compare();
        },
      },
      rows.map((row, place) =>
        element("option", { value: place, selected: row === this.chosen[side] }, nameOf(row, rows)),
      ),
    );
    const label = element("label", { for: select.id }, side ? "Second agent" : "First agent");
    return element("div", { class: "field" }, label, select);
  }

  compare() {
    const [first, second] = this.chosen;
    const names = this.chosen.map((row) => nameOf(row, this.found.rows));
    const [a, b] = this.chosen.map((row) => this.keys.get(row));
    noteQuery({ a, b, variant: this.variant === "standard" ? null : this.variant });
    if (first === second) {
      fill(this.content, element("p", { class: "notice" }, "Choose two agents that are not the same."));
      return;
    }
    this.shared = element("div");
    this.duel = element("a", { class: "button primary", href: duelAddress(names) }, "Let them play a duel");
    const meeting = element("div", { class: "panel stack" }, this.shared, element("div", { class: "row" }, this.duel));
    fill(this.content, this.strength(names), this.measures(names), meeting);
    this.lookUp(this.chosen);
  }

  strength(names) {
    const [first, second] = this.chosen;
    const rows = this.chosen.map((row, side) => ({ label: names[side], rating: row.rating }));
    const plot = intervalPlot(rows, {
      anchors: this.found.anchors,
      caption: "Ratings with their 95 % intervals; dashed lines are anchors.",
    });
    const said =
      first.rating && second.rating
        ? differenceWords(names, differenceOf(first.rating, second.rating))
        : unratedWords(names, this.chosen);
    return element("section", { class: "panel stack" }, element("h2", {}, "Strength"), plot, said);
  }

  measures(names) {
    const columns = [{ title: "Measure", isHead: true }, ...names.map((title) => ({ title, isNumber: true }))];
    const rows = MEASURES.map((measure) => {
      const better = betterBy(measure, this.chosen);
      const note = measure.note && element("span", { class: "quiet small" }, ` ${measure.note}`);
      const head = element("span", {}, measure.title, note);
      return [head, ...this.chosen.map((row, side) => marked(measure.text(row), side === better))];
    });
    const money = strengthForMoney(names, this.chosen);
    return element(
      "section",
      { class: "panel stack side-by-side" },
      element("h2", {}, "Side by side"),
      table("Both agents, measure by measure; ✓ marks the better one of a row", columns, rows),
      money && element("p", {}, money),
    );
  }

  /** Look up the evaluations that both were measured in, and how they are named in plans. */
  async lookUp(chosen) {
    const [first, second] = chosen;
    const shared = first.evaluations.filter((id) => second.evaluations.includes(id)).toSorted().toReversed();
    const ids = [...new Set([...shared.slice(0, MOST_SHARED), first.evaluations.at(-1), second.evaluations.at(-1)])];
    try {
      const all = await Promise.all(ids.map((id) => get(`/api/evaluations/${id}`, { signal: this.leaving })));
      if (chosen[0] !== this.chosen[0] || chosen[1] !== this.chosen[1]) return;
      const isMeeting = ({ kind, status }) => status === "finished" && ["duel", "pool"].includes(kind);
      fill(this.shared, metWords(all.filter((each) => shared.includes(each.id) && isMeeting(each))));
      const agents = all.flatMap(({ plan }) => plan.agents);
      const agentOf = ({ label }) => agents.find((each) => labelOf(each) === label) ?? { name: label };
      this.duel.href = duelAddress(chosen.map((row) => agentText(agentOf(row))), this.variant);
    } catch (error) {
      this.problems.say(error);
    }
  }
}

/** What an agent of a plan is called in tables, as the service has it. */
function labelOf({ title, name, depth, nodes, time_ms: time }) {
  if (title) return title;
  const limits = [depth && `depth ${depth}`, nodes && `${nodes} nodes`, time && `${time} ms`].filter(Boolean);
  return limits.length ? `${name} at ${limits.join(", ")}` : name;
}

function duelAddress(agents, variant) {
  return `/evaluations/new?${new URLSearchParams({ kind: "duel", agents: agents.join(","), variant })}`;
}

function marked(text, isBetter) {
  if (!isBetter) return text;
  const sign = element("span", { "aria-hidden": "true" }, "✓\u00a0");
  return element("strong", { class: "better" }, sign, text, element("span", { class: "visually-hidden" }, " (better)"));
}

function differenceWords(names, difference) {
  const { elo: mean, low, high } = difference;
  const isSure = (low !== null && low > 0) || (high !== null && high < 0);
  const isOpen = low === null || high === null;
  const scores = isOpen ? "" : ` (${percent(expectedScore(low))} to ${percent(expectedScore(high))})`;
  const told = `${elo(mean, { isSigned: true })} Elo, 95 % interval ${intervalText(difference, { isSigned: true })}`;
  const doubt = isSure ? "" : " Who is stronger is not settled by this.";
  return [
    element(
      "p",
      { class: "headline" },
      `${names[0]} against ${names[1]}: ${told}.`,
    ),
    element("p", {}, `Expected score of the first: ${percent(expectedScore(mean))}${scores}.${doubt}`),
    element(
      "p",
      { class: "quiet small" },
      "Half-widths were added as squares, which is right for ratings that are independent. These two come from one ",
      "pool: where both met the same opponents they rise and fall together, and the interval of the difference is ",
      "another. A duel tells it directly.",
    ),
  ];
}

function unratedWords(names, rows) {
  const missing = names.filter((_, side) => !rows[side].rating);
  const are = missing.length > 1 ? "are" : "is";
  const why = "no chain of games leads to an anchor. Nothing can be said of the difference.";
  return element("p", {}, `${missing.join(" and ")} ${are} not rated: ${why}`);
}

function metWords(met) {
  if (!met.length) return element("p", { class: "quiet" }, "They have not met in a finished duel or pool.");
  return [
    element("h2", {}, "They have met"),
    element(
      "ul",
      { class: "notes" },
      met.map(({ id, name, kind }) =>
        element("li", {}, element("a", { href: `/evaluations/${id}` }, name), ` (${KINDS[kind].title.toLowerCase()})`),
      ),
    ),
  ];
}

function tooFew() {
  return element(
    "div",
    { class: "panel empty-state" },
    element("h2", {}, "There are not two agents to compare yet"),
    element(
      "p",
      {},
      "Agents can be compared once they were measured. ",
      element("a", { href: "/evaluations/new" }, "Start an evaluation"),
      ".",
    ),
  );
}

customElements.define("compare-view", CompareView);
