// Tells how the stream of the view stands, and says so aloud when it was lost and is back.

import { element, fill, say } from "./element.js";
import { State } from "./event_stream.js";
import { sentence } from "./wording.js";

const EVENT = "kibitz:connection";

/** Tell how the stream of the view stands, for whoever looks at the page. */
export function tellConnection(state, problem = null) {
  dispatchEvent(new CustomEvent(EVENT, { detail: { state, problem } }));
}

class Connection extends HTMLElement {
  connectedCallback() {
    this.wasLost = false;
    this.quiet = element("span", { class: "connection", "data-state": "" });
    this.notice = element("div", { class: "connection-notice", role: "status", hidden: true });
    fill(this, this.quiet);
    document.body.append(this.notice);
    addEventListener(EVENT, ({ detail }) => this.tell(detail));
    addEventListener("kibitz:shown", () => this.tell({ state: null }));
  }

  tell({ state, problem }) {
    this.quiet.dataset.state = state ?? "";
    const words = {
      [State.OPENING]: "connecting …",
      [State.LIVE]: "live",
      [State.LOST]: "connection lost",
      [State.RESTING]: "resting",
      [State.OVER]: "complete",
    };
    say(this.quiet, state === State.OVER && problem ? "" : (words[state] ?? ""));
    if (state === State.LOST) {
      this.wasLost = true;
      this.announce(`${problem ? `${sentence(problem.message)} ` : ""}Connection lost; trying again …`, "lost");
    } else if (state === State.LIVE || (state === State.OVER && !problem)) {
      if (this.wasLost) this.announce("Connected again. Nothing was missed.", "back");
      this.wasLost = false;
    } else if (state === null || state === State.OVER) {
      this.wasLost = false;
      this.notice.hidden = true;
    }
  }

  announce(text, kind) {
    clearTimeout(this.timer);
    this.notice.hidden = false;
    this.notice.dataset.kind = kind;
    say(this.notice, text);
    if (kind === "back") this.timer = setTimeout(() => (this.notice.hidden = true), 6_000);
  }
}

customElements.define("kibitz-connection", Connection);
