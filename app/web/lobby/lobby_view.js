// The lobby: the matches that are being played, as boards that move, and those that are over.

import { get } from "../core/api.js";
import { tellConnection } from "../core/connection.js";
import { element, fill, say } from "../core/element.js";
import { State, follow } from "../core/event_stream.js";
import { noteQuery } from "../core/router.js";
import { View } from "../core/view.js";
import { many, sentence } from "../core/wording.js";
import { CardGrid } from "./card_grid.js";
import { FinishedMatches } from "./finished_matches.js";
import { LiveCard } from "./live_card.js";
import { LiveMatches, isOver } from "./live_matches.js";
import { MatchFilter } from "./match_filter.js";

/** In milliseconds: how long the result of a match stays on its board. */
const FAREWELL = 6_000;
/** And how much longer, at most, while a hand is on the boards. */
const PATIENCE = 30_000;
const TICK = 250;
/** How often it is asked for what no event tells of, and how long ago things were is said again. */
const LOOK = 20_000;

class LobbyView extends View {
  show() {
    this.title("Matches");
    this.cards = new Map(); // by match, also those that a filter hides
    this.farewells = new Map(); // by match: when its card may go
    this.changed = new Set();
    this.hasSnapshot = false;
    this.build();
    this.live = new LiveMatches({
      tell: (match) => this.take(match),
      forget: () => this.forget(),
      fail: (problem) => this.fail(problem),
      succeed: () => (this.problem.hidden = true),
      signal: this.leaving,
    });
    this.finished.filter(this.filter.query);
    this.offerPlayers();
    this.watch();
    this.keepTime(TICK, () => this.tick());
    this.keepTime(LOOK, () => this.look());
  }

  build() {
    this.filter = new MatchFilter(this.place.query, () => this.filtered());
    this.finished = new FinishedMatches(this.leaving);
    this.grid = new CardGrid({ class: "live-grid" }, this.leaving);
    this.count = element("span", { class: "quiet small" });
    this.empty = element("div", { class: "panel lobby-empty" }, "Looking for matches …");
    this.problem = element("div", { class: "notice bad", role: "alert", hidden: true });
    this.told = element("p", { class: "visually-hidden", role: "status" });
    this.liveSection = element(
      "section",
      { "aria-labelledby": "live-title" },
      element("div", { class: "spread" }, element("h2", { id: "live-title" }, "Being played"), this.count),
      this.empty,
      this.grid.root,
    );
    fill(
      this,
      element("h1", {}, "Matches"),
      this.problem,
      this.filter.root,
      this.told,
      this.liveSection,
      this.finished.root,
    );
  }

  /** Follow the stream; if it cannot be resumed where it was left, begin again with a snapshot. */
  async watch() {
    let problem = null;
    const tell = (state, said = null) => {
      problem = said;
      tellConnection(state, said);
      this.isLive = state === State.LIVE;
      if (!this.isLive) return;
      this.problem.hidden = true;
      if (this.hasSnapshot) this.look(); // it was away for a while
    };
    do {
      problem = null;
      await follow("/api/events", {
        deal: (events) => this.live.take(events),
        time: (shown) => this.live.noteTime(shown),
        tell,
        rests: true,
        signal: this.leaving,
      });
    } while (problem?.kind === "invalid-event-id" && !this.leaving.aborted);
    if (problem && !this.leaving.aborted) this.fail(problem);
  }

  /** Do something again and again, while the view is shown and the page is seen. */
  keepTime(milliseconds, action) {
    const timer = setInterval(() => document.hidden || action(), milliseconds);
    this.leaving.addEventListener("abort", () => clearInterval(timer));
  }

  async offerPlayers() {
    try {
      this.filter.offer((await get("/api/players", { signal: this.leaving })).players);
    } catch (problem) {
      this.fail(problem);
    }
  }

  async look() {
    this.finished.tick();
    if (this.isLive) await this.live.look();
  }

  tick() {
    for (const card of this.grid.near()) card.tick(this.live.skew);
    const latest = this.latestFarewell();
    if ([...this.farewells.values()].some((until) => until <= latest)) this.soon("draw", () => this.draw());
  }

  /** Cards that were to go until then may go now: nothing should move under somebody's hand. */
  latestFarewell() {
    return Date.now() - (this.grid.isTouched ? PATIENCE : 0);
  }

  // --- what happens ---

  forget() {
    this.hasSnapshot = true;
    this.cards.clear();
    this.farewells.clear();
    this.soon("draw", () => this.draw());
    this.live.ask(this.filter.query);
  }

  take(match) {
    if (isOver(match) && !this.cards.has(match.id)) {
      if (this.finished.takes(match) && this.filter.lets(match)) this.finished.add(match);
      return;
    }
    if (isOver(match)) this.farewells.set(match.id, Date.now() + FAREWELL);
    else if (!this.cards.has(match.id)) this.cards.set(match.id, new LiveCard(match));
    this.changed.add(match);
    this.soon("draw", () => this.draw());
  }

  async filtered() {
    noteQuery(this.filter.query);
    this.draw();
    await Promise.all([this.finished.filter(this.filter.query), this.live.ask(this.filter.query)]);
    this.draw();
    if (this.leaving.aborted) return;
    const finished = this.finished.root.hidden ? "" : `, ${many(this.finished.grid.size, "finished one")} shown`;
    say(this.told, `${many(this.grid.size, "live match", "live matches")}${finished}`);
  }

  fail(problem) {
    if (problem.name === "AbortError") return;
    this.problem.hidden = false;
    say(this.problem, sentence(problem.message));
  }

  // --- drawing, at most once a frame ---

  draw() {
    for (const match of this.changed) this.cards.get(match.id)?.show(match);
    this.changed.clear();
    this.sayFarewell();
    const cards = [...this.cards.values()].filter((card) => this.isShown(card.match));
    this.grid.arrange(cards.sort((one, other) => (one.id < other.id ? 1 : -1))); // ids rise with time
    this.tellLive();
  }

  /** A match that is over stays for a moment; only then is it a finished one. */
  isShown(match) {
    const { status } = this.filter.query;
    if (!isOver(match)) return this.filter.lets(match);
    const wasLive = status === undefined || status === "running";
    return wasLive && this.filter.lets({ ...match, status: status ?? match.status });
  }

  /** Let those go whose moment is over. */
  sayFarewell() {
    const latest = this.latestFarewell();
    for (const [id, until] of this.farewells) {
      if (until > latest) continue;
      const { match } = this.cards.get(id);
      this.farewells.delete(id);
      this.cards.delete(id);
      if (this.finished.takes(match) && this.filter.lets(match)) this.finished.add(match);
    }
  }

  tellLive() {
    this.liveSection.hidden = ["ended", "aborted"].includes(this.filter.query.status);
    const live = [...this.cards.values()].filter(({ match }) => !isOver(match) && this.filter.lets(match)).length;
    say(this.count, live ? many(live, "match", "matches") : "");
    this.empty.hidden = this.grid.size > 0;
    if (!this.hasSnapshot || this.empty.hidden) return;
    const kind = this.filter.isSet ? "filtered" : "none";
    if (this.empty.dataset.kind === kind) return;
    this.empty.dataset.kind = kind;
    fill(this.empty, kind === "none" ? this.invitation() : this.noneFits());
  }

  invitation() {
    return element(
      "p", {}, "No match is being played. ", element("a", { href: "/new" }, "Start one"), ".",
    );
  }

  noneFits() {
    return [
      element("p", {}, "No live match fits the filter."),
      element("button", { type: "button", onclick: () => this.filter.clear() }, "Show all matches"),
    ];
  }
}

customElements.define("lobby-view", LobbyView);
