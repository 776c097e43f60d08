// A match: watched as it is played, leafed through, and played by whoever holds a seat.

import { board } from "../board/board.js";
import { get } from "../core/api.js";
import { tellConnection } from "../core/connection.js";
import { element, fill, say } from "../core/element.js";
import { State, follow } from "../core/event_stream.js";
import { seats } from "../core/kept.js";
import { go } from "../core/router.js";
import { View } from "../core/view.js";
import { ago, capital, isImported, moment, playerName, resultText, sentence, timeControl, variantName } from "../core/wording.js";
import { AdvicePanel } from "./advice_panel.js";
import { EvaluationBar, EvaluationGraph } from "./evaluation_graph.js";
import { LedgerPanel } from "./ledger_panel.js";
import { ManagePanel } from "./manage_panel.js";
import { MatchLog } from "./match_log.js";
import { MoveList } from "./move_list.js";
import { PlayControls } from "./play_controls.js";
import { PlayerBar } from "./player_bar.js";
import { Seating } from "./seating.js";
import { SharePanel, invitation } from "./share_panel.js";
import { announcement, knock } from "./speech.js";

/** In milliseconds: what is older when it arrives belongs to the past, and is not announced. */
const NEWS = 10_000;
const TICK = 100;
/** In milliseconds: how often sums of the ledger are asked for at most. */
const LEDGER_EVERY = 1_500;
const RETRY = 2_000;
/** How many plies that come at once are said aloud: a player's own, and the answer. */
const MOST_SPOKEN = 3;

class MatchView extends View {
  show() {
    this.matchId = this.place.parameters.match_id;
    this.#takeInvitation();
    this.log = new MatchLog();
    this.ply = 0;
    this.isAtEnd = true;
    this.isFilled = false;
    this.title("Match");
    this.#build();
    const ownSeats = seats.of(this.matchId);
    follow(`/api/matches/${encodeURIComponent(this.matchId)}/events`, {
      after: 0,
      lastType: "match.ended",
      rests: !Object.keys(ownSeats).length, // who plays wants to hear that it is their turn
      signal: this.leaving,
      deal: (events) => this.#deal(events),
      time: (shown) => this.log.tellTime(shown),
      tell: (state, problem) => this.#tell(state, problem),
    });
    const timer = setInterval(() => this.#tick(), TICK);
    this.leaving.addEventListener("abort", () => clearInterval(timer));
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.leaving });
    addEventListener("hashchange", () => this.#takeInvitation() && go(location.pathname, { replace: true }), { signal: this.leaving });
    document.addEventListener("visibilitychange", () => document.hidden || this.#render(), { signal: this.leaving });
  }

  /**
   * An invitation in the address is a secret: it is kept, and the address loses it. A token that we have
   * stays: a link that somebody made up must not take a seat away. Return whether we have another seat now.
   */
  #takeInvitation() {
    const invited = invitation(location.hash);
    if (!invited) return false;
    const isNew = !(invited.color in seats.of(this.matchId));
    if (isNew) seats.add(this.matchId, { [invited.color]: invited.token });
    history.replaceState(null, "", location.pathname + location.search);
    return isNew;
  }

  /** Give a seat up, for somebody else who has its token. */
  #leaveSeat(color) {
    seats.forget(this.matchId, color);
    this.#orient();
    this.#render();
  }

  /** A token does not open its seat: whoever holds it can only watch, and another link will do. */
  loseSeat(color, problem) {
    seats.forget(this.matchId, color);
    this.problem.hidden = false;
    say(this.problem, sentence(problem.message));
    this.#render();
  }

  #build() {
    const go = (ply) => this.#go(ply);
    this.board = board();
    this.bars = { white: new PlayerBar("white"), black: new PlayerBar("black") };
    this.evaluationBar = new EvaluationBar();
    this.graph = new EvaluationGraph(go);
    this.moves = new MoveList(go);
    this.advice = new AdvicePanel((arrows) => this.board.point(arrows));
    this.ledger = new LedgerPanel(this.matchId, this.leaving);
    this.share = new SharePanel(this.matchId, this.leaving, () => this.log.positionAfter(this.ply).fen, (color) => this.#leaveSeat(color));
    this.manage = new ManagePanel(this.matchId, this.leaving);
    this.seating = new Seating(this);
    this.controls = new PlayControls(this.matchId, this.leaving, {
      play: (move) => this.seating.playTyped(move),
      lose: (color, problem) => this.loseSeat(color, problem),
      helped: () => this.renew(),
    });
    this.heading = element("h1", {}, "Match");
    this.status = element("p", { class: "match-status", tabindex: "-1" });
    this.facts = element("p", { class: "quiet small match-facts" });
    this.speaker = element("div", { class: "visually-hidden", "aria-live": "polite", role: "log" });
    this.problem = element("p", { class: "notice bad", role: "alert", hidden: true });
    this.top = element("div");
    this.bottom = element("div");
    this.navigation = this.#navigation();
    this.latest = this.navigation.querySelector("[aria-keyshortcuts=End]");
    this.boardColumn = element(
      "div",
      { class: "board-column" },
      this.top,
      element("div", { class: "board-row" }, this.evaluationBar.root, this.board),
      this.bottom,
      this.navigation,
      this.controls.notices,
      this.graph.root,
    );
    this.body = element(
      "div",
      { class: "match-layout", hidden: true },
      element("header", { class: "match-header" }, this.heading, this.status, this.facts),
      this.boardColumn,
      element(
        "div",
        { class: "side-column" },
        this.controls.root,
        element("section", { class: "panel moves-panel" }, element("h2", {}, "Moves"), this.moves.root),
        this.advice.root,
        this.ledger.root,
        this.share.root,
        this.manage.root,
      ),
    );
    this.loading = element("h1", { class: "quiet" }, "Loading the match …");
    fill(this, this.problem, this.loading, this.body, this.speaker);
    this.#seatBars();
  }

  #navigation() {
    const button = (sign, label, action, keys) =>
      element("button", { type: "button", class: "icon", "aria-label": label, "aria-keyshortcuts": keys, title: `${label} (${keys})`, onclick: action }, sign);
    return element(
      "div",
      { class: "row board-navigation", role: "group", "aria-label": "Leaf through the moves" },
      button("«", "First position", () => this.#go(0), "Home"),
      button("‹", "Back", () => this.#go(this.ply - 1), "ArrowLeft"),
      button("›", "Forward", () => this.#go(this.ply + 1), "ArrowRight"),
      button("»", "Latest position", () => this.#go(Infinity), "End"),
      button("⇅", "Flip the board", () => this.#flip(), "f"),
    );
  }

  // --- events ---

  #deal(events) {
    const before = this.log.plies.length;
    for (const event of events) this.log.apply(event);
    this.controls.moveOn(this.log.fen); // not with the frame: more may be said of the new position before
    this.#announce(events);
    if (this.log.lacksOpening && !this.isFilling) this.#fillOpening();
    if (!this.isFilled && this.log.settings) this.#orient();
    if (events.some((each) => each.type !== "advice.delta")) this.seating.learn();
    if (this.#hasModels() && events.some((each) => /^(advice\.given|ply\.played|match\.ended)$/.test(each.type))) this.#askLedger();
    if (this.isAtEnd || this.ply >= this.log.plies.length) {
      this.ply = this.log.plies.length;
      this.isAtEnd = true; // also when plies were taken back that one had stayed before
    }
    this.hasJumped = Math.abs(this.log.plies.length - before) > 2;
    this.renew();
  }

  #announce(events) {
    const plies = events.filter((each) => each.type === "ply.played");
    const isNews = (each) => Date.now() - this.log.skew - Date.parse(each.data.at) < NEWS;
    const spoken = new Set(plies.slice(-MOST_SPOKEN)); // of more, one would hear nothing else
    for (const each of events) {
      if (!isNews(each)) continue;
      const text = spoken.has(each) ? announcement(each.data) : spokenEvents[each.type]?.(each.data);
      if (text) this.#say(text);
    }
    const last = plies.at(-1);
    if (last && isNews(last)) knock(last.data.san);
  }

  #say(text) {
    this.speaker.append(element("p", {}, text));
    while (this.speaker.childElementCount > 5) this.speaker.firstElementChild.remove();
  }

  #tell(state, problem) {
    tellConnection(state, problem);
    // If only we are cut off, the service is there, and its clocks run.
    this.lostAt = state === State.LOST && navigator.onLine ? (this.lostAt ?? Date.now()) : null;
    this.body.classList.toggle("lost", state === State.LOST);
    if (state === State.OVER && problem) {
      say(this.loading, "This match cannot be shown");
      if (this.body.hidden) this.loading.after(this.problem, element("p", {}, element("a", { href: "/" }, "To the matches")));
      this.problem.hidden = false;
      say(this.problem, sentence(problem.message));
    }
    if (state === State.LIVE) this.seating.learn(); // in case that it failed while we were cut off
  }

  async #fillOpening() {
    this.isFilling = true;
    try {
      const query = { limit: Math.max(1, this.log.openingPlies) };
      const { start_fen: start, plies } = await get(`/api/matches/${this.matchId}/plies`, { query, signal: this.leaving });
      this.log.fillOpening(start, plies);
      this.renew();
    } catch (problem) {
      if (problem.name === "AbortError") return;
      setTimeout(() => this.leaving.aborted || this.#fillOpening(), RETRY);
    }
  }

  #hasModels() {
    return ["white", "black"].some((color) => /^(team|solo):/.test(this.log.settings?.[color].name ?? ""));
  }

  /** Ask for the sums of the ledger, but not too often; the last change is never missed. */
  #askLedger() {
    if (this.ledgerTimer) return;
    const wait = Math.max(0, LEDGER_EVERY - (Date.now() - (this.ledgerAt ?? 0)));
    this.ledgerTimer = setTimeout(async () => {
      this.ledgerTimer = null;
      this.ledgerAt = Date.now();
      try {
        const match = await get(`/api/matches/${this.matchId}`, { signal: this.leaving });
        this.ledger.show(match.ledger, match.budget);
      } catch (problem) {
        if (problem.name !== "AbortError") this.ledgerAt = 0; // the stream tells that the service is away
      }
    }, wait);
  }

  // --- where one is ---

  #go(ply) {
    const last = this.log.plies.length;
    this.ply = Math.max(0, Math.min(last, ply));
    this.isAtEnd = this.ply === last;
    this.#render();
  }

  /** Go to the newest position. */
  goToEnd() {
    this.#go(Infinity);
  }

  #flip() {
    this.board.orientation = this.board.orientation === "white" ? "black" : "white";
    this.#seatBars();
    this.#render();
  }

  /** A player sits below. */
  #orient() {
    this.isFilled = true;
    const own = Object.keys(seats.of(this.matchId));
    if (own.length === 1) this.board.orientation = own[0];
    this.#seatBars();
  }

  #seatBars() {
    const near = this.board.orientation;
    fill(this.top, this.bars[near === "white" ? "black" : "white"].root);
    fill(this.bottom, this.bars[near].root);
  }

  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select, [role=dialog], dialog, .moves-frame:focus, .scroll-x")) {
      if (event.key !== "Home" && event.key !== "End") return;
      if (event.target.closest("input, textarea, select")) return;
    }
    const actions = {
      ArrowLeft: () => this.#go(this.ply - 1),
      ArrowRight: () => this.#go(this.ply + 1),
      Home: () => this.#go(0),
      End: () => this.#go(Infinity),
      f: () => this.#flip(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // --- drawing ---

  #tick() {
    if (!this.log.settings || document.hidden) return;
    for (const bar of Object.values(this.bars)) bar.tick(this.log, this.now);
  }

  /** The time that clocks go by: it stands while the service is away, where no clock runs either. */
  get now() {
    return this.lostAt ?? Date.now();
  }

  /** Show what is new, with the next frame. */
  renew() {
    this.soon("render", () => this.#render());
  }

  #render() {
    const { log, ply } = this;
    if (!log.settings || !log.fen) return;
    const hadFocus = this.contains(document.activeElement);
    this.loading.hidden = true;
    this.body.hidden = false;
    this.boardColumn.dataset.variant = log.variant;
    const own = seats.of(this.matchId);
    const position = log.positionAfter(ply);
    this.board.show(position, { isStill: this.hasJumped });
    this.hasJumped = false;
    for (const color of ["white", "black"]) this.bars[color].show(log, ply, position.fen, color in own, this.now);
    this.evaluationBar.show(log, ply, this.board.orientation);
    this.graph.show(log, ply);
    this.moves.show(log, ply);
    this.advice.show(log, ply, this.isAtEnd);
    this.controls.show(log, own);
    this.latest.classList.toggle("primary", !this.isAtEnd && !log.isOver); // there is more than is shown
    this.body.classList.toggle("unaided", this.controls.isUnaided);
    this.share.invite(own, log.isOver);
    this.manage.show(log);
    this.seating.renew();
    this.#renderHeader(own);
    if (hadFocus) this.#keepFocus();
  }

  /** Whoever was at a control that is gone, such as the board when the game is over, hears why. */
  #keepFocus() {
    const { activeElement } = document;
    if (!this.contains(activeElement) || !activeElement.checkVisibility()) this.status.focus({ preventScroll: true });
  }

  #renderHeader(own) {
    const { log } = this;
    const names = `${playerName(log.settings.white)} – ${playerName(log.settings.black)}`;
    if (this.heading.textContent !== names) {
      fill(this.heading, isolated(log.settings.white), " – ", isolated(log.settings.black));
    }
    const isOurTurn = !log.isOver && log.status === "running" && log.toMove in own;
    this.title(isOurTurn ? `● Your move · ${names}` : log.outcome ? `${resultText(log.outcome.result)} · ${names}` : names);
    say(this.status, this.#statusText(isOurTurn));
    this.status.dataset.status = log.status;
    const facts = [
      variantName(log.variant),
      log.settings.time_control ? timeControl(log.settings.time_control) : "no clock",
      log.settings.opening && `opening: ${log.settings.opening}`,
      log.isOver && log.endedAt && `ended ${ago(log.endedAt)}`,
      log.settings.tags.length && log.settings.tags.map((tag) => `#${tag}`).join(" "),
    ];
    if (this.facts.dataset.text !== facts.join()) {
      this.facts.dataset.text = facts.join();
      const canMeetAgain = log.isOver && !isImported(log.settings);
      fill(this.facts, facts.filter(Boolean).join(" · "), canMeetAgain && [" · ", this.#rematch()]);
      this.facts.title = log.endedAt ? moment(log.endedAt) : "";
    }
  }

  #statusText(isOurTurn) {
    const { log } = this;
    if (log.status === "aborted") return `Aborted${log.detail ? `: ${sentence(log.detail)}` : "."}`;
    if (log.isOver) return `${resultText(log.outcome?.result ?? "*")} ${sentence(log.detail)}`.trim();
    if (log.status === "paused") return `Paused${log.pause?.reason ? `: ${sentence(log.pause.reason)}` : "."}`;
    if (log.status === "created") return "Waiting to be begun.";
    if (isOurTurn) return `Your move: ${log.toMove} to play.`;
    return `${capital(log.toMove)} to move.`;
  }

  #rematch() {
    const { white, black, variant, time_control: time } = this.log.settings;
    const query = new URLSearchParams({ white: black.name, black: white.name, variant, ...(time ? { time_control: time } : {}) });
    return element("a", { href: `/new?${query}` }, "Rematch with colours swapped");
  }
}

/** Return somebody's name, which may be written from right to left, so that what follows is not. */
function isolated(seat) {
  return element("bdi", {}, playerName(seat));
}

/** What is said aloud besides moves. */
const spokenEvents = {
  "match.started": () => "The match has begun.",
  "match.paused": (data) => `The match is paused. ${sentence(data.reason)}`,
  "match.resumed": () => "The match goes on.",
  "match.ended": (data) => sentence(data.detail || "the match is over"),
  "draw.offered": (data) => `${capital(data.color)} offers a draw.`,
  "draw.declined": (data) => `${capital(data.color)} declines the draw.`,
  "takeback.asked": (data) => `${capital(data.color)} asks to take back.`,
  "takeback.declined": (data) => `${capital(data.color)} does not let it be taken back.`,
  "takeback.taken": (data) => `${capital(data.color)} has taken back.`,
  "attempt.rejected": (data) => `${capital(data.color)}'s attempt ${data.move} was refused.`,
};

customElements.define("match-view", MatchView);
