// The fields of a plan besides its agents, and which of them each kind of evaluation has.

import { element } from "../core/element.js";
import { variantName } from "../core/wording.js";

const GAMES = ["ladder", "duel", "pool"];
const ALL = [...GAMES, "positions"];
const VARIANTS = ["standard", "chess960", "kings-cooking"];
const OPENINGS = {
  table: "well-known lines",
  balanced: "generated ones that Stockfish calls level",
  none: "none: the variant's own start",
};

/**
 * Of each field: `path` in the plan, `kinds` that have it, and how it is asked for. An empty field is left out of the
 * plan, so that the service's own default holds, which is shown in its place.
 */
const FIELDS = [
  {
    path: "name", kinds: ALL, title: "Name",
    placeholder: "evaluation", maxlength: 200,
    hint: "What people call it.",
  },
  {
    path: "variant", kinds: ALL, title: "Variant",
    options: VARIANTS.map((each) => [each, variantName(each)]),
  },
  {
    path: "margin", kinds: ["ladder"], title: "Margin, ± Elo",
    type: "number", placeholder: "100", min: 5, max: 1000,
    hint: "An agent is done once half its 95 % interval is this narrow.",
  },
  {
    path: "games", kinds: ["ladder"], title: "Most games of an agent",
    type: "number", placeholder: "200", min: 2, step: 2,
    hint: "If it is not done by then. An even number.",
  },
  {
    path: "games", kinds: ["duel"], title: "Games",
    type: "number", placeholder: "100", min: 2, step: 2,
    hint: "An even number: each opening is played twice. With a test, the most there may be.",
  },
  {
    path: "rounds", kinds: ["pool"], title: "Rounds",
    type: "number", placeholder: "1", min: 1,
    hint: "Pairs of games between every two.",
  },
  {
    path: "anchors", kinds: ["pool"], title: "Anchors",
    placeholder: "stockfish:3, stockfish:5", isList: true,
    hint: "Players of known rating, with commas between; without any, the first agent is 0.",
  },
  {
    path: "suite", kinds: ["positions"], title: "Suite",
    options: [["kibitz", "Kibitz: 118 positions"]],
  },
  {
    path: "control", kinds: ["ladder"], title: "Measure each team beside its control",
    type: "checkbox",
    hint: "One call of the same model with as many tokens: what a team claims, it claims beside it.",
  },
  {
    path: "budget.usd", kinds: ALL, title: "Budget, dollars",
    type: "number", placeholder: "no bound", min: 0, step: "any",
    hint: "No model call is made that could exceed it.",
  },
  {
    path: "sprt", kinds: ["duel"], title: "Stop as soon as a sequential test decides",
    type: "checkbox",
    hint: "Fewer games, where one is clearly stronger.",
  },
  {
    path: "sprt.bounds.0", kinds: ["duel"], title: "H0: stronger by, Elo",
    type: "number", value: "0", step: "any", needs: "sprt",
  },
  {
    path: "sprt.bounds.1", kinds: ["duel"], title: "H1: stronger by, Elo",
    type: "number", value: "50", step: "any", needs: "sprt",
  },
  {
    path: "concurrency", kinds: ALL, title: "Games at a time",
    type: "number", placeholder: "2", min: 1, max: 256, isFurther: true,
    hint: "For models more than there are cores is fine; for engines it is not.",
  },
  {
    path: "openings", kinds: GAMES, title: "Openings",
    options: Object.entries(OPENINGS), isFurther: true,
  },
  {
    path: "analysis.nodes", kinds: GAMES, title: "Analysis, nodes a position",
    type: "number", placeholder: "20000", min: 0, isFurther: true,
    hint: "How far Stockfish looks at games once they are over; 0 is not at all.",
  },
  {
    path: "match.max_plies", kinds: GAMES, title: "Most plies of a game",
    type: "number", placeholder: "300", min: 1, max: 2000, isFurther: true,
    hint: "A longer game is a draw.",
  },
  {
    path: "match.time_control", kinds: ALL, title: "Time control",
    placeholder: "not timed", isFurther: true,
    hint: "Such as 300+3, or 10s for each move.",
  },
  {
    path: "seed", kinds: ALL, title: "Seed",
    type: "number", placeholder: "1", min: 0, isFurther: true,
    hint: "Openings and dice depend on it.",
  },
  {
    path: "budget.tokens", kinds: ALL, title: "Budget, tokens",
    type: "number", placeholder: "no bound", min: 0, isFurther: true,
  },
  {
    path: "budget.calls", kinds: ALL, title: "Budget, calls",
    type: "number", placeholder: "no bound", min: 0, isFurther: true,
  },
];

/** One field of a plan in the form. */
class PlanField {
  constructor(description, place, changed) {
    Object.assign(this, description);
    const id = `plan-${place}`;
    const described = this.hint ? `${id}-hint ${id}-wrong` : `${id}-wrong`;
    const attributes = { id, name: this.path, "aria-describedby": described, oninput: changed, onchange: changed };
    this.input = this.options
      ? element("select", attributes, this.options.map(([value, text]) => element("option", { value }, text)))
      : element("input", {
          ...attributes,
          type: this.type ?? "text",
          placeholder: this.placeholder,
          min: this.min,
          max: this.max,
          step: this.step,
          maxlength: this.maxlength,
          value: this.value,
        });
    this.wrong = element("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
    const label = element("label", { for: id }, this.title);
    const hint = this.hint && element("p", { class: "hint", id: `${id}-hint` }, this.hint);
    const isBox = this.type === "checkbox";
    const asked = isBox ? element("div", { class: "row" }, this.input, label) : [label, this.input];
    this.element = element("div", { class: isBox ? "field wide" : "field" }, asked, hint, this.wrong);
  }

  /** What the plan gets, or undefined for the service's default. */
  get content() {
    if (this.type === "checkbox") return this.input.checked || undefined;
    const text = this.input.value.trim();
    if (text === "" || (this.options && this.path !== "suite" && text === this.options[0][0])) return undefined;
    if (this.isList) return text.split(",").map((each) => each.trim()).filter(Boolean);
    return this.type === "number" ? Number(text) : text;
  }
}

/** All fields; `changed()` hears of every change. */
export class PlanFields {
  constructor({ changed }) {
    this.fields = FIELDS.map((each, place) => new PlanField(each, place, changed));
    const grid = (fields) => element("div", { class: "form-grid" }, fields.map((each) => each.element));
    this.first = grid(this.fields.filter((each) => !each.isFurther));
    this.further = grid(this.fields.filter((each) => each.isFurther));
  }

  /** Show the fields that a kind has. */
  fit(kind) {
    const isOn = (path) => this.fields.some((each) => each.path === path && each.kinds.includes(kind) && each.content);
    for (const each of this.fields) {
      const isShown = each.kinds.includes(kind) && (!each.needs || isOn(each.needs));
      each.element.hidden = !isShown;
      each.input.disabled = !isShown; // so that what is hidden is never found to be wrong
    }
  }

  /** Return the field at a path of the plan, as it is shown now. */
  at(path) {
    const shown = this.fields.filter((each) => !each.element.hidden);
    const isRelated = (each) => path.startsWith(`${each.path}.`) || each.path.startsWith(`${path}.`);
    return shown.find((each) => each.path === path) ?? shown.find(isRelated);
  }

  /** Return what is filled in, as a plan has it. */
  value() {
    const plan = {};
    for (const { path, content, element: { hidden } } of this.fields) {
      if (hidden || content === undefined || path.startsWith("sprt")) continue;
      const keys = path.split(".");
      const last = keys.pop();
      let part = plan;
      for (const key of keys) part = part[key] ??= {};
      part[last] = content;
    }
    const bounds = ["sprt.bounds.0", "sprt.bounds.1"].map((path) => this.fields.find((each) => each.path === path));
    if (!bounds[0].element.hidden) plan.sprt = { bounds: bounds.map((each) => Number(each.input.value)) };
    return plan;
  }
}
