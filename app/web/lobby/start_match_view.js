// Starting a match: quick starts, and a form for everything that a match can be started with.

import { get, post } from "../core/api.js";
import { Attempt } from "../core/attempt.js";
import { element, fill, say } from "../core/element.js";
import { form as kept, seats } from "../core/kept.js";
import { go } from "../core/router.js";
import { View } from "../core/view.js";
import { many, sentence } from "../core/wording.js";
import { AdvancedFields } from "./advanced_fields.js";
import { FormProblems } from "./form_problems.js";
import { setValues, valuesOf } from "./form_values.js";
import { GameFields } from "./game_fields.js";
import { findOpening, requestOf } from "./match_request.js";
import { PlayerField } from "./player_field.js";
import { quickStarts } from "./quick_starts.js";
import { StartPreview } from "./start_preview.js";

const NAME = "match";

class StartMatchView extends View {
  async show() {
    this.title("New match");
    this.attempt = new Attempt();
    const problem = element("div", { class: "notice bad", role: "alert", hidden: true });
    fill(this, element("h1", {}, "New match"), problem);
    try {
      const signal = this.leaving;
      const [{ players }, { openings }] = await Promise.all([
        get("/api/players", { signal }), get("/api/openings", { signal }),
      ]);
      this.players = players;
      this.openings = openings;
    } catch (error) {
      if (error.name === "AbortError") return;
      problem.hidden = false;
      say(problem, sentence(error.message));
      return;
    }
    this.build();
    this.prefill();
  }

  // --- building ---

  build() {
    this.seatFields = { white: new PlayerField("white", this.players), black: new PlayerField("black", this.players) };
    this.game = new GameFields(this.openings);
    this.advanced = new AdvancedFields(this.players.some(({ kind }) => kind === "stockfish"));
    this.notice = element("div", { class: "notice bad", role: "alert", hidden: true });
    this.quickNotice = element("div", { class: "notice bad", role: "alert", hidden: true });
    this.startButton = element("button", { type: "submit", class: "primary start-button" }, "Start the match");
    this.form = element(
      "form",
      { class: "start-form", novalidate: true, "aria-label": "New match" },
      element("div", { class: "stack start-fields" }, this.playersPart(), this.game.root, this.advanced.root),
    );
    this.problems = new FormProblems(this.form, this.notice);
    this.preview = new StartPreview({
      blame: (field, message) => this.problems.say(field, message),
      clear: (field) => this.problems.clear(field),
      signal: this.leaving,
    });
    this.form.append(this.aside());
    this.form.addEventListener("submit", (event) => this.submit(event));
    this.form.addEventListener("input", () => this.renew());
    const quick = quickStarts(this.players, (body) => this.start(body, this.quickNotice));
    fill(this, element("h1", {}, "New match"), quick, this.quickNotice, this.form);
    const [white, black] = [this.firstOf("human"), this.firstOf("stockfish:3", "classical", "random")];
    this.defaults = { ...valuesOf(this.form), white, black };
  }

  playersPart() {
    const attributes = { type: "button", "aria-label": "Swap colours", onclick: () => this.swap() };
    const swap = element("button", attributes, element("span", { "aria-hidden": "true" }, "⇄"), "Swap");
    return element(
      "section",
      { class: "panel stack form-part", "aria-labelledby": "players-title" },
      element("div", { class: "spread" }, element("h2", { id: "players-title" }, "Players"), swap),
      element("div", { class: "seat-fields" }, this.seatFields.white.root, this.seatFields.black.root),
      this.unavailable(),
    );
  }

  /** Say who cannot be seated, and why: what the operator could mend. */
  unavailable() {
    const reasons = new Map();
    for (const { title, unavailable } of this.players) {
      if (unavailable) reasons.set(unavailable, [...(reasons.get(unavailable) ?? []), title]);
    }
    if (!reasons.size) return null;
    const number = [...reasons.values()].flat().length;
    return element(
      "details",
      { class: "unavailable small" },
      element("summary", {}, `${many(number, "player")} cannot be seated: ${[...reasons.keys()][0]}`),
      element(
        "ul",
        {},
        [...reasons].map(([reason, titles]) => element("li", {}, `${titles.join(", ")}: ${sentence(reason)}`)),
      ),
    );
  }

  aside() {
    return element(
      "aside",
      { class: "panel stack start-aside", "aria-label": "Start" },
      this.preview.root,
      this.notice,
      this.startButton,
      element("button", { type: "button", onclick: () => this.fillIn(this.defaults) }, "Back to the defaults"),
    );
  }

  firstOf(...names) {
    const able = this.players.filter(({ unavailable }) => !unavailable);
    return names.find((name) => able.some((player) => player.name === name)) ?? able[0]?.name;
  }

  // --- values ---

  /** Fill in what the address asks for; if it asks for nothing, what was last started. */
  prefill() {
    const asked = this.asked(this.place.query);
    const isAsked = Object.keys(asked).length > 0;
    this.fillIn({ ...this.defaults, ...(isAsked ? asked : kept.get(NAME)) });
    for (const color of ["white", "black"]) {
      const name = asked[color];
      const isKnown = !name || this.players.some((player) => player.name === name);
      if (!isKnown) this.problems.say(color, `there is no player ${name} here`);
    }
  }

  asked(query) {
    const values = {};
    for (const name of ["white", "black", "variant", "initial_fen"]) if (query[name]) values[name] = query[name];
    const { time_control: time, opening } = query;
    if (time) {
      const isPreset = [...this.form.elements.time_control].some((radio) => radio.value === time && time !== "own");
      Object.assign(values, isPreset ? { time_control: time } : { time_control: "own", time_control_own: time });
    }
    if (opening) {
      const known = findOpening(this.openings, opening);
      const own = { opening: "own", opening_own: opening };
      Object.assign(values, known ? { opening: "known", opening_known: known.name } : own);
    }
    return values;
  }

  fillIn(values) {
    setValues(this.form, values);
    for (const seat of Object.values(this.seatFields)) seat.renew();
    this.problems.clear();
    this.renew();
    this.advanced.openIfChanged();
  }

  /** Show what belongs to the values now. */
  renew() {
    let values = valuesOf(this.form);
    if (values.variant !== "standard" && values.opening === "known") {
      setValues(this.form, { opening: "" });
      values = valuesOf(this.form);
    }
    for (const seat of Object.values(this.seatFields)) seat.offerFor(values.variant);
    this.game.renew(values);
    this.advanced.renew(values);
    this.preview.show(this.startOf(values));
  }

  startOf({ variant, initial_fen: fen, opening, opening_known: known, opening_own: own }) {
    const found = opening === "known" ? findOpening(this.openings, known) : null;
    const moves = found ? found.moves : opening === "own" ? own : "";
    return { variant, fen: fen.trim(), moves: moves.split(/\s+/).filter(Boolean), name: found?.name ?? "" };
  }

  swap() {
    const others = { white: "black", black: "white" };
    const swapped = {};
    for (const [name, value] of Object.entries(valuesOf(this.form))) {
      const [color, ...rest] = name.split(".");
      if (color in others) swapped[[others[color], ...rest].join(".")] = value;
    }
    setValues(this.form, swapped);
    for (const seat of Object.values(this.seatFields)) seat.renew();
    this.renew();
  }

  // --- starting ---

  async submit(event) {
    event.preventDefault();
    const values = valuesOf(this.form);
    const canAnalyse = this.advanced.canAnalyse(values.variant);
    const { body, mistakes } = requestOf(values, { players: this.players, openings: this.openings, canAnalyse });
    if (mistakes.length) {
      this.problems.show(mistakes);
      return;
    }
    this.problems.clear();
    if (await this.start(body, this.notice)) kept.set(NAME, values);
  }

  /** Start a match and go to it; or say why it cannot be started, and return false. */
  async start(body, notice) {
    const buttons = this.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    notice.hidden = true;
    try {
      const match = await this.started(body);
      const given = Object.entries(match.seats).filter(([, seat]) => seat?.token);
      if (given.length) seats.add(match.id, Object.fromEntries(given.map(([color, { token }]) => [color, token])));
      go(`/matches/${match.id}`);
      return true;
    } catch (problem) {
      if (problem.name === "AbortError") return false;
      for (const button of buttons) button.disabled = false;
      this.tell(problem, notice);
      return false;
    }
  }

  /** Start a match, and return it. */
  async started(body) {
    const signal = this.leaving;
    const ask = () => post("/api/matches", body, { headers: this.attempt.headers(body), signal });
    const match = await ask();
    this.attempt.end();
    const isLost = Object.values(match.seats).some((seat) => seat && !seat.token);
    if (!isLost) return match;
    // It was started by a request whose answer got lost, and with it the seat's token, over a restart.
    const reason = "started, but the answer with the seat's token got lost";
    await post(`/api/matches/${match.id}/abort`, { reason }, { signal });
    return ask();
  }

  tell(problem, notice) {
    const told = problem.members?.errors ?? [{ field: problem.field, detail: problem.message }];
    if (notice === this.notice) {
      this.problems.show(told.map(({ field, detail }) => ({ field, message: detail })));
    } else {
      notice.hidden = false;
      say(notice, sentence(problem.message));
    }
  }
}

customElements.define("start-match-view", StartMatchView);
