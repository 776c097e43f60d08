// What two agents differ by: ratings, and everything else that is known of both.

import { count, duration, money } from "../core/wording.js";
import { endsOf, number, percent, ratingText, results } from "./numerals.js";

/**
 * Return by how much the first rating is higher, `{ elo, low, high }`, ends being null where they are open. For
 * independent ratings half-widths add as squares, each on its own side.
 */
export function differenceOf(first, second) {
  const [low, high] = endsOf(first);
  const [otherLow, otherHigh] = endsOf(second);
  const reach = (one, other) => (one === null || other === null ? null : Math.hypot(one, other));
  const minus = (a, b) => (a === null || b === null ? null : a - b);
  const below = reach(minus(first.elo, low), minus(otherHigh, second.elo));
  const above = reach(minus(high, first.elo), minus(second.elo, otherLow));
  const elo = first.elo - second.elo;
  return { elo, low: below === null ? null : elo - below, high: above === null ? null : elo + above };
}

/** Return the score that a difference lets expect, from 0 to 1. */
export function expectedScore(difference) {
  return 1 / (1 + 10 ** (-difference / 400));
}

const dollars = (row) => (row.per_move.cost_usd === null ? null : Number(row.per_move.cost_usd));

/** What is compared: `text` of a row, its `value`, and whether more or less of it is better, if either is. */
export const MEASURES = [
  {
    title: "Rating",
    text: (row) => ratingText(row.rating),
    value: (row) => (row.rating && !row.rating.bound ? row.rating.elo : null),
    better: "more",
  },
  { title: "Games", text: (row) => count(row.games) },
  { title: "Won–drawn–lost", text: (row) => (row.games ? results(row) : null) },
  { title: "Score", text: (row) => percent(row.share, 1), note: "against whomever each one met" },
  { title: "Accuracy", text: (row) => number(row.accuracy, 1), value: (row) => row.accuracy, better: "more" },
  {
    title: "Lost by forfeit",
    text: (row) => (row.games ? `${count(row.forfeits)} (${percent(row.forfeits / row.games, 1)})` : null),
    value: (row) => (row.games ? row.forfeits / row.games : null),
    better: "less",
  },
  {
    title: "Positions solved",
    text: ({ positions: { answers, right } }) =>
      answers ? `${right} of ${answers} (${percent(right / answers)})` : null,
    value: ({ positions }) => (positions.answers ? positions.right / positions.answers : null),
    better: "more",
  },
  {
    title: "Rating by positions",
    text: ({ positions }) => (positions.rating ? ratingText(positions.rating) : null),
  },
  {
    title: "Calls / move",
    text: (row) => number(row.per_move.calls, 1),
    value: (row) => row.per_move.calls,
    better: "less",
  },
  {
    title: "Tokens / move",
    text: (row) => number(row.per_move.tokens),
    value: (row) => row.per_move.tokens,
    better: "less",
  },
  {
    title: "Cost / move",
    text: (row) => (row.per_move.calls === null ? null : money(row.per_move.cost_usd)),
    value: dollars,
    better: "less",
  },
  {
    title: "Latency of calls / move",
    text: (row) => (row.per_move.calls ? duration(row.per_move.latency_ms) : null),
    value: (row) => (row.per_move.calls ? row.per_move.latency_ms : null),
    better: "less",
  },
  {
    title: "Thinking / move",
    text: (row) => (row.per_move.think_ms === null ? null : duration(row.per_move.think_ms)),
    value: (row) => row.per_move.think_ms,
    better: "less",
  },
];

/** Return which of two is better by a measure: 0, 1, or null if neither, or nobody can tell. */
export function betterBy({ value, better }, rows) {
  if (!better) return null;
  const [first, second] = rows.map(value);
  if (first === null || second === null || first === second) return null;
  return first > second === (better === "more") ? 0 : 1;
}

/** Return what the stronger one costs more, in a sentence; empty if nobody can tell. */
export function strengthForMoney(names, rows) {
  if (rows.some((row) => !row.rating || row.rating.bound || dollars(row) === null)) return "";
  const stronger = rows[0].rating.elo >= rows[1].rating.elo ? 0 : 1;
  const more = Math.abs(rows[0].rating.elo - rows[1].rating.elo);
  const [cost, other] = [dollars(rows[stronger]), dollars(rows[1 - stronger])];
  const led = `${names[stronger]} is rated ${Math.round(more)} Elo higher`;
  if (cost === 0 && other === 0) return `${led}; neither costs anything.`;
  if (cost <= other) return `${led}, and costs no more: ${money(cost)} against ${money(other)} a move.`;
  const times =
    other > 0 ? `${(cost / other).toPrecision(2)} times as much a move` : `${money(cost)} a move, the other nothing`;
  return `${led} and costs ${times}: ${money((100 * (cost - other)) / Math.max(more, 1))} a move more for each 100 Elo.`;
}
