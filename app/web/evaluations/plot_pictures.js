// The plots of a report, as pictures in the colours of the theme. The service draws them.

import { get } from "../core/api.js";
import { element, fill } from "../core/element.js";
import { PALETTE } from "./palette.js";

/** By the colour that a plot is drawn with, the one that it has in the dark. */
const IN_THE_DARK = new Map(Object.entries(PALETTE.light).map(([name, color]) => [color, PALETTE.dark[name]]));

/** The plots of one evaluation: places are asked for first, and filled when the plots are there. */
export class PlotPictures {
  constructor(evaluationId, signal) {
    this.path = `/api/evaluations/${evaluationId}/plots`;
    this.signal = signal;
    this.places = new Map();
    this.plots = [];
    this.addresses = [];
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", () => this.draw(), { signal });
    const observer = new MutationObserver(() => this.draw());
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.revoke();
    });
  }

  /** Return a place for the plots with these keys; it stays hidden where there are none. */
  place(...keys) {
    const made = element("div", { class: "plots", hidden: true });
    this.places.set(made, keys);
    return made;
  }

  /** Fetch the plots, and show each in its place. */
  async load() {
    this.plots = (await get(this.path, { signal: this.signal })).plots;
    this.draw();
  }

  draw() {
    this.revoke();
    for (const [place, keys] of this.places) {
      const shown = this.plots.filter((plot) => keys.includes(plot.key));
      place.hidden = !shown.length;
      fill(place, shown.map((plot) => this.figure(plot)));
    }
  }

  figure({ key, title, caption, svg }) {
    const picture = new Blob([this.isDark ? darkened(svg) : svg], { type: "image/svg+xml" });
    const address = URL.createObjectURL(picture);
    this.addresses.push(address);
    return element(
      "figure",
      { class: "plot", "data-key": key },
      element("img", { src: address, alt: `${title}. ${caption}` }),
      element("figcaption", { class: "quiet small" }, element("strong", {}, `${title}. `), caption),
    );
  }

  get isDark() {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : this.scheme.matches;
  }

  revoke() {
    for (const address of this.addresses) URL.revokeObjectURL(address);
    this.addresses = [];
  }
}

function darkened(picture) {
  return picture.replace(/\b(fill|stroke)="(#[0-9a-f]{6})"/g, (found, what, color) =>
    IN_THE_DARK.has(color) ? `${what}="${IN_THE_DARK.get(color)}"` : found,
  );
}
