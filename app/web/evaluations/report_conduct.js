// The sections of a report about how agents play: quality of moves, keeping to the rules, time and money.

import { element } from "../core/element.js";
import { capital, duration, many, money } from "../core/wording.js";
import { number, percent } from "./numerals.js";
import { table } from "./table.js";

const AGENT = { title: "Agent", isHead: true };
const numeric = (...titles) => titles.map((title) => ({ title, isNumber: true }));

/** Return how good moves are by what an engine thinks of them, and who advised well. */
export function quality(report) {
  const agents = report.agents.filter((each) => each.quality.moves);
  if (!agents.length) return [];
  const columns = [AGENT, { title: "Phase" }];
  columns.push(...numeric("Games", "Moves", "Accuracy", "ACPL", "Inaccuracies", "Mistakes", "Blunders"));
  const rows = agents.flatMap(({ label, quality: found }) => [
    [label, "All", `${found.analysed_games} of ${found.of_games}`, ...judged(found)],
    ...Object.entries(found.phases)
      .filter(([, phase]) => phase.moves)
      .map(([name, phase]) => [label, capital(name), number(phase.games), ...judged(phase)]),
  ]);
  const caption =
    "In the games that were analysed: accuracy in percent with the margin of its 95 % interval, average centipawn " +
    "loss, and judgements per 100 moves. Moves of openings count for nobody";
  return [table(caption, columns, rows), regret(agents), specialists(agents)];
}

function judged(found) {
  const rates = found.per_100_moves;
  return [
    number(found.moves),
    withMargin(found.accuracy, found.accuracy_margin, 1),
    number(found.acpl),
    number(rates.inaccuracy, 1),
    number(rates.mistake, 1),
    number(rates.blunder, 1),
  ];
}

function withMargin(value, margin, digits) {
  return margin == null ? number(value, digits) : `${number(value, digits)}\u00a0±\u00a0${margin.toFixed(digits)}`;
}

function regret(agents) {
  const chose = agents.filter((each) => each.quality.regret.plies);
  if (!chose.length) return [];
  const columns = [AGENT];
  columns.push(...numeric("Plies with a choice", "Regret, Win%", "Regret over 5 points", "Accuracy of what was played"));
  const rows = chose.map(({ label, quality: { regret: found } }) => [
    label,
    number(found.plies),
    withMargin(found.mean, found.margin, 2),
    percent(found.great_share, 1),
    number(found.played_accuracy, 1),
  ]);
  const caption = "Win% lost because a better candidate on the table was passed over";
  return [element("h4", {}, "Selector regret"), table(caption, columns, rows)];
}

function specialists(agents) {
  const rows = agents.flatMap(({ label, quality: found }) =>
    found.specialists.map((each) => [
      label,
      each.name,
      number(each.asked),
      number(each.abstained),
      number(each.accuracy, 1),
      number(each.mean_loss, 2),
      percent(each.chosen_share),
      percent(each.followed_share),
    ]),
  );
  if (!rows.length) return [];
  const columns = [AGENT, { title: "Specialist" }];
  columns.push(...numeric("Asked", "Abstained", "Accuracy", "Win% lost", "First choice played", "Any choice played"));
  const caption = "Each specialist by itself, as if its first choice had been played";
  return [element("h4", {}, "Specialists"), table(caption, columns, rows)];
}

/** Return how often agents broke the rules, and what came of it. */
export function legality(report) {
  const isPositions = report.kind === "positions";
  const ends = isPositions ? ["Without an answer"] : ["Lost by rules", "Lost on time", "Won by forfeit"];
  const columns = [AGENT];
  columns.push(...numeric("Plies", "Illegal", "Illegal per 1000", "Unreadable", "Unreadable per 1000", ...ends));
  const rows = report.agents.map(({ label, legality: found }) => [
    label,
    number(found.plies),
    number(found.illegal),
    number(found.illegal_per_1000, 1),
    number(found.unreadable),
    number(found.unreadable_per_1000, 1),
    ...(isPositions
      ? [number(found.forfeits.no_answer)]
      : [number(found.forfeits.rules_infraction), number(found.forfeits.time_forfeit), number(found.won_by_forfeit)]),
  ]);
  const caption =
    "Refused attempts, and games that they or the clock decided; for the rates, a turn that ended in a forfeit " +
    "counts as a ply";
  return rows.length ? [table(caption, columns, rows)] : [];
}

/** Return what moves took: time, tokens and money. */
export function usage(report) {
  const columns = [AGENT];
  columns.push(...numeric("Cost", "Cost of a move", "Calls", "Tokens", "Tokens a move"));
  columns.push(...numeric("Latency of a call", "Thinking a move"));
  const rows = report.agents.map(({ label, usage: found }) => [
    label,
    money(found.cost_usd),
    found.plies ? money(found.per_move.cost_usd) : null,
    number(found.calls),
    number(found.tokens),
    number(found.per_move.tokens),
    found.latency_ms_per_call == null ? null : duration(found.latency_ms_per_call),
    found.per_move.think_ms == null ? null : duration(found.per_move.think_ms),
  ]);
  if (!rows.length) return [];
  return [table("What the agents took in games that count, in all and for a move", columns, rows), spent(report.spent)];
}

function spent({ void: ofVoid, ...all }) {
  if (!all.calls) return null;
  const taken = ({ calls, tokens, cost_usd: cost }) =>
    `${cost === null ? "an unknown amount" : money(cost)} for ${many(calls, "call")} and ${many(tokens, "token")}`;
  const lost = ofVoid.calls ? `; of it ${taken(ofVoid)} went into games that do not count` : "";
  return element("p", {}, `All matches together took ${taken(all)}${lost}.`);
}
