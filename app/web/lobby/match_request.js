// From what is filled into the form to what is asked of the service, and what is wrong before it is asked.

const MOST_TAGS = 20;
const LONGEST_TAG = 50;
/** Who thinks as far as a limit allows; `classical` counts nodes and time only. */
const LIMITS = {
  stockfish: ["nodes", "depth", "time_ms"],
  uci: ["nodes", "depth", "time_ms"],
  classical: ["nodes", "time_ms"],
};

/** Return which limits somebody of a kind takes. */
export function limitsOf(kind) {
  return LIMITS[kind] ?? [];
}

/** Return the opening of a name or an ECO code, in any case, or undefined. */
export function findOpening(openings, text) {
  const wanted = text.trim().toLowerCase();
  return (
    openings.find(({ name }) => name.toLowerCase() === wanted) ??
    openings.find(({ eco }) => eco.toLowerCase() === wanted)
  );
}

/** Return the request for some values, and the mistakes in them: `{ field, message }` each. */
export function requestOf(values, { players, openings, canAnalyse }) {
  const mistakes = [];
  const blame = (field, message) => mistakes.push({ field, message });
  const whole = (name, least, most) => numberAt(values, name, least, most, true, blame);

  const seat = (color) => {
    const player = players.find(({ name }) => name === values[color]);
    if (!player) {
      blame(color, "choose who plays");
      return null;
    }
    if (player.unavailable) blame(color, player.unavailable);
    const limits = limitsOf(player.kind).map((name) => [name, whole(`${color}.${name}`, 1, LARGEST[name])]);
    return given([["name", player.name], ["title", values[`${color}.title`]?.trim()], ...limits]);
  };

  const opening = openingOf(values, openings, blame);
  const fen = values.initial_fen.trim();
  if (fen && opening) blame("opening", "a match begins with an opening or at a position, not both");
  const body = given([
    ["white", seat("white")],
    ["black", seat("black")],
    ["variant", values.variant],
    ["initial_fen", fen],
    ["opening", opening],
    ["time_control", timeControlOf(values, blame)],
    ["max_plies", whole("max_plies", 1, 2000)],
    ["seed", whole("seed", 0, Number.MAX_SAFE_INTEGER)],
  ]);
  body.illegal_moves = given([
    ["retries", whole("illegal_moves.retries", 0, 20)],
    ["feedback", values["illegal_moves.feedback"]],
    ["then", values["illegal_moves.then"]],
  ]);
  body.budget = given([
    ["usd", numberAt(values, "budget.usd", 0, 1_000_000, false, blame)],
    ["tokens", whole("budget.tokens", 0, 1e12)],
    ["calls", whole("budget.calls", 0, 1e9)],
  ]);
  body.adjudication = {};
  for (const [kind, parts] of Object.entries(ADJUDICATION)) {
    if (!values[`adjudication.${kind}`]) continue;
    body.adjudication[kind] = given(
      parts.map(([part, least, most]) => [part, whole(`adjudication.${kind}.${part}`, least, most)]),
    );
  }
  if (values.analysis && canAnalyse) body.analysis = true;
  body.tags = tagsOf(values.tags, blame);
  return { body, mistakes };
}

/** Return an object of those entries that have a value. */
function given(entries) {
  return Object.fromEntries(entries.filter(([, value]) => value != null && value !== ""));
}

const LARGEST = { depth: 100, nodes: 1e9, time_ms: 600_000 };
const ADJUDICATION = {
  resign: [["centipawns", 1, 100_000], ["moves", 1, 1000]],
  draw: [["centipawns", 0, 100_000], ["moves", 1, 1000], ["after_move", 0, 1000]],
};

/** Return a number, or null where there is none; blame one that is out of bounds. */
function numberAt(values, name, least, most, isWhole, blame) {
  const text = values[name]?.trim();
  if (text === "" || text === undefined) return null;
  const value = Number(text);
  const isGood = Number.isFinite(value) && (!isWhole || Number.isInteger(value)) && value >= least && value <= most;
  if (isGood) return value;
  blame(name, `this should be a ${isWhole ? "whole " : ""}number from ${least} to ${most.toLocaleString("en")}`);
  return null;
}

function timeControlOf(values, blame) {
  if (values.time_control !== "own") return values.time_control;
  const text = values.time_control_own.trim();
  if (!text) blame("time_control", "write a time control, such as 300+3");
  return text;
}

function openingOf(values, openings, blame) {
  if (values.opening === "known") {
    const text = values.opening_known.trim();
    if (!text) blame("opening", "choose an opening, or none");
    else if (!findOpening(openings, text)) blame("opening", `no opening here is called ${text}`);
    return findOpening(openings, text)?.name ?? text;
  }
  if (values.opening === "own") {
    const text = values.opening_own.trim().replace(/\s+/g, " ");
    if (!text) blame("opening", "write moves, such as e4 e5 Nf3");
    return text;
  }
  return "";
}

function tagsOf(text, blame) {
  const tags = [...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))];
  if (tags.length > MOST_TAGS) blame("tags", `there may be ${MOST_TAGS} tags`);
  const long = tags.find((tag) => tag.length > LONGEST_TAG);
  if (long) blame("tags", `a tag has up to ${LONGEST_TAG} characters`);
  return tags;
}
