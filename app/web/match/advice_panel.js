// What was said of a move: by the specialists, as it arrives; what the selector chose; what was refused.

import { element, refill } from "../core/element.js";
import { capital, duration, many, score, sentence } from "../core/wording.js";

/** The panel; `point(arrows)` draws candidates on the board while somebody looks at them. */
export class AdvicePanel {
  #key = "";

  constructor(point) {
    this.point = point;
    this.heading = element("h2", {}, "Advice");
    this.content = element("div", { class: "stack" });
    this.root = element("section", { class: "panel advice-panel" }, this.heading, this.content);
  }

  /** Show the turn that is being thought over, if the board is at the end, or else that of a ply. */
  show(log, ply, isAtEnd) {
    const { pending } = log;
    const isPending = isAtEnd && !log.isOver && (pending.advice.length || pending.rejected.length || pending.speaking.size);
    const turn = isPending ? pending : log.plies[ply - 1];
    const spoken = [...pending.speaking.values()].reduce((sum, words) => sum + words.length, 0);
    const now = () => `now ${ply} ${log.status} ${pending.advice.length} ${pending.rejected.length} ${spoken}`;
    const key = `${isPending ? now() : `at ${ply} ${turn?.sequence} ${turn?.san}`} ${log.isOver}`;
    if (key === this.#key) return;
    this.#key = key;
    this.point([]); // whoever pointed at a candidate points at nothing now
    const open = new Set([...this.content.querySelectorAll("details[open]")].map((each) => each.dataset.by));
    if (isPending) this.#showPending(log, pending);
    else this.#showPly(log, turn);
    for (const each of this.content.querySelectorAll("details")) each.open = open.has(each.dataset.by);
  }

  #showPending(log, pending) {
    this.heading.textContent = log.status === "paused" ? "Said so far" : `${capital(log.toMove)} is thinking`;
    const speaking = [...pending.speaking].map(([by, words]) =>
      element("article", { class: `advice ${kindOf(by)}` }, element("h3", {}, by, element("span", { class: "chip" }, "speaking …")), element("p", { class: "words" }, words.slice(-600))),
    );
    refill(this.content, pending.rejected.map((each) => refusal(each, log.fen)), pending.advice.map((each) => this.#advice(each, null, log.toMove)), speaking);
  }

  #showPly(log, ply) {
    if (!ply) {
      this.heading.textContent = "Advice";
      refill(this.content, element("p", { class: "quiet" }, log.isOver ? "Pick a move to see what was said before it." : "What is said of the next move appears here."));
      return;
    }
    const before = log.plies[ply.number - 2]?.fen ?? log.startFen;
    this.heading.textContent = `Before ${ply.san ?? ply.uci}`;
    const facts = [
      `${capital(ply.color ?? "")} ${ply.source === "opening" ? "had it from the opening" : `played ${ply.san}`}`,
      ply.elapsed_ms != null && `after ${duration(ply.elapsed_ms)}`,
      ply.decision?.attempts > 1 && `in ${many(ply.decision.attempts, "attempt")}`,
      ply.evaluation && `evaluation ${score(ply.evaluation)}`,
      /\((random|candidate)\)$/.test(ply.source) && `as a last resort: ${ply.source}`,
    ].filter(Boolean);
    refill(
      this.content,
      element("p", { class: "quiet small" }, `${facts.join(", ")}.`),
      ply.decision?.reason && element("p", { class: "decision-reason" }, `“${ply.decision.reason}”`),
      ply.rejected.map((each) => refusal(each, before)),
      ply.advice.map((each) => this.#advice(each, ply, ply.color)),
      chosenFrom(ply),
      !ply.advice.length && !ply.rejected.length && !ply.decision?.reason && element("p", { class: "quiet" }, "Nothing was said."),
    );
  }

  /** Return a card for what somebody said, before a ply of a colour or, yet, before none. */
  #advice(advice, ply, color) {
    const kind = kindOf(advice.by);
    const candidates = advice.candidates.map((candidate) => {
      const isPlayed = ply?.uci === candidate.uci;
      const arrow = [{ uci: candidate.uci, kind, color }];
      return element(
        "li",
        { class: isPlayed ? "played" : null },
        element(
          "button",
          {
            type: "button", class: "candidate", title: "Show it on the board", dataset: { name: `${advice.by} ${candidate.uci}` },
            onpointerenter: () => this.point(arrow), onpointerleave: () => this.point([]),
            onfocus: () => this.point(arrow), onblur: () => this.point([]),
            onclick: () => this.point(arrow), // where nothing hovers, and a tap does not focus
          },
          candidate.san,
        ),
        " ",
        element("span", {}, candidate.reason),
        isPlayed && element("span", { class: "chip live" }, "✓ played"),
      );
    });
    const hasMore = advice.words && advice.words !== advice.candidates[0]?.reason;
    return element(
      "article",
      { class: `advice ${kind}` },
      element("h3", {}, advice.by, advice.abstained && element("span", { class: "chip warn" }, "abstained")),
      advice.abstained && element("p", { class: "small" }, sentence(advice.abstained)),
      candidates.length > 0 && element("ol", { class: "candidates" }, candidates),
      hasMore && element("details", { dataset: { by: advice.by } }, element("summary", { class: "small" }, "All that was said"), element("p", { class: "words" }, advice.words)),
    );
  }
}

/** Return the colour of a member's card; those that nobody knows share one. */
function kindOf(by) {
  return ["tactical", "positional", "selector"].find((each) => by.startsWith(each)) ?? "other";
}

/** Return a sentence on whose candidate it was that the selector chose. */
function chosenFrom(ply) {
  const others = ply.advice.filter((each) => kindOf(each.by) !== "selector" && each.candidates.length);
  if (!others.length || ply.advice.length < 2) return null; // who is alone chooses its own
  const proposed = others.filter((each) => each.candidates.some(({ uci }) => uci === ply.uci)).map((each) => each.by);
  const text = proposed.length ? `${ply.san} was proposed by ${proposed.join(" and ")}.` : `${ply.san} was proposed by no specialist.`;
  return element("p", { class: "chosen small" }, text);
}

/** Return a card for a refused attempt; the position it names is on the board, and left out. */
function refusal(rejected, fen) {
  const detail = rejected.detail.replace(` in ${fen}`, "");
  return element(
    "article",
    { class: "advice refused" },
    element("h3", {}, `Refused: ${rejected.move || "no move"}`, element("span", { class: "chip" }, `attempt ${rejected.attempt}`)),
    element("p", { class: "small" }, sentence(detail)),
  );
}
