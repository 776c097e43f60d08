// The report of an evaluation: what was found, section by section, with its plots and files.

import { download, get } from "../core/api.js";
import { element, fill } from "../core/element.js";
import { token } from "../core/kept.js";
import { many, moment } from "../core/wording.js";
import { properSigns } from "./numerals.js";
import { PlotPictures } from "./plot_pictures.js";
import { ProblemNotice } from "./problem_notice.js";
import { legality, quality, usage } from "./report_conduct.js";
import { controls, crosstable, duel, headline, positions, ratings, scores } from "./report_strength.js";

const FILES = [
  ["report.html", "html", "Page"],
  ["report.json", "json", "JSON"],
  ["report.csv", "csv", "CSV"],
  ["pgn", "pgn", "PGN"],
];

/** A place for a report, which is empty until it is loaded. */
export class ReportPanel {
  constructor(id, signal) {
    this.id = id;
    this.signal = signal;
    this.problems = new ProblemNotice();
    this.content = element("div", { class: "report-content", "aria-busy": "false" });
    const attributes = { class: "report", hidden: true, "aria-labelledby": "report-title" };
    this.element = element("section", attributes, this.problems.element, this.content);
  }

  /** Fetch the report, and show it. */
  async load() {
    this.element.hidden = false;
    this.content.setAttribute("aria-busy", "true");
    if (!this.content.children.length) {
      const words = element("p", { class: "quiet" }, "It is being made …");
      fill(this.content, element("h2", { id: "report-title" }, "Report"), words);
    }
    this.older?.abort(); // what comes of it is not wanted any more
    this.older = new AbortController();
    const signal = AbortSignal.any([this.signal, this.older.signal]);
    try {
      const report = await get(`/api/evaluations/${this.id}/report.json`, { signal });
      const plots = new PlotPictures(this.id, signal);
      fill(this.content, this.head(report), notes(report), sections(report, plots), sources(report));
      this.problems.clear();
      await plots.load();
    } catch (error) {
      this.problems.say(error);
    } finally {
      this.content.setAttribute("aria-busy", "false");
    }
  }

  head(report) {
    const { answers, games } = report.counts;
    const counted = report.kind === "positions" ? many(answers, "answer") : many(games, "scored game");
    const ended = report.ended_at ? `ended ${moment(report.ended_at)}` : `as of ${moment(new Date().toISOString())}`;
    return element(
      "div",
      { class: "panel stack" },
      element("h2", { id: "report-title" }, report.ended_at ? "Report" : "Report so far"),
      element("p", { class: "headline" }, headline(report)),
      element("p", { class: "quiet small" }, `${counted} · begun ${moment(report.created_at)} · ${ended}`),
      this.files(),
    );
  }

  files() {
    const save = async (path, suffix) => {
      this.problems.clear();
      try {
        await download(`/api/evaluations/${this.id}/${path}`, `kibitz-${this.id}.${suffix}`);
      } catch (error) {
        this.problems.say(error);
      }
    };
    return element(
      "div",
      { class: "row", role: "group", "aria-label": "Files" },
      FILES.map(([path, suffix, title]) =>
        element("button", { type: "button", onclick: () => save(path, suffix) }, `Save ${title}`),
      ),
      // A link cannot send a token.
      token.get() === null &&
        element(
          "a",
          { href: `/api/evaluations/${this.id}/report.html`, target: "_blank", rel: "noopener" },
          "Open to print or mail",
          element("span", { class: "visually-hidden" }, " (in a new tab)"),
        ),
    );
  }
}

function notes({ notes: found }) {
  if (!found.length) return null;
  return element(
    "aside",
    { class: "panel keep-in-mind", "aria-labelledby": "notes-title" },
    element("h3", { id: "notes-title" }, "What to keep in mind"),
    element("ul", { class: "notes" }, found.map((each) => element("li", {}, properSigns(each.text)))),
  );
}

function sections(report, plots) {
  return [
    section("Rating", ratings(report), plots.place("rating", "margin")),
    section("The duel", duel(report), plots.place("sprt")),
    section("Team against control", controls(report)),
    section("Positions", positions(report), plots.place("solved")),
    section("Crosstable", crosstable(report)),
    section("Scores", scores(report), plots.place("score")),
    section("Quality of moves", quality(report), plots.place("accuracy")),
    section("Keeping to the rules", legality(report), plots.place("legality")),
    section("Time, tokens and money", usage(report), plots.place("cost")),
  ];
}

/** Return a section, unless there is nothing to say in it. */
function section(title, content, plots = null) {
  const said = content.flat(Infinity).filter(Boolean);
  if (!said.length) return null;
  return element("section", { class: "panel stack" }, element("h3", { class: "section-title" }, title), said, plots);
}

function sources({ plan, manifest }) {
  const expander = (title, data) =>
    element(
      "details",
      {},
      element("summary", {}, title),
      element("pre", { class: "source", tabindex: 0 }, JSON.stringify(data, null, 2)),
    );
  return element(
    "section",
    { class: "panel stack" },
    element("h3", { class: "section-title" }, "How it was done"),
    element("p", { class: "quiet" }, "With the plan and the manifest the evaluation can be repeated."),
    expander("Plan", plan),
    expander("Manifest", manifest),
  );
}
