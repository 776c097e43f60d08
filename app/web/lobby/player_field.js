// Who fills a seat: chosen from all that can be seated, with what is known of them, and their limits.

import { element, fill, say } from "../core/element.js";
import { capital, many, sentence, variantName } from "../core/wording.js";
import { field, numberInput } from "./form_field.js";
import { limitsOf } from "./match_request.js";

const GROUPS = [
  ["Humans", ["human"]],
  ["Teams of language models", ["team"]],
  ["Solos: one model, one call", ["solo"]],
  ["Stockfish, by level", ["stockfish"]],
  ["UCI engines", ["uci"]],
];
const OTHERS = "Others";
/** Who takes a seat of somebody who does not play a variant. */
const STAND_INS = { "kings-cooking": "solver", standard: "stockfish:4", chess960: "stockfish:4" };
const LIMITS = "How far it thinks for each move, instead of its own limit; the first that is reached counts.";
const HUMAN = "Moves on the page of the match, in this browser: you, or both of you at one screen.";

/** The seat of a colour. */
export class PlayerField {
  constructor(color, players) {
    this.color = color;
    this.players = players;
    this.select = element("select", { required: true }, this.#options());
    this.select.addEventListener("change", () => this.#tell());
    this.limits = this.#limits();
    this.standIn = element("p", { class: "hint", role: "status" });
    const mark = element("span", { class: `color-mark ${color}`, "aria-hidden": "true" });
    const label = element("span", { class: "seat-label" }, mark, capital(color));
    this.root = element(
      "div",
      { class: "stack seat-field" },
      field(color, label, this.select, " "),
      this.standIn,
      this.details,
    );
    this.about = this.root.querySelector(".hint");
  }

  /** Who is chosen; undefined if nobody is. */
  get player() {
    return this.players.find(({ name }) => name === this.select.value);
  }

  /** Offer only those who play a variant; whoever sits there and does not leaves the seat. */
  offerFor(variant) {
    for (const option of this.select.querySelectorAll("option")) {
      const player = this.players.find(({ name }) => name === option.value);
      const lack = lackOf(player, variant);
      option.disabled = lack !== null;
      say(option, [optionText(player), lack].filter(Boolean).join(" – "));
    }
    const { player } = this;
    const plays = !player || player.variants.includes(variant);
    say(this.standIn, plays ? this.standIn.textContent : this.#seatAnother(player, variant));
    this.#tell();
  }

  /** The values have changed from outside. */
  renew() {
    say(this.standIn, "");
    this.#tell();
    const names = ["title", "nodes", "depth", "time_ms"];
    this.details.open = names.some((name) => this.root.querySelector(`[name="${this.color}.${name}"]`).value !== "");
  }

  #seatAnother(player, variant) {
    const able = this.players.filter((each) => each.variants.includes(variant) && !each.unavailable);
    const other = able.find(({ name }) => name === STAND_INS[variant]) ?? able[0];
    this.select.value = other.name;
    return `${player.title} does not play ${variantName(variant)}. ${other.title} takes the seat.`;
  }

  #options() {
    const known = GROUPS.flatMap(([, kinds]) => kinds);
    const groups = GROUPS.map(([label, kinds]) => [label, (kind) => kinds.includes(kind)]);
    groups.push([OTHERS, (kind) => !known.includes(kind)]);
    return groups.map(([label, takes]) => {
      const members = this.players.filter(({ kind }) => takes(kind));
      return members.length > 0 && element(
        "optgroup", { label }, members.map((player) => element("option", { value: player.name }, optionText(player))),
      );
    }).filter(Boolean);
  }

  #limits() {
    const { color } = this;
    const limit = (name, label, most, hint) =>
      field(`${color}.${name}`, label, numberInput(1, most, { placeholder: "its own" }), hint);
    const fields = {
      nodes: limit("nodes", "Nodes", 1e9, "Positions that it looks at; 10 000 takes an instant."),
      depth: limit("depth", "Depth", 100, "Plies that it looks ahead."),
      time_ms: limit("time_ms", "Time in ms", 600_000, "Thinking time, whatever the clocks say."),
    };
    const called = element("input", { maxlength: 200, autocomplete: "off" });
    const title = field(`${color}.title`, "Called", called, "What people call this player, on the page and in the PGN.");
    this.note = element("p", { class: "hint" }, LIMITS);
    this.details = element(
      "details", {}, element("summary", {}, "Name and limits"),
      element(
        "div",
        { class: "stack details-content" },
        title, this.note, element("div", { class: "field-row" }, Object.values(fields)),
      ),
    );
    return fields;
  }

  #tell() {
    const { player } = this;
    fill(this.about, player ? aboutPlayer(player) : "Choose who plays.");
    this.about.hidden = false;
    const taken = limitsOf(player?.kind);
    for (const [name, each] of Object.entries(this.limits)) each.hidden = !taken.includes(name);
    this.note.hidden = taken.length === 0;
  }
}

function optionText({ title, rating }) {
  return rating?.elo != null ? `${title} (${Math.round(rating.elo)})` : title;
}

/** Return why somebody cannot be seated now, or null. */
function lackOf(player, variant) {
  if (player.unavailable) return "cannot be seated";
  return player.variants.includes(variant) ? null : `does not play ${variantName(variant)}`;
}

function aboutPlayer({ kind, description, rating, models, unavailable }) {
  const sentences = [
    unavailable && sentence(unavailable),
    ratingText(rating),
    sentence(kind === "human" ? HUMAN : description),
    models.length > 0 && `It asks ${models.join(", ")}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

/** Return a rating with its 95 % interval, or with the bound that is known. */
function ratingText(rating) {
  if (!rating) return "";
  const { elo, low, high, games } = rating;
  const [middle, least, most] = [elo, low, high].map((value) => (value == null ? null : Math.round(value)));
  const over = games ? `, by ${many(games, "game")}` : "";
  if (least !== null && most !== null && least !== most) return `Elo ${middle} (${least} to ${most}${over}).`;
  if (middle !== null) return `Elo ${middle}.`;
  if (least !== null) return `Elo over ${least}${over}.`;
  return most === null ? "" : `Elo under ${most}${over}.`;
}
