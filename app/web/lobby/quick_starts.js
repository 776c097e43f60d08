// Matches that start with one click, for those who do not want to fill in a form.

import { pieceIcon } from "../board/piece.js";
import { element, say } from "../core/element.js";

/** Return the quick starts that these players allow; `start(body)` starts a match. */
export function quickStarts(players, start) {
  const has = (name) => players.some((player) => player.name === name && !player.unavailable);
  const levels = players.filter(({ kind, unavailable }) => kind === "stockfish" && !unavailable);
  const cards = [
    levels.length > 0 && playStockfish(levels, start),
    has("classical") && levels.length > 0 && watchClassical(levels, start),
    has("solver") && playSolver(start),
  ].filter(Boolean);
  return element(
    "section",
    { class: "quick-starts", "aria-labelledby": "quick-title", hidden: !cards.length },
    element("h2", { id: "quick-title", class: "visually-hidden" }, "Quick starts"),
    cards,
  );
}

function playStockfish(levels, start) {
  const first = Math.min(3, levels.length);
  const slider = element("input", { type: "range", id: "quick-level", min: 1, max: levels.length, value: first });
  const told = element("output", { for: "quick-level", class: "small" });
  const colors = [["white", "White"], ["black", "Black"]].map(([value, name]) => element("option", { value }, name));
  const color = element("select", { id: "quick-color" }, colors);
  const chosen = () => levels[Number(slider.value) - 1];
  const tell = () => {
    const { rating } = chosen();
    say(told, `${slider.value}${rating?.elo == null ? "" : ` · Elo ${Math.round(rating.elo)}`}`);
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.addEventListener("input", tell);
  tell();
  const body = () => {
    const [ours, theirs] = color.value === "white" ? ["white", "black"] : ["black", "white"];
    return { [ours]: "human", [theirs]: chosen().name, analysis: true };
  };
  return card(
    "Kq", "Play Stockfish", "You against a level of your choice, without a clock.",
    element(
      "div",
      { class: "field" },
      element("div", { class: "spread" }, element("label", { for: "quick-level" }, "Level"), told),
      slider,
    ),
    last(
      element("div", { class: "row quick-color" }, element("label", { for: "quick-color" }, "You are"), color),
      button("Play", "Play Stockfish", () => start(body())),
    ),
  );
}

function watchClassical(levels, start) {
  const opponent = levels[Math.min(4, levels.length) - 1];
  const body = { white: "classical", black: opponent.name, analysis: true };
  return card(
    "Nb", "Watch classical against Stockfish",
    `Our classical team, which needs no model, plays ${opponent.title}; Stockfish judges every ply.`,
    last(button("Watch", "Watch classical against Stockfish", () => start(body))),
  );
}

function playSolver(start) {
  const body = { white: "human", black: "solver", variant: "kings-cooking" };
  return card(
    "RNb", "King's Cooking against the solver",
    "Nine squares, six pieces, and an opponent that never errs. You have White.",
    last(button("Play", "Play King's Cooking against the solver", () => start(body))),
  );
}

/** Return a card with some pieces, for looks, a title, a sentence, and what can be done. */
function card(pieces, title, about, ...content) {
  const icons = [...pieces].map((letter) => pieceIcon(letter, { isHidden: true }));
  return element(
    "div",
    { class: "panel quick-start" },
    element("div", { class: "quick-pieces", "aria-hidden": "true" }, icons),
    element("h3", {}, title),
    element("p", { class: "small" }, about),
    content,
  );
}

function last(...content) {
  return element("div", { class: "row quick-last" }, content);
}

function button(text, label, action) {
  return element("button", { type: "button", class: "primary", "aria-label": label, onclick: action }, text);
}
