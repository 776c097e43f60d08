// Requests to the service. Whatever it refuses is a `Problem`, which says why in a sentence.

import { wantToken } from "./token_dialog.js";
import { token } from "./kept.js";

/** What the service refused (RFC 9457), or why it could not be reached. */
export class Problem extends Error {
  constructor(status, content) {
    super(content.detail || content.title || `the service answered ${status}`);
    this.status = status;
    this.kind = (content.type || "").replace("/problems/", "");
    this.field = content.field ?? null;
    this.members = content;
  }
}

/** Return the headers that show who asks, and others. */
export function headersWith(others = {}) {
  const secret = token.get();
  return secret ? { Authorization: `Bearer ${secret}`, ...others } : { ...others };
}

/**
 * Fetch, and return the response; or throw a `Problem`. Where the service wants a token that it does
 * not get, a person is asked for one, and it is tried again.
 */
export async function request(path, options = {}) {
  for (;;) {
    const shown = token.get();
    let response;
    try {
      response = await fetch(path, { ...options, headers: headersWith(options.headers) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, { detail: "the service cannot be reached just now" });
    }
    if (response.ok || response.status === 304) return response;
    const problem = new Problem(response.status, await content(response));
    const isWanting = problem.kind === "unauthenticated" || problem.kind === "insufficient-scope";
    if (!isWanting || !(await wantToken(problem.message, shown))) throw problem;
  }
}

async function content(response) {
  try {
    return await response.json();
  } catch {
    return {}; // such as a proxy's own page
  }
}

/** GET, and return what the JSON says. */
export async function get(path, { query = {}, signal } = {}) {
  const wanted = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const search = wanted.length ? `?${new URLSearchParams(wanted)}` : "";
  return (await request(path + search, { signal })).json();
}

/** POST some data, or nothing, and return what the JSON says. */
export async function post(path, data, { headers = {}, signal } = {}) {
  const sent = data === undefined ? {} : { body: JSON.stringify(data) };
  const type = data === undefined ? {} : { "Content-Type": "application/json" };
  const options = { method: "POST", signal, headers: { ...type, ...headers }, ...sent };
  return (await request(path, options)).json();
}

/** Let the browser save what is at a path, which may need a token that a plain link cannot send. */
export async function download(path, name) {
  const blob = await (await request(path)).blob();
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // it is still being read
}
