// What people call the kinds of evaluations and how they stand.

import { element } from "../core/element.js";
import { capital } from "../core/wording.js";

/** By kind: its name, and what it asks, in a sentence. */
export const KINDS = {
  ladder: {
    title: "Ladder",
    explanation: "How strong is each agent? It plays opponents of known rating until its own is known well enough.",
  },
  duel: {
    title: "Duel",
    explanation: "Is the first agent stronger than the second? They play each other, perhaps until a test decides.",
  },
  pool: {
    title: "Pool",
    explanation: "How do many agents compare? Everybody plays everybody, and all are rated at once.",
  },
  positions: {
    title: "Positions",
    explanation: "Who finds the best moves? Each agent is asked once in every position of a suite, which is cheap.",
  },
};

/** How an evaluation can stand, in the order in which it comes about. */
export const STATUSES = ["created", "running", "paused", "finished", "cancelled"];

const WORDS = { created: "waiting to begin" };
const CLASSES = { running: "chip live", paused: "chip warn" };

/** Return what people say of a status. */
export function statusWords(status) {
  return WORDS[status] ?? status;
}

/** Return a status as a chip. */
export function statusChip(status) {
  return element("span", { class: CLASSES[status] ?? "chip" }, capital(statusWords(status)));
}

/** Return whether nothing more will happen. */
export function isOver(state) {
  return state.status === "finished" || state.status === "cancelled";
}
