// The agents of a plan in a form: who, how far each thinks, and what it is called.

import { element, fill } from "../core/element.js";

/** Who can be told how far to think, and how. */
const LIMITS = {
  classical: { nodes: "nodes", time_ms: "milliseconds" },
  stockfish: { nodes: "nodes", time_ms: "milliseconds", depth: "plies deep" },
  uci: { nodes: "nodes", time_ms: "milliseconds", depth: "plies deep" },
};
const GROUPS = { team: "Teams", solo: "Solos", stockfish: "Stockfish", uci: "UCI engines" };
const NO_GROUP = "Without models";
const MOST_AGENTS = 64;

/** The list of agents; `changed()` hears of every change. */
export class AgentFields {
  constructor(players, { changed }) {
    this.players = new Map(players.map((each) => [each.name, each]));
    this.changed = changed;
    this.rows = [];
    this.made = 0;
    this.list = element("div", { class: "stack" });
    this.add = element("button", { type: "button", onclick: () => this.addRow() }, "Add an agent");
    this.wrong = element("p", { class: "wrong", id: "agents-wrong", hidden: true });
    this.element = element(
      "fieldset",
      { class: "stack", "aria-describedby": "agents-wrong" },
      element("legend", {}, "Agents"),
      this.list,
      this.wrong,
      element("div", { class: "row" }, this.add),
    );
  }

  /** Begin with these agents, such as `classical@nodes=1000`. */
  begin(texts) {
    this.rows = [];
    fill(this.list);
    for (const text of texts) this.addRow(text, false);
  }

  /** Have as many rows as a kind of evaluation needs: two for a duel, else at least one. */
  fit(kind) {
    this.kind = kind;
    const least = kind === "duel" || kind === "pool" ? 2 : 1;
    while (this.rows.length < least) this.addRow("", false);
    if (kind === "duel") while (this.rows.length > 2) this.remove(this.rows.at(-1));
    this.tidy();
  }

  /** Show only who plays a variant; whoever does not is chosen no more. */
  offer(variant) {
    this.variant = variant;
    for (const row of this.rows) this.fillSelect(row, row.wanted);
  }

  /** Return the agents as a plan has them. */
  value() {
    return this.rows.map(({ select, limit, amount, title }) => {
      const agent = { name: select.value };
      if (limit.value && !limit.disabled && amount.value) agent[limit.value] = Number(amount.value);
      if (title.value.trim()) agent.title = title.value.trim();
      return Object.keys(agent).length === 1 ? agent.name : agent;
    });
  }

  addRow(text = "", isFocused = true) {
    const { name, limit, amount } = readAgent(text);
    const id = `agent-${++this.made}`;
    const oninput = () => this.changed();
    const row = {
      select: element("select", { id: `${id}-name`, onchange: () => this.changedRow(row) }),
      limit: element("select", { id: `${id}-limit`, onchange: () => this.changedRow(row) }),
      amount: element("input", { id: `${id}-amount`, type: "number", min: 1, step: 1, value: amount, oninput }),
      title: element("input", { id: `${id}-title`, maxlength: 100, placeholder: "its name", oninput }),
    };
    row.remove = element("button", { type: "button", class: "icon", onclick: () => this.remove(row, true) }, "✕");
    row.label = element("label", { for: row.select.id });
    row.amountField = field(element("label", { for: row.amount.id }, "How far"), row.amount);
    row.limitField = field(element("label", { for: row.limit.id }, "Thinks"), row.limit);
    row.element = element(
      "div",
      { class: "agent-row" },
      field(row.label, row.select),
      row.limitField,
      row.amountField,
      field(element("label", { for: row.title.id }, "Called"), row.title),
      row.remove,
    );
    this.rows.push(row);
    this.list.append(row.element);
    this.fillSelect(row, name);
    this.fillLimits(row, limit);
    this.tidy();
    if (isFocused) {
      row.select.focus();
      this.changed();
    }
  }

  remove(row, isFocused = false) {
    this.rows.splice(this.rows.indexOf(row), 1);
    row.element.remove();
    this.tidy();
    if (isFocused) (this.add.hidden ? this.rows.at(-1).select : this.add).focus();
    this.changed();
  }

  tidy() {
    const isDuel = this.kind === "duel";
    const least = isDuel || this.kind === "pool" ? 2 : 1;
    this.rows.forEach((row, place) => {
      row.label.textContent = isDuel ? ["First agent", "Second agent"][place] : `Agent ${place + 1}`;
      row.remove.hidden = this.rows.length <= least;
      row.remove.setAttribute("aria-label", `Remove agent ${place + 1}`);
      row.remove.title = "Remove";
    });
    this.add.hidden = isDuel || this.rows.length >= MOST_AGENTS;
  }

  changedRow(row) {
    row.wanted = row.select.value;
    this.fillLimits(row, row.limit.value);
    this.changed();
  }

  fillSelect(row, chosen) {
    row.wanted = chosen; // who may be offered again in another variant
    const groups = Map.groupBy(this.offered(), (each) => GROUPS[each.kind] ?? NO_GROUP);
    const isMissing = chosen && !this.offered().some(({ name }) => name === chosen); // and nobody else takes its place
    row.select.required = true;
    fill(
      row.select,
      isMissing && element("option", { value: "", selected: true }, `${chosen} cannot be seated: choose another`),
      [...groups].map(([title, players]) =>
        element(
          "optgroup",
          { label: title },
          players.map(({ name, title: words }) =>
            element("option", { value: name, selected: name === chosen }, `${words} (${name})`),
          ),
        ),
      ),
    );
    this.fillLimits(row, row.limit.value);
  }

  offered() {
    const all = [...this.players.values()];
    return all.filter((each) => !this.variant || each.variants.includes(this.variant));
  }

  fillLimits(row, chosen) {
    const limits = LIMITS[this.players.get(row.select.value)?.kind] ?? {};
    const names = Object.keys(limits);
    fill(
      row.limit,
      element("option", { value: "" }, "as it is set up"),
      names.map((each) =>
        element("option", { value: each, selected: each === chosen }, `so many ${limits[each]} a move`),
      ),
    );
    row.limit.disabled = !names.length;
    row.limitField.hidden = !names.length;
    row.amountField.hidden = !row.limit.value;
    row.amount.required = Boolean(row.limit.value);
  }
}

function field(...children) {
  return element("div", { class: "field" }, children);
}

/** Read an agent as addresses and commands have it: `NAME`, or `NAME@nodes=2000`. */
function readAgent(text) {
  const [, name, limit = "", amount = ""] = /^(.*?)(?:@(nodes|time_ms|depth)=(\d+))?$/.exec(text);
  return { name, limit, amount };
}

/** Write an agent of a plan as addresses have it. */
export function agentText(agent) {
  const limit = ["nodes", "time_ms", "depth"].find((each) => agent[each] != null);
  return limit ? `${agent.name}@${limit}=${agent[limit]}` : agent.name;
}
