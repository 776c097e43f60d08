// The sections of a report about strength: ratings, duel, control, table, scores, positions.

import { element } from "../core/element.js";
import { capital } from "../core/wording.js";
import { NARROW, Scale, axis, track } from "./interval_plot.js";
import { NOTHING, elo, intervalText, isNarrowed, likelihood, number, percent, points } from "./numerals.js";
import { properSigns, ratingText, results, shareInterval } from "./numerals.js";
import { resultsBar } from "./results_bar.js";
import { sprtBar } from "./sprt_bar.js";
import { table } from "./table.js";

const AGENT = { title: "Agent", isHead: true };
const RESULTS = { title: "Won–drawn–lost" };
const numeric = (...titles) => titles.map((title) => ({ title, isNumber: true }));

/** Return what was found, in a sentence. */
export function headline(report) {
  const test = report.duel?.sprt;
  if (test) return properSigns(test.text);
  if (report.duel) return properSigns(report.duel.text);
  const rated = report.agents.filter((each) => each.rating.as_played).slice(0, 4);
  if (!rated.length) return "Nothing is known yet.";
  const told = rated.map((each) => `${each.label}: ${ratingText(each.rating.as_played)}`);
  return `${told.join(", ")}, ${scaleWords(report)}.`;
}

/** Return who is how strong, drawn and in numbers: chess with the rules, and chess alone. */
export function ratings(report) {
  const shown = report.agents.flatMap(({ rating }) => [rating.as_played, rating.without_forfeits]).filter(Boolean);
  if (!shown.length) return [];
  const scale = new Scale(shown, report.anchors);
  const hasForfeits = report.agents.some(({ rating }) => rating.forfeits);
  const isPositions = report.kind === "positions";
  const columns = [
    AGENT,
    { title: "Rating", isNumber: true },
    { title: "95 % interval, drawn", class: "drawn", below: axis(scale, NARROW) },
    ...numeric("95 % interval", "Without forfeits", "Forfeits", isPositions ? "Positions" : "Games", "Score"),
  ];
  const rows = report.agents.map(({ label, rating, score, positions }) => {
    const { as_played: played, without_forfeits: chess, forfeits } = rating;
    const of = positions ?? score;
    return [
      label,
      ratingText(played),
      track(scale, played, { label, other: forfeits ? chess : null }),
      intervalText(played),
      chess ? ratingText(chess) : null,
      number(forfeits),
      number(positions ? of.answers : of.games),
      percent(of.share, 1),
    ];
  });
  const by = isNarrowed(report) ? "draws taken into account" : "by the likelihood ratio";
  const marks = hasForfeits ? "; squares are without forfeits" : "";
  const anchors = scale.anchors.length ? "; dashed lines are anchors" : "";
  const caption = `Ratings, ${scaleWords(report)}; ± and intervals are of 95 %, ${by}${marks}${anchors}`;
  return [table(caption, columns, rows)];
}

/** Return how a duel stands by single games and by pairs, and what its test says. */
export function duel({ duel: found }) {
  if (!found) return [];
  const columns = [{ title: "Counted", isHead: true }, { title: "Results" }];
  columns.push(...numeric("Score", "Elo", "Normalized Elo", "Likelihood of superiority"));
  const names = { trinomial: "Games: won, drawn, lost", pentanomial: "Pairs: 2, 1½, 1, ½, 0 points" };
  const rows = Object.keys(names).filter((key) => found[key]).map((key) => [
    names[key],
    found[key].counts.toReversed().join(" · "), // the best first, as everywhere else
    percent(found[key].score, 1),
    ...statistics(found[key]),
  ]);
  const caption = `${found.first} against ${found.second}, as the first one sees it`;
  return [
    found.sprt && sprtBar(found.sprt, found.sprt.bounds),
    found.sprt && element("p", {}, properSigns(found.text)), // else it is the headline
    table(caption, columns, rows),
  ];
}

/** Return Elo, normalized Elo and likelihood; nothing where results do not vary. */
function statistics({ counts, elo: mean, elo_margin: margin, nelo, nelo_margin: ofNelo, los }) {
  if (counts.filter((each) => each).length < 2) return [NOTHING, NOTHING, NOTHING];
  const withMargin = (value, half) => `${elo(value, { isSigned: true })}\u00a0±\u00a0${Math.round(half)}`;
  return [withMargin(mean, margin), withMargin(nelo, ofNelo), likelihood(los)];
}

/** Return what teams are worth beside one call with as many tokens. */
export function controls({ controls: found }) {
  const measured = found.filter((each) => each.is_measured);
  const columns = [{ title: "Team", isHead: true }, { title: "Control" }];
  columns.push(...numeric("Difference, Elo", "95 % interval", "Tokens of control / team"));
  const rows = measured.map(({ team, control, difference, token_ratio: ratio }) => [
    team,
    control,
    difference ? properSigns(difference.text) : null,
    intervalText(difference, { isSigned: true }),
    number(ratio, 2),
  ]);
  return [
    found.map((each) => element("p", {}, properSigns(each.text))),
    rows.length > 0 && table("Teams beside their controls with as many tokens", columns, rows),
  ];
}

/** Return who scored what against whom. */
export function crosstable({ crosstable: found }) {
  if (!found || !found.rows.some((row) => row.games)) return [];
  const places = found.players.map((_, place) => String(place + 1));
  const columns = [{ title: "Player", isHead: true }, ...numeric("Points", "Games", ...places)];
  const rows = found.rows.map((row, place) => [
    `${place + 1}. ${row.player}`,
    points(row.points),
    number(row.games),
    ...row.cells.map((cell, other) => (cell ? results(cell) : other === place ? "×" : null)),
  ]);
  return [table("Everybody against everybody: won–drawn–lost, the strongest first", columns, rows)];
}

/** Return won, drawn and lost games by opponent, by colour and by how they ended. */
export function scores(report) {
  const of = (rowsOf) => report.agents.flatMap((agent) => rowsOf(agent).map((cells) => [agent.label, ...cells]));
  const scored = (row) => [
    resultsBar(row),
    points(row.points),
    number(row.expected, 1),
    percent(row.share),
    shareInterval(row),
  ];
  const tail = [RESULTS, ...numeric("Points", "Expected", "Score", "95 % interval")];
  const byOpponent = of((agent) => agent.by_opponent.map((row) => [row.opponent, opponentRating(row), ...scored(row)]));
  const byColor = of((agent) =>
    Object.entries(agent.by_color).filter(([, row]) => row.games).map(([color, row]) => [capital(color), ...scored(row)]),
  );
  const ended = of((agent) =>
    agent.terminations.map((row) => [capital(row.termination.replaceAll("_", " ")), number(row.games), resultsBar(row)]),
  );
  const part = (title, columns, rows) =>
    rows.length > 0 && [element("h4", {}, title), table(title, [AGENT, ...columns], rows, { isCaptionHidden: true })];
  return [
    part("By opponent", [{ title: "Opponent" }, { title: "Its rating", isNumber: true }, ...tail], byOpponent),
    part("By colour", [{ title: "Colour" }, ...tail], byColor),
    part("How games ended", [{ title: "Ended by" }, { title: "Games", isNumber: true }, RESULTS], ended),
  ];
}

/** Return how many positions were solved, by difficulty. */
export function positions(report) {
  const solved = (label, which, row) => [
    label,
    which,
    `${row.right} of ${row.answers}`,
    percent(row.share),
    shareInterval(row),
    percent(row.expected_share),
  ];
  const rows = report.agents.filter((agent) => agent.positions?.answers).flatMap((agent) => [
    solved(agent.label, "All", agent.positions),
    ...agent.positions.bands.map((band) => solved(agent.label, `${elo(band.from)} to ${elo(band.to)}`, band)),
  ]);
  if (!rows.length) return [];
  const columns = [AGENT, { title: "Difficulty" }, ...numeric("Solved", "Share", "95 % interval", "Expected")];
  return [table("Positions solved, in all and by difficulty in Elo", columns, rows)];
}

function opponentRating({ elo: rating, se }) {
  return se ? `${elo(rating)}\u00a0±\u00a0${Math.round(1.96 * se)}` : elo(rating);
}

function scaleWords({ scale, reference }) {
  if (scale === "anchors") return "in Elo on the anchors' scale";
  if (scale === "positions") return "in Elo on the scale of the positions' difficulties";
  return reference ? `in Elo relative to ${reference}` : "in Elo relative to the opponent";
}
