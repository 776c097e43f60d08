// Everybody who was ever measured, with intervals: a rating without one says little.

import { get } from "../core/api.js";
import { element, fill } from "../core/element.js";
import { go, noteQuery } from "../core/router.js";
import { View } from "../core/view.js";
import { count, duration, many, moment, money, sentence } from "../core/wording.js";
import { NARROW, Scale, axis, track } from "./interval_plot.js";
import { keysOf, nameOf, sortedRows, VALUES } from "./leaderboard_rows.js";
import { elo, number, properSigns, ratingText } from "./numerals.js";
import { ProblemNotice } from "./problem_notice.js";
import { resultsBar } from "./results_bar.js";
import { table } from "./table.js";
import { variantChoice, variantOf } from "./variant_choice.js";

/** Where less is better, the least comes first. */
const ASCENDING = ["label", "cost", "tokens", "latency", "think"];
const TITLES = {
  rating: "Rating",
  label: "Agent",
  games: "Games",
  share: "Won–drawn–lost",
  accuracy: "Accuracy",
  cost: "Cost / move",
  tokens: "Tokens / move",
  latency: "Latency / move",
  think: "Thinking / move",
};

class LeaderboardView extends View {
  show() {
    this.title("Leaderboard");
    const { sort, order } = this.place.query;
    this.variant = variantOf(this.place.query);
    this.sorted = { key: VALUES[sort] ? sort : "rating", isDescending: true };
    this.sorted.isDescending = order ? order !== "ascending" : !ASCENDING.includes(this.sorted.key);
    this.chosen = new Set();
    this.problems = new ProblemNotice();
    this.content = element("div", { class: "stack" });
    const choose = (variant) => {
      this.variant = variant;
      this.chosen.clear();
      this.note();
      this.load();
    };
    fill(
      this,
      element("h1", {}, "Leaderboard"),
      element("p", { class: "quiet" }, "All agents that were ever measured, rated by all scored games at once."),
      variantChoice(this.variant, choose),
      this.problems.element,
      this.content,
    );
    this.load();
  }

  async load() {
    const { variant } = this;
    fill(this.content, element("p", { class: "quiet" }, "Rating everybody …"));
    try {
      const found = await get("/api/ratings", { query: { variant }, signal: this.leaving });
      if (variant !== this.variant) return;
      this.problems.clear();
      this.found = found;
      this.ranks = new Map(found.rows.filter((row) => row.rating).map((row, place) => [row, place + 1]));
      this.keys = keysOf(found.rows);
      this.draw();
    } catch (error) {
      fill(this.content);
      this.problems.say(error);
    }
  }

  draw() {
    const { rows, notes } = this.found;
    if (!rows.length) {
      fill(this.content, emptyState());
      return;
    }
    this.compare = element("button", { type: "button", class: "primary", onclick: () => this.goCompare() }, "Compare");
    this.hint = element("span", { class: "quiet small", "aria-live": "polite" });
    fill(
      this.content,
      element("div", { class: "row compare-line" }, this.compare, this.hint, this.sortChoice()),
      this.board(),
      legend(this.found),
      notes.length > 0 &&
        element(
          "aside",
          { class: "panel keep-in-mind", "aria-labelledby": "notes-title" },
          element("h2", { id: "notes-title" }, "What to keep in mind"),
          element("ul", { class: "notes" }, notes.map((note) => element("li", {}, sentence(properSigns(note))))),
        ),
    );
    this.tellChosen();
  }

  board() {
    const { rows, anchors } = this.found;
    const ratings = rows.map((row) => row.rating).filter(Boolean);
    const scale = ratings.length ? new Scale(ratings, anchors) : null;
    const sortable = (key, more) => ({ title: TITLES[key], key, isNumber: true, ...more });
    const columns = [
      { title: element("span", { class: "visually-hidden" }, "Choose") , class: "choose" },
      { title: "#", isNumber: true, class: "rank" },
      sortable("label", { isNumber: false, isHead: true, class: "agent" }),
      sortable("rating"),
      { title: "95 % interval", class: "drawn", below: scale && axis(scale, NARROW) },
      sortable("share", { isNumber: false }),
      ...["games", "accuracy", "cost", "tokens", "latency", "think"].map((key) => sortable(key)),
    ];
    const cells = sortedRows(rows, this.sorted.key, this.sorted.isDescending).map((row) => this.cells(row, scale));
    const made = table("Agents with their ratings, results, quality and costs", columns, cells, {
      isCaptionHidden: true,
      asCards: true,
      sorted: this.sorted,
      onsort: (key) => this.sortBy(key),
    });
    return element("div", { class: "panel leaderboard" }, made);
  }

  cells(row, scale) {
    const name = nameOf(row, this.found.rows);
    const { per_move: move } = row;
    return [
      element("input", {
        type: "checkbox",
        "aria-label": `Compare ${name}`,
        checked: this.chosen.has(this.keys.get(row)),
        onchange: (event) => this.choose(this.keys.get(row), event.target.checked),
      }),
      this.ranks.has(row) ? String(this.ranks.get(row)) : null,
      element("span", { class: "agent-cell" }, element("span", { class: "agent-name" }, name), evaluationLinks(row)),
      row.rating ? ratingText(row.rating) : element("span", { class: "quiet" }, "not rated"),
      row.rating
        ? [track(scale, row.rating, { label: name }), axis(scale, NARROW)]
        : element("span", { class: "quiet small" }, unratedWords(row)),
      row.games ? resultsBar(row) : null,
      count(row.games),
      row.accuracy === null ? null : number(row.accuracy, 1),
      move.calls === null ? null : money(move.cost_usd),
      number(move.tokens),
      move.calls ? duration(move.latency_ms) : null,
      move.think_ms === null ? null : duration(move.think_ms),
    ];
  }

  sortChoice() {
    const select = element(
      "select",
      { id: "sort-choice", onchange: () => this.sortBy(select.value) },
      Object.entries(TITLES).map(([key, title]) =>
        element("option", { value: key, selected: key === this.sorted.key }, title),
      ),
    );
    const label = element("label", { for: "sort-choice" }, "Sort by");
    return element("span", { class: "sort-choice filter-line" }, label, select);
  }

  sortBy(key) {
    const isSame = key === this.sorted.key;
    this.sorted = { key, isDescending: isSame ? !this.sorted.isDescending : !ASCENDING.includes(key) };
    this.note();
    const hadFocus = this.contains(document.activeElement) ? document.activeElement.id || "button" : null;
    this.draw();
    if (hadFocus === "sort-choice") this.querySelector("#sort-choice").focus();
    else if (hadFocus) this.querySelector(`button[data-key="${key}"]`).focus();
  }

  note() {
    const { key, isDescending } = this.sorted;
    const isUsual = key === "rating" && isDescending;
    noteQuery({
      variant: this.variant === "standard" ? null : this.variant,
      sort: isUsual ? null : key,
      order: isUsual ? null : isDescending ? "descending" : "ascending",
    });
  }

  choose(key, isChosen) {
    if (isChosen) this.chosen.add(key);
    else this.chosen.delete(key);
    this.tellChosen();
  }

  tellChosen() {
    this.compare.disabled = this.chosen.size !== 2;
    const left = 2 - this.chosen.size;
    const hints = { 2: "Tick 2 agents to compare.", 1: "Tick 1 agent more to compare.", 0: "" };
    this.hint.textContent = hints[left] ?? "Two can be compared at a time.";
  }

  goCompare() {
    const [a, b] = this.chosen;
    const variant = this.variant === "standard" ? {} : { variant: this.variant };
    go(`/compare?${new URLSearchParams({ a, b, ...variant })}`);
  }
}

/** The evaluations that an agent was measured in, the newest first. */
function evaluationLinks({ evaluations }) {
  const newest = evaluations.toSorted().toReversed();
  const link = (id, text) => element("a", { href: `/evaluations/${id}` }, text);
  if (newest.length === 1) return element("span", { class: "small" }, link(newest[0], "its evaluation"));
  return element(
    "details",
    { class: "small evaluation-links" },
    element("summary", {}, many(newest.length, "evaluation")),
    element("ul", { class: "plain-list", role: "list" }, newest.map((id) => element("li", {}, link(id, begunAt(id))))),
  );
}

/** When an evaluation was begun: ids are made of the time. */
function begunAt(id) {
  return moment(parseInt(id.replace("-", "").slice(0, 12), 16));
}

function unratedWords({ games, positions }) {
  if (!games && positions.answers) {
    return `no games; ${positions.right} of ${positions.answers} positions solved`;
  }
  return "no chain of games leads to an anchor";
}

function legend({ anchors, rows }) {
  const margin = (se) => (se ? `\u00a0±\u00a0${Math.round(1.96 * se)}` : "");
  const told = anchors.map(({ label, elo: rating, se }) => `${label} ${elo(rating)}${margin(se)}`);
  const isOpen = rows.some((row) => row.rating?.bound);
  return element(
    "p",
    { class: "quiet small" },
    "Points are ratings, lines their 95 % intervals",
    isOpen ? ", arrows bounds: all games were won, or all lost" : "",
    told.length ? `. Dashed lines are anchors: ${told.join(", ")}.` : ".",
  );
}

function emptyState() {
  return element(
    "div",
    { class: "panel empty-state" },
    element("h2", {}, "Nobody is rated here yet"),
    element(
      "p",
      {},
      "An agent gets a rating by playing anchors, opponents of known strength, in an evaluation. A ladder does it ",
      "with the fewest games. ",
      element("a", { href: "/evaluations/new?kind=ladder" }, "Start a ladder"),
      ".",
    ),
  );
}

customElements.define("leaderboard-view", LeaderboardView);
