// What the model calls of a match took: tokens and money so far, and every call on request.

import { get } from "../core/api.js";
import { element, fill } from "../core/element.js";
import { count, duration, many, money, sentence } from "../core/wording.js";

/** The first page of calls: by which cursor it is asked for, and how many rows there are before it. */
const FIRST = { cursor: null, rows: 0 };

/** The panel of a match's ledger. */
export class LedgerPanel {
  constructor(matchId, leaving) {
    this.path = `/api/matches/${matchId}/ledger`;
    this.leaving = leaving;
    this.totals = element("dl", { class: "totals" });
    this.rows = element("tbody");
    this.more = element("button", { type: "button", onclick: () => this.#load(this.next) }, "Show more");
    this.message = element("p", { class: "wrong", role: "alert", hidden: true });
    this.calls = element(
      "details",
      { ontoggle: () => this.calls.open && this.#load(FIRST) },
      element("summary", {}, "Every call"),
      element(
        "div",
        { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Model calls" },
        element(
          "table",
          { class: "small" },
          element("caption", { class: "visually-hidden" }, "Model calls"),
          element("thead", {}, element("tr", {}, ["Ply", "Role", "Model", "Outcome", "Tokens", "Time", "Cost"].map((each) => element("th", { scope: "col" }, each)))),
          this.rows,
        ),
      ),
      this.more,
      this.message,
    );
    this.root = element("section", { class: "panel ledger-panel", hidden: true }, element("h2", {}, "Tokens and cost"), this.totals, this.calls);
  }

  /** Show sums over all calls, and what the budget leaves of it. */
  show(ledger, budget) {
    this.root.hidden = ledger.calls === 0;
    // What is new comes last: unless there are pages in between, the last one has grown.
    if (this.calls.open && ledger.calls !== this.counted && !this.next) this.#load(this.last ?? FIRST);
    this.counted = ledger.calls;
    const tokens = ledger.prompt_tokens + ledger.completion_tokens;
    const of = (limit, write) => (limit == null ? "" : ` of ${write(limit)}`);
    const facts = [
      ["Calls", count(ledger.calls) + of(budget?.calls, count)],
      ["Tokens", count(tokens) + of(budget?.tokens, count)],
      ["of these cached", count(ledger.cached_tokens)],
      ["of these reasoning", count(ledger.reasoning_tokens)],
      ["Cost", money(ledger.cost_usd) + of(budget?.usd, money)],
    ];
    if (ledger.unpriced_calls && ledger.cost_usd !== null) facts.push(["without a price", many(ledger.unpriced_calls, "call")]);
    fill(this.totals, facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  }

  /** Load a page of calls, in place of it and of those after it; one answer at a time counts. */
  async #load(page) {
    this.loading?.abort();
    this.loading = new AbortController();
    const signal = AbortSignal.any([this.leaving, this.loading.signal]);
    this.message.hidden = true;
    try {
      const { calls, next_cursor: cursor } = await get(this.path, { query: { cursor: page.cursor }, signal });
      this.rows.replaceChildren(...[...this.rows.children].slice(0, page.rows), ...calls.map(row));
      this.last = page;
      this.next = cursor === null ? null : { cursor, rows: this.rows.childElementCount };
      this.more.hidden = this.next === null;
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.message.hidden = false;
      this.message.textContent = sentence(problem.message);
    }
  }
}

function row(call) {
  const cells = [
    call.ply,
    call.role,
    call.model,
    call.error || call.outcome,
    count(call.prompt_tokens + call.completion_tokens),
    duration(call.latency_ms),
    money(call.cost_usd),
  ];
  return element("tr", {}, cells.map((each) => element("td", {}, String(each ?? ""))));
}
