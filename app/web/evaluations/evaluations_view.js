// All evaluations, the newest first; those that run are followed while one looks.

import { get } from "../core/api.js";
import { tellConnection } from "../core/connection.js";
import { element, fill } from "../core/element.js";
import { State, follow } from "../core/event_stream.js";
import { noteQuery } from "../core/router.js";
import { View } from "../core/view.js";
import { capital } from "../core/wording.js";
import { EvaluationCard } from "./evaluation_card.js";
import { STATUSES, isOver, statusWords } from "./kinds.js";
import { ProblemNotice } from "./problem_notice.js";

const PAGE = 20;
/** A browser has six connections for all its tabs: the others are looked up when one looks again. */
const MOST_STREAMS = 3;

class EvaluationsView extends View {
  show() {
    this.title("Evaluations");
    this.cards = new Map();
    this.followed = new Set();
    this.status = STATUSES.includes(this.place.query.status) ? this.place.query.status : "";
    this.problems = new ProblemNotice();
    this.list = element("ul", { class: "plain-list stack", role: "list" });
    this.empty = element("div", { hidden: true });
    this.more = element("button", { type: "button", hidden: true, onclick: () => this.load() }, "Show more");
    fill(
      this,
      element(
        "div",
        { class: "spread" },
        element("h1", {}, "Evaluations"),
        element("a", { class: "button primary", href: "/evaluations/new" }, "New evaluation"),
      ),
      element("p", { class: "quiet" }, "Batches of matches, or of positions, that measure how strong agents are."),
      this.filter(),
      this.problems.element,
      this.list,
      this.empty,
      element("p", { class: "row" }, this.more),
    );
    document.addEventListener("visibilitychange", () => document.hidden || this.refresh(), { signal: this.leaving });
    this.load();
  }

  filter() {
    const select = element(
      "select",
      {
        id: "status-filter",
        onchange: () => {
          this.status = select.value;
          noteQuery({ status: this.status });
          this.begin();
        },
      },
      element("option", { value: "" }, "All"),
      STATUSES.map((each) =>
        element("option", { value: each, selected: each === this.status }, capital(statusWords(each))),
      ),
    );
    return element("div", { class: "filter-line" }, element("label", { for: "status-filter" }, "Show"), select);
  }

  begin() {
    this.unfollow?.abort();
    this.followed.clear();
    this.cards.clear();
    fill(this.list);
    this.cursor = null;
    this.load();
  }

  async load() {
    this.more.disabled = true;
    const { status } = this;
    try {
      const page = await this.page(this.cursor);
      if (status !== this.status) return; // another filter by now
      this.problems.clear();
      for (const state of page.evaluations) this.take(state);
      this.cursor = page.next_cursor;
      this.more.hidden = this.cursor === null;
      this.tellWhetherEmpty();
      this.followRunning();
    } catch (error) {
      this.problems.say(error);
    } finally {
      this.more.disabled = false;
    }
  }

  page(cursor) {
    const query = { status: this.status, limit: PAGE, cursor };
    return get("/api/evaluations", { query, signal: this.leaving });
  }

  /** Look up what nobody follows; new ones come first. */
  async refresh() {
    const { status } = this;
    try {
      const { evaluations } = await this.page(null);
      if (status !== this.status) return;
      for (const state of evaluations.toReversed()) this.take(state, true);
      this.tellWhetherEmpty();
      this.followRunning();
    } catch (error) {
      this.problems.say(error);
    }
  }

  take(state, isNew = false) {
    const card = this.cards.get(state.id);
    if (card) {
      card.update(state);
      return;
    }
    const made = new EvaluationCard(state);
    this.cards.set(state.id, made);
    if (isNew) this.list.prepend(made.element);
    else this.list.append(made.element);
  }

  followRunning() {
    this.unfollow = this.unfollow && !this.unfollow.signal.aborted ? this.unfollow : new AbortController();
    const running = [...this.cards.values()]
      .map((card) => card.state)
      .filter((state) => !isOver(state) && state.status !== "paused" && !this.followed.has(state.id))
      .sort((a, b) => (a.id < b.id ? 1 : -1)); // ids are by time
    for (const state of running.slice(0, Math.max(0, MOST_STREAMS - this.followed.size))) this.followOne(state);
  }

  async followOne({ id, revision }) {
    const isFirst = this.followed.size === 0;
    this.followed.add(id);
    const signal = AbortSignal.any([this.leaving, this.unfollow.signal]);
    let refused = null;
    await follow(`/api/evaluations/${id}/events`, {
      deal: (events) => this.cards.get(id)?.update(events.at(-1).data),
      tell: (state, problem) => {
        refused = state === State.OVER ? problem : null;
        if (isFirst) tellConnection(state, problem); // one of them speaks for all
      },
      after: revision,
      lastType: "evaluation.ended",
      rests: true,
      signal,
    });
    if (signal.aborted) return;
    if (refused) {
      this.problems.say(refused);
      return; // and it stays among those that are followed: it would only be refused again
    }
    this.followed.delete(id);
    this.followRunning(); // the next one that runs
  }

  tellWhetherEmpty() {
    this.empty.hidden = this.cards.size > 0;
    fill(
      this.empty,
      element(
        "div",
        { class: "panel empty-state" },
        element("h2", {}, this.status ? `No evaluation is ${statusWords(this.status)}` : "Nothing was measured yet"),
        element(
          "p",
          {},
          "An evaluation lets agents play opponents of known strength, or each other, and tells how strong they are ",
          "and how sure that is. ",
          element("a", { href: "/evaluations/new" }, "Start one"),
          ".",
        ),
      ),
    );
  }
}

customElements.define("evaluations-view", EvaluationsView);
