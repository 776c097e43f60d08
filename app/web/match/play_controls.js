// What a human can do besides moving pieces: type a move, offer or claim a draw, take back, resign.

import { post } from "../core/api.js";
import { element, refill, say } from "../core/element.js";
import { capital, sentence } from "../core/wording.js";

/**
 * The controls of whoever holds seats of a match. `seats` are tokens by colour; `play(move)` sends a
 * move in any notation, and returns whether it was played; `lose(color, problem)` hears of a token that
 * does not open its seat.
 */
export class PlayControls {
  #asked = null;
  #isAgreeing = false;
  #fen = null; // of the position of which something may be said

  constructor(matchId, leaving, { play, lose, helped }) {
    this.path = `/api/matches/${matchId}`;
    this.leaving = leaving;
    this.lose = lose;
    this.input = element("input", { id: "typed-move", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    this.form = element(
      "form",
      {
        class: "row typed-move",
        onsubmit: async (event) => {
          event.preventDefault();
          const typed = this.input.value.trim();
          if (!typed) say(this.message, "Type a move, such as Nf3 or e2e4.");
          else if ((await play(typed)) && this.input.value.trim() === typed) this.input.value = ""; // or it is the next one
        },
      },
      element("label", { for: "typed-move" }, "Your move"),
      this.input,
      element("button", { type: "submit" }, "Play"),
    );
    this.offers = element("div", { class: "stack" });
    this.buttons = element("div", { class: "row" });
    this.message = element("p", { class: "play-message", role: "alert" });
    this.help = element("input", { type: "checkbox", id: "show-help", onchange: helped });
    const help = element("div", { class: "row small one-line" }, this.help, element("label", { for: "show-help" }, "Show evaluations and advice while I play"));
    /** What is said to the player, beside the board: on a phone the controls are far below it. */
    this.notices = element("div", { class: "stack play-notices" }, this.message, this.offers);
    this.root = element("section", { class: "panel play-controls", "aria-label": "Your game", hidden: true }, this.form, this.buttons, help);
  }

  /** Whether evaluations and advice are kept from whoever plays, as over the board. */
  get isUnaided() {
    return !this.root.hidden && !this.help.checked;
  }

  /** Say something about what the player did. */
  tell(text) {
    say(this.message, text);
  }

  /** Something has happened: what was said of another position holds no longer. */
  moveOn(fen) {
    if (this.#fen !== fen) this.tell("");
    this.#fen = fen;
  }

  /** Show what can be done now. */
  show(log, seats) {
    const colors = Object.keys(seats);
    this.root.hidden = !colors.length || log.isOver;
    if (this.root.hidden) {
      this.#clear();
      return;
    }
    const isOurTurn = log.status === "running" && colors.includes(log.toMove);
    this.input.placeholder = log.variant === "kings-cooking" ? "Nxc3, a1a2, Roff …" : "Nf3, e2e4, O-O …";
    const key = [log.toMove, log.status, log.drawOffer, log.takeback, log.plies.length > log.openingPlies, log.drawDeclined, this.#asked?.question, colors].join();
    if (this.root.dataset.key === key) return;
    this.root.dataset.key = key;
    this.log = log;
    this.seats = seats;
    this.#showOffers(colors);
    this.#showButtons(colors, isOurTurn);
  }

  /** There is nothing more to answer. */
  #clear() {
    if (this.root.dataset.key === undefined) return;
    delete this.root.dataset.key;
    this.#asked = null;
    this.tell("");
    refill(this.offers);
  }

  /** Whose seat acts: that of the side to move if it is ours, else the one we have. */
  #actor(colors) {
    return colors.includes(this.log.toMove) ? this.log.toMove : colors[0];
  }

  #showOffers(colors) {
    const { drawOffer, drawDeclined, takeback } = this.log;
    const answering = (asked) => colors.find((color) => color !== asked);
    if (this.#isAgreeing) return; // whoever has both seats need not ask themselves; others may ask them
    refill(
      this.offers,
      drawOffer && answering(drawOffer) && this.#offer(`${capital(drawOffer)} offers a draw.`, "draw", answering(drawOffer)),
      drawOffer && !answering(drawOffer) && element("p", { class: "notice good" }, "Your offer of a draw stands."),
      drawDeclined && !colors.includes(drawDeclined) && element("p", { class: "notice" }, `${capital(drawDeclined)} declined the draw.`),
      takeback && answering(takeback) && this.#offer(`${capital(takeback)} asks to take back.`, "takeback", answering(takeback)),
      takeback && !answering(takeback) && element("p", { class: "notice good" }, "You have asked to take back."),
    );
  }

  #offer(text, route, color) {
    return element(
      "div",
      { class: "notice row", role: "group", "aria-label": text },
      element("span", {}, text),
      element("button", { type: "button", onclick: () => this.#send(color, route, { action: "accept" }) }, "Accept"),
      element("button", { type: "button", onclick: () => this.#send(color, route, { action: "decline" }) }, "Decline"),
    );
  }

  #showButtons(colors, isOurTurn) {
    const actor = this.#actor(colors);
    // Nothing below moves under a hand that clicks twice.
    this.buttons.style.minHeight = this.#asked ? `${this.buttons.getBoundingClientRect().height}px` : "";
    if (this.#asked) {
      const { question, yes, act } = this.#asked;
      refill(
        this.buttons,
        element("span", {}, question),
        element("button", { type: "button", class: "danger", onclick: () => this.#ask(null) || act() }, yes),
        element("button", { type: "button", onclick: () => this.#ask(null) }, "No"),
      );
      return;
    }
    const resigning = { question: `Resign as ${capital(actor)}?`, yes: "Yes, resign", act: () => this.#send(actor, "resign") };
    const agreeing = { question: "End it as a draw?", yes: "Yes, a draw", act: () => this.#sendBoth("draw", this.log.drawOffer, actor, "offer") };
    const button = (text, action, isPossible = true) => element("button", { type: "button", disabled: !isPossible, onclick: action }, text);
    const hasBoth = colors.length === 2;
    const hasPlayed = this.log.plies.length > this.log.openingPlies;
    const isChess = this.log.variant !== "kings-cooking";
    refill(
      this.buttons,
      hasBoth && button("Agree a draw", () => this.#ask(agreeing)),
      !hasBoth && button("Offer a draw", () => this.#send(actor, "draw", { action: "offer" }), this.log.drawOffer !== actor),
      isChess && button("Claim a draw", () => this.#send(actor, "draw", { action: "claim" }), isOurTurn),
      hasBoth && button("Take back", () => this.#sendBoth("takeback", this.log.takeback, this.#lastMover(), "ask"), hasPlayed),
      !hasBoth && button("Take back", () => this.#send(actor, "takeback", { action: "ask" }), hasPlayed && this.log.takeback !== actor),
      element("button", { type: "button", class: "danger", onclick: () => this.#ask(resigning) }, "Resign"),
    );
  }

  #lastMover() {
    return this.log.toMove === "white" ? "black" : "white";
  }

  /** Whoever sits at both sides asks with one, unless one has asked already, and agrees with the other. */
  async #sendBoth(route, standing, color, action) {
    const asking = standing ?? color;
    this.#isAgreeing = true;
    const hasAsked = standing !== null || (await this.#send(asking, route, { action }));
    if (hasAsked) await this.#send(asking === "white" ? "black" : "white", route, { action: "accept" });
    this.#isAgreeing = false;
    delete this.root.dataset.key; // if it stopped half-way, the other half can be seen
    this.show(this.log, this.seats);
  }

  #ask(what) {
    this.#asked = what;
    this.show(this.log, this.seats);
    return null;
  }

  async #send(color, route, data) {
    this.tell("");
    try {
      await post(`${this.path}/${route}`, data, { headers: { "X-Seat-Token": this.seats[color] }, signal: this.leaving });
      return true;
    } catch (problem) {
      if (problem.kind === "wrong-seat-token") this.lose(color, problem);
      else if (problem.name !== "AbortError") this.tell(sentence(problem.message));
      return false;
    }
  }
}
