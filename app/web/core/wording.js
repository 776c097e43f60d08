// How the page writes what the service tells: players, clocks, scores, money and times.

/** Return what people call somebody who fills a seat. */
export function playerName(seat) {
  return seat.title || seat.name;
}

/** Return whether a match is known from a PGN: whoever played it plays elsewhere. */
export function isImported(settings) {
  return settings.white.name.startsWith("pgn:");
}

/** Return a text that begins with a capital letter. */
export function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : text;
}

/** Return a text as a sentence, for what the service says in half of one. */
export function sentence(text) {
  return text ? `${capital(text)}${/[.!?…]$/.test(text) ? "" : "."}` : "";
}

/** Return a clock as it is read aloud and shown: 1:05:03, 04:59, and tenths under 20 s. */
export function clock(milliseconds) {
  const left = Math.max(0, milliseconds);
  if (left < 20_000) return `00:${String(Math.floor(left / 1000)).padStart(2, "0")}.${Math.floor(left / 100) % 10}`;
  const seconds = Math.floor(left / 1000);
  const minutes = String(Math.floor(seconds / 60) % 60).padStart(2, "0");
  const rest = String(seconds % 60).padStart(2, "0");
  return seconds < 3600 ? `${minutes}:${rest}` : `${Math.floor(seconds / 3600)}:${minutes}:${rest}`;
}

/** Return how long something takes, for people: "850 ms", "12 s", "3 min", "2 h 5 min". */
export function duration(milliseconds) {
  if (milliseconds == null) return "";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Return an evaluation from White's side: "+0.35", "−1.20", "#3", "#−3", and "#" where it is mate. */
export function score(evaluation, digits = 2) {
  if (!evaluation) return "";
  if (evaluation.mate === 0) return "#";
  if (evaluation.mate != null) return `#${signed(evaluation.mate, "")}`;
  return signed(evaluation.centipawns / 100, "+", digits);
}

function signed(value, plus, digits = 0) {
  const text = Math.abs(value).toFixed(digits);
  if (value < 0 && Number(text) !== 0) return `−${text}`;
  return value > 0 && Number(text) !== 0 ? `${plus}${text}` : text;
}

/** Return White's chances in percent, by the curve that Lichess published; `by` is who has mated. */
export function winShare(evaluation) {
  if (evaluation.mate === 0) return evaluation.by === "black" ? 0 : 100;
  if (evaluation.mate != null) return evaluation.mate > 0 ? 100 : 0;
  const centipawns = Math.max(-1000, Math.min(1000, evaluation.centipawns));
  return 50 + 50 * (2 / (1 + Math.exp(-0.00368208 * centipawns)) - 1);
}

/** Return dollars, exact text that they are, as people write them. */
export function money(dollars) {
  if (dollars == null) return "unknown";
  const value = Number(dollars);
  if (value === 0) return "$0";
  if (value < 0.01) return `$${value.toPrecision(2)}`;
  return `$${value.toFixed(value < 1 ? 3 : 2)}`;
}

/** Return a count with thin spaces between thousands. */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, " ");
}

/** Return a number and its noun: "1 game", "3 games". */
export function many(number, noun, nouns = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

/** Return how long ago something was. */
export function ago(time, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

/** Return a moment in the reader's own time. */
export function moment(time) {
  return time ? new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
}

/** Return a time control for people: "3 min + 2 s", or as it is written where it is a long one. */
export function timeControl(text) {
  const [, seconds, increment] = /^(\d+)(?:\+(\d+))?$/.exec(text) ?? [];
  if (seconds === undefined) return `time control ${text}`;
  const base = seconds % 60 ? `${seconds} s` : `${seconds / 60} min`;
  return Number(increment) ? `${base} + ${increment} s` : base;
}

const VARIANTS = { standard: "Chess", chess960: "Chess960", "kings-cooking": "King's Cooking" };

/** Return what people call a variant. */
export function variantName(variant) {
  return VARIANTS[variant] ?? variant;
}

/** Return a result as it is printed: with a real half. */
export function resultText(result) {
  return result === "1/2-1/2" ? "½–½" : result === "*" ? "" : result.replace("-", "–");
}
