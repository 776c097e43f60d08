// How the numbers of evaluations are written: ratings, intervals, shares. What is not there is a dash.

import { count } from "../core/wording.js";

export const NOTHING = "–";

/** Return a text with a real minus where a number is negative, and margins that stay with numbers. */
export function properSigns(text) {
  return text.replace(/(?<![\w-])-(?=\d)/g, "−").replaceAll(" ± ", "\u00a0±\u00a0");
}

/** Return a number with so many digits after the point, and thousands apart. */
export function number(value, digits = 0) {
  if (value == null) return NOTHING;
  const [whole, rest] = Math.abs(value).toFixed(digits).split(".");
  const text = rest === undefined ? count(whole) : `${count(whole)}.${rest}`;
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** Return a rating or, with a sign, a difference of two. Ratings have no space between thousands. */
export function elo(value, { isSigned = false } = {}) {
  if (value == null) return NOTHING;
  const rounded = Math.round(value);
  const plus = isSigned && rounded > 0 ? "+" : "";
  return rounded < 0 ? `−${-rounded}` : `${plus}${Math.abs(rounded)}`;
}

/** Return a share from 0 to 1 in percent. */
export function percent(share, digits = 0) {
  return share == null ? NOTHING : `${(100 * share).toFixed(digits)}\u00a0%`;
}

/** Return how likely something is, which is never certain. */
export function likelihood(share) {
  const told = (100 * share).toFixed(1);
  return { "100.0": "> 99.9 %", "0.0": "< 0.1 %" }[told] ?? `${told} %`;
}

/** Return the ends of the interval that is shown, null where it is open: draw-aware ones, if there are any. */
export function endsOf(rating) {
  const { draw_aware_low: low, draw_aware_high: high } = rating;
  return low == null || high == null ? [rating.low, rating.high] : [low, high];
}

/** Return a rating with its margin, such as "1028 ± 138", or "> 1536" if it is a bound. */
export function ratingText(rating) {
  if (!rating) return "not rated";
  if (rating.text) return properSigns(rating.text);
  const margin = rating.draw_aware_margin ?? rating.margin;
  if (margin != null) return `${elo(rating.elo)}\u00a0±\u00a0${Math.round(margin)}`;
  return `${rating.bound === "lower" ? ">" : "<"}\u00a0${elo(rating.elo)}`;
}

/** Return the 95 % interval of a rating, or its one end that is known. */
export function intervalText(rating, options) {
  if (!rating) return NOTHING;
  const [low, high] = endsOf(rating);
  if (low != null && high != null) return `${elo(low, options)} to ${elo(high, options)}`;
  if (low == null && high == null) return "open on both sides";
  return low != null ? `over ${elo(low, options)}` : `under ${elo(high, options)}`;
}

/** Return the 95 % interval of a share. */
export function shareInterval({ low, high }) {
  return low == null ? NOTHING : `${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)}\u00a0%`;
}

/** Return games won, drawn and lost. */
export function results(row) {
  return `${row.wins}–${row.draws}–${row.losses}`;
}

/** Return points, which come in halves. */
export function points(value) {
  return value == null ? NOTHING : String(value);
}

/** Return whether draws make any interval of a report narrower. */
export function isNarrowed(report) {
  const ratings = report.agents.flatMap(({ rating }) => [rating.as_played, rating.without_forfeits]);
  return ratings.some((each) => each && (each.draw_aware_margin ?? each.margin) !== each.margin);
}
