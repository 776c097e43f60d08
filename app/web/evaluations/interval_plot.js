// Ratings with their intervals, drawn on one axis: for the leaderboard, progress, reports and comparisons.
//
// Places are percentages of the width, so a drawing fits wherever it stands, and its text is never stretched.

import { element, svg } from "../core/element.js";
import { elo, endsOf, intervalText, ratingText } from "./numerals.js";

const HEIGHT = 26;
const AXIS_HEIGHT = 38;
const STEPS = [10, 20, 50, 100, 200, 250, 500, 1000, 2000, 5000];
const MOST_TICKS = 6;
/** How wide a drawing is at least, in pixels: on a phone, or in a column of a table. */
export const NARROW = 250;
/** Anchors farther away than this from everybody are not drawn. */
const NEAR = 250;
/** What a letter of an anchor's name takes, in pixels. */
const LETTER = 6.6;

/** Where ratings lie on a drawing. */
export class Scale {
  /** Make a scale on which all ratings have room, and the anchors near them; there must be one rating. */
  constructor(ratings, anchors = []) {
    const values = ratings.flatMap((each) => [each.elo, ...endsOf(each).filter((end) => end != null)]);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    this.anchors = anchors.filter((each) => each.elo >= low - NEAR && each.elo <= high + NEAR);
    low = Math.min(low, ...this.anchors.map((each) => each.elo));
    high = Math.max(high, ...this.anchors.map((each) => each.elo));
    const middle = (low + high) / 2;
    const span = Math.max(high - low, 100) * 1.16; // arrows of open intervals need room, too
    this.low = middle - span / 2;
    this.span = span;
    const step = STEPS.find((each) => span / each <= MOST_TICKS) ?? STEPS.at(-1);
    this.ticks = [];
    for (let at = Math.ceil(this.low / step) * step; at <= this.low + span; at += step) this.ticks.push(at);
  }

  /** Return where a rating lies, in percent of the width. */
  at(rating) {
    return `${((100 * (rating - this.low)) / this.span).toFixed(2)}%`;
  }
}

/**
 * Return one rating on a scale: a point, and the line of its interval; an arrow where that is open.
 * `other` is a second rating below it, such as the one without forfeits.
 */
export function track(scale, rating, { label, other = null, isAnchor = false } = {}) {
  const told = rating ? `${ratingText(rating)}; 95 % interval: ${intervalText(rating)}` : "not rated";
  const without = other ? `; without forfeits ${ratingText(other)}` : "";
  return svg(
    "svg",
    {
      class: isAnchor ? "track of-anchor" : "track",
      height: HEIGHT,
      width: "100%",
      role: "img",
      "aria-label": `${label}: ${told}${without}`,
    },
    guides(scale, HEIGHT),
    rating && marks(scale, rating, other ? HEIGHT * 0.36 : HEIGHT / 2, isAnchor ? diamond : point),
    other && svg("g", { class: "other" }, marks(scale, other, HEIGHT * 0.76, square)),
  );
}

/** Return the axis of a scale that has at least so many pixels: ratings, and above them anchors' names. */
export function axis(scale, width) {
  const named = namedAnchors(scale, width);
  return svg(
    "svg",
    { class: "axis", height: named.length ? AXIS_HEIGHT : AXIS_HEIGHT - 16, width: "100%", "aria-hidden": "true" },
    named.map((each) => svg("text", { class: "anchor-name", x: scale.at(each.elo), y: 12 }, each.label)),
    scale.ticks.map((tick) =>
      svg("text", { x: scale.at(tick), y: named.length ? 32 : 16, class: edgeOf(scale.at(tick)) }, elo(tick)),
    ),
  );
}

/** Return where a text is to be held so that it stays within the drawing. */
function edgeOf(place) {
  return parseFloat(place) < 6 ? "at-start" : parseFloat(place) > 94 ? "at-end" : null;
}

/** Return the anchors whose names can be written beside each other; short names say more in less room. */
function namedAnchors(scale, width) {
  const taken = [];
  return scale.anchors.toSorted((a, b) => a.label.length - b.label.length).filter(({ elo: rating, label }) => {
    const middle = (parseFloat(scale.at(rating)) * width) / 100;
    const half = (label.length * LETTER) / 2 + 4;
    const [left, right] = [middle - half, middle + half];
    const isFree = left >= 0 && right <= width && taken.every(([from, to]) => right < from || left > to);
    if (isFree) taken.push([left, right]);
    return isFree;
  });
}

/** Return many ratings below each other, with names and numbers: `rows` are `{ label, rating, other, isAnchor }`. */
export function intervalPlot(rows, { caption, anchors = [] }) {
  const ratings = rows.flatMap(({ rating, other }) => [rating, other]).filter(Boolean);
  if (!ratings.length) return null;
  const scale = new Scale(ratings, anchors);
  return element(
    "figure",
    { class: "interval-plot" },
    rows.map(({ label, rating, other, isAnchor }) =>
      element(
        "div",
        { class: "interval-row" },
        element("span", { class: isAnchor ? "interval-name quiet" : "interval-name" }, label),
        track(scale, rating, { label, other, isAnchor }),
        element("span", { class: "interval-text" }, ratingText(rating)),
      ),
    ),
    element("div", { class: "interval-row" }, element("span"), axis(scale, NARROW), element("span")),
    caption && element("figcaption", { class: "quiet small" }, caption),
  );
}

function guides(scale, height) {
  const line = (kind, at) =>
    svg("line", { class: kind, x1: scale.at(at), x2: scale.at(at), y1: 0, y2: height });
  return [
    scale.ticks.map((tick) => line("guide", tick)),
    scale.anchors.map((each) => line("anchor-line", each.elo)),
  ];
}

function marks(scale, rating, y, mark) {
  const [low, high] = endsOf(rating);
  const at = scale.at(rating.elo);
  const from = scale.at(low ?? rating.elo);
  const to = scale.at(high ?? rating.elo);
  return svg(
    "g",
    { class: "marks" },
    svg("line", { class: "reach", x1: from, x2: to, y1: y, y2: y }),
    low == null ? arrow(at, y, -1) : cap(from, y),
    high == null ? arrow(at, y, 1) : cap(to, y),
    placed(at, y, mark()),
  );
}

/** Put something at a place of which x is a percentage. */
function placed(x, y, ...children) {
  return svg("svg", { x, y, overflow: "visible", width: 1, height: 1 }, children);
}

function cap(x, y) {
  return svg("line", { class: "reach", x1: x, x2: x, y1: y - 4, y2: y + 4 });
}

function arrow(x, y, way) {
  const outline = `M0 0h${26 * way}m${-6 * way} -5l${6 * way} 5l${-6 * way} 5`;
  return placed(x, y, svg("path", { class: "reach arrow", d: outline }));
}

function point() {
  return svg("circle", { class: "mark", r: 5 });
}

function square() {
  return svg("rect", { class: "mark", x: -3.5, y: -3.5, width: 7, height: 7 });
}

function diamond() {
  return svg("path", { class: "mark", d: "M0 -5L5 0L0 5L-5 0Z" });
}
