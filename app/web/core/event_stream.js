// Event streams of the service: read as they come, resumed after a loss by the id of the last event.
//
// `EventSource` would do most of it, but cannot send a token, does not tell when a connection is
// silently dead, and hands over a long log event by event.

import { Problem, request } from "./api.js";

/** The service sends a sign of life every 15 s; without one for so long, a connection is dead. */
const SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** A hidden page gives its connection back after so long: a browser has six for all its tabs. */
const HIDDEN_MS = 60_000;

/** How a stream stands: being opened, open, broken (and tried again), resting, or at its end. */
export const State = Object.freeze({
  OPENING: "opening",
  LIVE: "live",
  LOST: "lost",
  RESTING: "resting",
  OVER: "over",
});

/**
 * Follow a stream until it is over or the signal aborts.
 *
 * `deal(events)` gets lists of `{ id, type, data }`, as many as came at once. `tell(state, problem)`
 * hears how the connection stands. `after` is the id to go on from; without it the stream begins
 * with a snapshot. `lastType` ends a stream. With `rests`, a page that nobody sees lets go of its
 * connection and catches up when it is seen again. `time(milliseconds)` hears what the clock of the
 * service shows, to the second, whenever a connection opens.
 */
export async function follow(path, { deal, tell = () => {}, time = () => {}, after = null, lastType, rests, signal }) {
  let last = after;
  let pause = FIRST_PAUSE_MS;
  const remember = (events) => {
    for (const each of events) if (each.id !== null) last = each.id;
    pause = FIRST_PAUSE_MS;
    deal(events);
    return events.some((each) => each.type === lastType);
  };
  const opened = (response) => {
    const shown = Date.parse(response.headers.get("Date"));
    if (!Number.isNaN(shown)) time(shown);
    tell(State.LIVE);
  };
  tell(State.OPENING);
  while (!signal.aborted) {
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    const unwatch = rests ? whenLongHidden(() => ending.abort()) : () => {};
    let problem = null;
    try {
      if (await read(path, last, both, remember, opened)) {
        tell(State.OVER);
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem) problem = error;
      if (problem && isFinal(problem)) {
        tell(State.OVER, problem);
        return;
      }
    } finally {
      unwatch();
    }
    if (signal.aborted) return;
    if (rests && document.hidden && ending.signal.aborted) {
      tell(State.RESTING);
      await visible(signal);
      tell(State.OPENING);
      continue;
    }
    tell(State.LOST, problem);
    await soon(pause, signal);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

function isFinal(problem) {
  return [400, 401, 403, 404, 406, 422].includes(problem.status);
}

/** Read one connection to its end; return whether there is nothing more to come. */
async function read(path, last, signal, remember, opened) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const headers = { Accept: "text/event-stream" };
  if (last !== null) headers["Last-Event-ID"] = String(last);
  try {
    const both = AbortSignal.any([signal, silence.signal]);
    const response = await request(path, { headers, signal: both, cache: "no-store" });
    if (response.status === 204) return true;
    opened(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const events = parse(value);
      if (events.length && remember(events)) {
        await reader.cancel();
        return true;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Return a function that takes pieces of text and returns the events that are complete. */
export function parser() {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop();
    return blocks.map(eventOf).filter((event) => event !== null);
  };
}

function eventOf(block) {
  let id = null;
  let type = "message";
  const data = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "id") id = value;
    else if (name === "event") type = value;
    else if (name === "data") data.push(value);
  }
  return data.length ? { id, type, data: JSON.parse(data.join("\n")) } : null;
}

/** Call back once when the page has been hidden for long; return how to stop that. */
function whenLongHidden(callback) {
  let timer = null;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(callback, HIDDEN_MS);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

/** Wait until the page is seen. */
function visible(signal) {
  return first(signal, (done) => {
    const look = () => document.hidden || done();
    document.addEventListener("visibilitychange", look);
    look();
    return () => document.removeEventListener("visibilitychange", look);
  });
}

/** Wait for a while, or until the network is back, or the page is looked at again. */
function soon(milliseconds, signal) {
  return first(signal, (done) => {
    const timer = setTimeout(done, milliseconds * (0.75 + Math.random() / 2));
    const look = () => document.hidden || done();
    addEventListener("online", done);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", look);
    };
  });
}

function first(signal, begin) {
  return new Promise((resolve) => {
    let end = null;
    let isDone = signal.aborted;
    const done = () => {
      isDone = true;
      end?.();
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done);
    end = begin(done);
    if (isDone) done(); // before it could be told how to end
  });
}
