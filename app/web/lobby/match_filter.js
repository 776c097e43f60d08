// Which matches are shown: a form of filters that can be combined, and what they let through.

import { element, fill } from "../core/element.js";
import { variantName } from "../core/wording.js";

const STATUSES = [
  ["", "Live and finished"],
  ["running", "Being played"],
  ["created", "Waiting to begin"],
  ["paused", "Paused"],
  ["ended", "Ended"],
  ["aborted", "Aborted"],
];
const VARIANTS = ["standard", "chess960", "kings-cooking"];
const NAMES = ["status", "player", "variant", "tag", "evaluation"];
/** In milliseconds: somebody who types is not done after each letter. */
const TYPING = 300;
/** From this width on there is room for the form beside everything else. */
const WIDE = "(min-width: 60rem)";

/** The filters of the lobby; `change()` is called when they are other ones. */
export class MatchFilter {
  #change;
  #controls;
  #values;
  #timer;

  constructor(query, change) {
    this.#change = change;
    this.players = element("datalist", { id: "filter-players" });
    this.#controls = {
      status: select(STATUSES),
      player: element("input", { list: "filter-players", placeholder: "stockfish:5" }),
      variant: select([["", "Any"], ...VARIANTS.map((name) => [name, variantName(name)])]),
      tag: element("input", { placeholder: "any" }),
      evaluation: element("input", { placeholder: "id of an evaluation" }),
    };
    for (const [name, control] of Object.entries(this.#controls)) {
      Object.assign(control, { id: `filter-${name}`, name, autocomplete: "off", spellcheck: false });
      control.value = query[name] ?? "";
      if (control.selectedIndex === -1) control.value = ""; // what is no choice
      control.addEventListener("input", () => this.#later());
    }
    this.#values = this.#read();
    this.clearButton = element("button", { type: "button", onclick: () => this.clear() }, "Clear filters");
    this.root = this.#form();
    this.#mark();
  }

  /** What is asked of the service: only what is filtered by. */
  get query() {
    return this.#values;
  }

  get isSet() {
    return Object.keys(this.#values).length > 0;
  }

  /** Return whether a match fits. */
  lets(match) {
    const { status, player, variant, tag, evaluation } = this.#values;
    return (
      (!status || match.status === status) &&
      (!player || match.white.name === player || match.black.name === player) &&
      (!variant || match.variant === variant) &&
      (!tag || match.tags.includes(tag)) &&
      (!evaluation || match.evaluation_id === evaluation)
    );
  }

  /** Offer players to choose from. */
  offer(players) {
    fill(this.players, players.map(({ name, title }) => element("option", { value: name }, title)));
  }

  /** Take all filters away. */
  clear() {
    for (const control of Object.values(this.#controls)) control.value = "";
    this.#apply();
    this.#controls.status.focus();
  }

  #form() {
    const labels = { status: "Status", player: "Player", variant: "Variant", tag: "Tag", evaluation: "Evaluation" };
    const fields = Object.entries(this.#controls).map(([name, control]) =>
      element("div", { class: "field" }, element("label", { for: control.id }, labels[name]), control),
    );
    this.summary = element("summary", {});
    const isOpen = this.isSet || matchMedia(WIDE).matches;
    return element(
      "details",
      { class: "panel lobby-filter", open: isOpen },
      this.summary,
      element(
        "form",
        {
          class: "filter-fields", role: "search", "aria-label": "Matches",
          onsubmit: (event) => {
            event.preventDefault();
            this.#apply();
          },
        },
        fields,
        this.clearButton,
        this.players,
      ),
    );
  }

  #read() {
    const given = NAMES.map((name) => [name, this.#controls[name].value.trim()]);
    return Object.fromEntries(given.filter(([, value]) => value));
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.root.isConnected && this.#apply(), TYPING);
  }

  #apply() {
    clearTimeout(this.#timer);
    const before = JSON.stringify(this.#values);
    this.#values = this.#read();
    this.#mark();
    if (JSON.stringify(this.#values) !== before) this.#change();
  }

  #mark() {
    const number = Object.keys(this.#values).length;
    this.summary.textContent = number ? `Filter (${number} set)` : "Filter";
    this.clearButton.disabled = number === 0;
  }
}

function select(options) {
  return element("select", {}, options.map(([value, text]) => element("option", { value }, text)));
}
