// Taking a match elsewhere: links, PGN, FEN, a picture for other pages, and an invitation.

import { download, request } from "../core/api.js";
import { element, fill, say } from "../core/element.js";
import { token } from "../core/kept.js";
import { capital, sentence } from "../core/wording.js";

/** The panel of what can be copied and saved. */
export class SharePanel {
  constructor(matchId, leaving, fenShown, leave) {
    this.leave = leave;
    this.matchId = matchId;
    this.leaving = leaving;
    this.message = element("p", { class: "small quiet", role: "status" });
    this.invitations = element("div", { class: "stack" });
    const origin = location.origin;
    const pgn = `/api/matches/${matchId}/pgn`;
    const picture = `${origin}/api/matches/${matchId}/board.svg`;
    const link = `${origin}/matches/${matchId}`;
    this.root = element(
      "section",
      { class: "panel share-panel" },
      element("h2", {}, "Share"),
      this.invitations,
      element(
        "div",
        { class: "row" },
        this.#button("Copy link", () => this.#copy(link, "The link is copied.")),
        this.#button("Copy PGN", async () => this.#copy(await (await request(pgn, { signal: leaving })).text(), "The PGN is copied.")),
        this.#button("Download PGN", () => download(pgn, `kibitz-${matchId}.pgn`)),
        this.#button("Copy FEN", () => this.#copy(fenShown(), "The FEN of the board is copied.")),
        // A plain link or picture sends no token: where the service asks for one, others would get nothing.
        token.get()
          ? this.#button("Download board.svg", () => download(`/api/matches/${matchId}/board.svg`, `kibitz-${matchId}.svg`))
          : [
              this.#button("Copy embed code", () => this.#copy(`<a href="${link}"><img src="${picture}" alt="A match on Kibitz" width="400"></a>`, "Paste it into a page: the picture shows how the match stands whenever it is loaded.")),
              element("a", { class: "button", href: `/api/matches/${matchId}/board.svg`, target: "_blank", rel: "noopener" }, "board.svg"),
            ],
      ),
      this.message,
    );
  }

  /** Offer links by which others can take the human seats that this browser has the tokens of. */
  invite(seats, isOver) {
    const colors = isOver ? [] : Object.keys(seats);
    const key = colors.join();
    if (this.invitations.dataset.key === key) return;
    this.invitations.dataset.key = key;
    fill(
      this.invitations,
      colors.length > 0 && element("p", { class: "small quiet" }, "Whoever opens such a link can move for that side, so give it to one person only."),
      colors.length === 2 && element("p", { class: "small quiet" }, "Both seats are yours, and you act for both, until you leave one to whom you gave its link."),
      element("div", { class: "row" }, colors.map((color) => [
        this.#button(`Copy ${capital(color)}'s seat`, () =>
          this.#copy(
            `${location.origin}/matches/${this.matchId}#seat=${color}:${seats[color]}`,
            `The link to ${capital(color)}'s seat is copied.`,
          )),
        colors.length === 2 && this.#button(`Leave ${capital(color)} to them`, () => this.#leave(color)),
      ])),
    );
  }

  #button(text, action) {
    return element(
      "button",
      {
        type: "button",
        onclick: async () => {
          try {
            await action();
          } catch (problem) {
            if (problem.name !== "AbortError") say(this.message, sentence(problem.message));
          }
        },
      },
      text,
    );
  }

  /** Give a seat up: whoever has the link plays on. */
  #leave(color) {
    this.leave(color);
    say(this.message, `You have left ${capital(color)}'s seat.`);
  }

  async #copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
      say(this.message, done);
    } catch {
      this.#showText(text); // no permission, or no secure context
    }
  }

  /** Where the clipboard cannot be written, show what to copy. */
  #showText(text) {
    const area = element("textarea", { readonly: true, rows: 4, "aria-label": "To be copied" });
    area.value = text;
    fill(this.message, "Copy it from here:", area);
    area.select();
  }
}

/** Return the seat that an address invites to, `{ color, token }`, or null. */
export function invitation(hash) {
  const found = /^#seat=(white|black):([\w-]{10,200})$/.exec(hash);
  return found ? { color: found[1], token: found[2] } : null;
}
