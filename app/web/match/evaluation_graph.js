// Who stands better: a bar beside the board, and its course as a graph.

import { element, say, svg } from "../core/element.js";
import { score, winShare } from "../core/wording.js";

const WIDTH = 600;
const HEIGHT = 100;

/** The bar beside the board. */
export class EvaluationBar {
  constructor() {
    this.share = element("span", { class: "share" });
    this.text = element("span", { class: "bar-score" });
    this.root = element("div", { class: "evaluation-bar", role: "img" }, this.share, this.text);
  }

  /** Show the newest evaluation up to some ply, as White below or above sees it. */
  show(log, ply, orientation) {
    const evaluation = log.plies.slice(0, ply).findLast((each) => each.evaluation)?.evaluation ?? null;
    this.root.classList.toggle("unknown", !log.plies.some((each) => each.evaluation));
    const share = evaluation ? winShare(evaluation) : 50;
    this.share.style.height = `${share}%`;
    this.root.classList.toggle("flipped", orientation === "black");
    say(this.text, score(evaluation, 1));
    this.root.classList.toggle("white-ahead", share >= 50);
    this.root.setAttribute("aria-label", evaluation ? `Evaluation ${score(evaluation)}, from White's side` : "Not evaluated yet");
  }
}

/** The graph over all plies; `go(ply)` is called when somebody clicks. */
export class EvaluationGraph {
  #drawn = "";

  constructor(go) {
    this.area = svg("path", { class: "graph-area" });
    this.line = svg("path", { class: "graph-line" });
    this.here = svg("line", { class: "graph-here", y1: 0, y2: HEIGHT });
    this.unknown = svg("rect", { class: "graph-unknown", y: 0, height: HEIGHT }); // after the last evaluation
    this.picture = svg(
      "svg",
      { class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
      svg("rect", { class: "graph-ground", width: WIDTH, height: HEIGHT }),
      this.area,
      this.unknown,
      svg("line", { class: "graph-middle", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }),
      this.line,
      this.here,
    );
    this.picture.addEventListener("click", (event) => {
      const box = this.picture.getBoundingClientRect();
      go(Math.round(((event.clientX - box.left) / box.width) * this.plies));
    });
    this.judge = element("p", { class: "quiet small graph-judge" });
    this.root = element("section", { class: "panel graph-panel", "aria-label": "Evaluation" }, this.picture, this.judge);
    this.plies = 0;
  }

  /** Show the course of a match, and where the board is in it. */
  show(log, ply) {
    const points = [[0, 50]];
    for (const each of log.plies) if (each.evaluation) points.push([each.number, winShare(each.evaluation)]);
    this.root.hidden = points.length < 2;
    if (this.root.hidden) return;
    say(this.judge, log.settings.analysis ? "As Stockfish sees it." : "As whoever moved sees it: this match is not analysed.");
    this.plies = log.plies.length;
    const x = (number) => ((WIDTH * number) / Math.max(1, this.plies)).toFixed(1);
    const y = (share) => (HEIGHT - (HEIGHT * share) / 100).toFixed(1);
    const course = points.map(([number, share]) => `${x(number)} ${y(share)}`).join("L");
    if (course !== this.#drawn) {
      this.#drawn = course;
      this.line.setAttribute("d", `M${course}`);
      this.area.setAttribute("d", `M${x(0)} ${HEIGHT}L${course}L${x(points.at(-1)[0])} ${HEIGHT}z`);
      this.unknown.setAttribute("x", x(points.at(-1)[0]));
      this.unknown.setAttribute("width", WIDTH - x(points.at(-1)[0]));
      const last = log.plies.findLast((each) => each.evaluation);
      this.picture.setAttribute("aria-label", `Course of the evaluation over ${this.plies} plies; last ${score(last.evaluation)}`);
    }
    for (const name of ["x1", "x2"]) this.here.setAttribute(name, x(ply));
  }
}
