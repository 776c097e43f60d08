// The matches that are over, page by page, and those at their head that have just ended.

import { get } from "../core/api.js";
import { element, fill, say } from "../core/element.js";
import { many, sentence } from "../core/wording.js";
import { CardGrid } from "./card_grid.js";
import { FinishedCard } from "./finished_card.js";

const PAGE = 24;

/** The section of finished matches. */
export class FinishedMatches {
  #cards = [];
  #cursor = null;
  #query = {};
  #isLoading = false;
  #loading = new AbortController();
  #signal;

  constructor(signal) {
    this.#signal = signal;
    this.grid = new CardGrid({ class: "finished-grid" }, signal);
    this.count = element("span", { class: "quiet small" });
    this.empty = element("p", { class: "quiet", hidden: true });
    this.problem = element("div", { class: "notice bad", role: "alert", hidden: true });
    this.moreButton = element("button", { type: "button", hidden: true, onclick: () => this.#more() }, "Show more");
    this.root = element(
      "section",
      { "aria-labelledby": "finished-title" },
      element("div", { class: "spread" }, element("h2", { id: "finished-title" }, "Finished"), this.count),
      this.problem,
      this.empty,
      this.grid.root,
      element("div", { class: "row lobby-more" }, this.moreButton),
    );
  }

  /** Show those that a filter is for, from the newest on; or nothing, if it is for live ones. */
  async filter(query) {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.root.hidden = !["ended", "aborted", undefined].includes(query.status);
    this.#query = { ...query, status: query.status ?? "ended" };
    this.#cards = [];
    this.#cursor = null;
    this.#isLoading = false;
    if (this.root.hidden) this.grid.arrange([]);
    else await this.#load();
  }

  /** Return whether a match belongs here, as far as its status goes. */
  takes(match) {
    return !this.root.hidden && match.status === this.#query.status;
  }

  /** Put a match that has just ended at the head. */
  add(match) {
    if (this.grid.of(match.id)) return;
    this.#cards.unshift(new FinishedCard(match));
    this.#arrange();
  }

  /** Say again how long ago they were. */
  tick() {
    for (const card of this.grid.near()) card.tick();
  }

  async #more() {
    const shown = this.#cards.length;
    await this.#load();
    this.#cards[shown]?.link.focus(); // the button may be gone, and what is new begins here
  }

  async #load() {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.moreButton.disabled = true;
    const signal = AbortSignal.any([this.#signal, this.#loading.signal]);
    try {
      const query = { ...this.#query, limit: PAGE, cursor: this.#cursor };
      const { matches, next_cursor: next } = await get("/api/matches", { query, signal });
      this.#cursor = next;
      const known = new Set(this.#cards.map((card) => card.id));
      this.#cards.push(...matches.filter(({ id }) => !known.has(id)).map((match) => new FinishedCard(match)));
      this.#fail(null);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.#fail(problem);
    }
    this.#isLoading = false;
    this.moreButton.disabled = false;
    this.#arrange();
  }

  #arrange() {
    this.grid.arrange(this.#cards);
    this.moreButton.hidden = this.#cursor === null;
    const shown = many(this.#cards.length, "match", "matches");
    say(this.count, this.#cursor === null ? shown : `the newest ${shown}`);
    this.empty.hidden = this.#cards.length > 0 || !this.problem.hidden;
    const isFiltered = Object.keys(this.#query).length > 1 || this.#query.status === "aborted";
    say(this.empty, isFiltered ? "No finished match fits the filter." : "No match has ended yet.");
  }

  #fail(problem) {
    this.problem.hidden = problem === null;
    fill(this.problem, problem && sentence(problem.message));
  }
}
