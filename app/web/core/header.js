// The header of every page: where one can go, and how it looks and sounds.

import { element, fill } from "./element.js";
import { sound, theme } from "./kept.js";
import { enterToken } from "./token_dialog.js";

const LINKS = [
  ["/", "Matches"],
  ["/evaluations", "Evaluations"],
  ["/leaderboard", "Leaderboard"],
  ["/compare", "Compare"],
];
const THEMES = [null, "light", "dark"];
const THEME_WORDS = { null: "as the system", light: "light", dark: "dark" };

class Header extends HTMLElement {
  connectedCallback() {
    this.nav = element("nav", { "aria-label": "Pages" });
    fill(
      this,
      element(
        "header",
        { class: "site-header" },
        element(
          "a",
          { class: "brand", href: "/" },
          element("img", { src: new URL("../kibitz.svg", import.meta.url).pathname, alt: "", width: 28, height: 28 }),
          "Kibitz",
        ),
        this.nav,
        element(
          "div",
          { class: "row header-tools" },
          this.tokenButton(),
          this.soundButton(),
          this.themeButton(),
          element("a", { class: "button primary", href: "/new" }, "New match"),
        ),
      ),
    );
    addEventListener("kibitz:shown", () => this.mark());
    this.mark();
  }

  mark() {
    const here = location.pathname;
    const isAt = (path) => here === path || (path !== "/" && here.startsWith(`${path}/`));
    fill(
      this.nav,
      LINKS.map(([path, text]) =>
        element("a", { href: path, "aria-current": isAt(path) ? "page" : null }, text),
      ),
    );
  }

  /** The way back for whoever did not want to give a token at first. */
  tokenButton() {
    const button = element("button", { type: "button", hidden: true, onclick: enterToken }, "Enter a token");
    addEventListener("kibitz:token-declined", () => (button.hidden = false));
    return button;
  }

  themeButton() {
    const button = element("button", {
      class: "icon",
      type: "button",
      onclick: () => {
        theme.set(THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length]);
        show();
      },
    });
    const show = () => {
      button.textContent = { null: "◐", light: "☀", dark: "☾" }[theme.get()];
      button.title = `Theme: ${THEME_WORDS[theme.get()]}`;
      button.setAttribute("aria-label", button.title);
    };
    show();
    return button;
  }

  soundButton() {
    const button = element("button", {
      class: "icon",
      type: "button",
      onclick: () => {
        sound.set(!sound.get());
        show();
      },
    });
    const show = () => {
      button.textContent = "♪";
      button.title = sound.get() ? "Sound: on" : "Sound: off";
      button.setAttribute("aria-label", "Sound");
      button.setAttribute("aria-pressed", String(sound.get()));
    };
    show();
    return button;
  }
}

customElements.define("kibitz-header", Header);
