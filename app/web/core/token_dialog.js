// Asking a person for the token of the service, once for all requests that want one.

import { element } from "./element.js";
import { token } from "./kept.js";

let asking = null;

/**
 * Ask for a token, unless there is another one by now than the one that was shown. Return whether it
 * is worth trying again.
 */
export function wantToken(reason, shown) {
  if (token.get() !== shown) return Promise.resolve(true);
  asking ??= ask(reason).finally(() => (asking = null));
  return asking;
}

/** Ask for a token whatever was said before, and begin anew with it. */
export async function enterToken() {
  if (await ask("without one, little can be shown")) location.reload();
}

function ask(reason) {
  return new Promise((resolve) => {
    const input = element("input", {
      id: "service-token", type: "password", autocomplete: "off", required: true, spellcheck: "false",
    });
    const close = (value) => {
      if (value) token.set(value);
      else dispatchEvent(new CustomEvent("kibitz:token-declined"));
      dialog.close();
      dialog.remove();
      resolve(Boolean(value));
    };
    const dialog = element(
      "dialog",
      { class: "dialog", "aria-labelledby": "token-title", oncancel: () => close(null) },
      element("h2", { id: "token-title" }, "This service asks for a token"),
      element("p", {}, `It said: ${reason}. Whoever runs it can give you one; this browser keeps it.`),
      element(
        "form",
        {
          class: "stack",
          onsubmit(event) {
            event.preventDefault();
            close(input.value.trim());
          },
        },
        element("label", { for: "service-token" }, "Token"),
        input,
        element(
          "div",
          { class: "row" },
          element("button", { type: "submit", class: "primary" }, "Use it"),
          element("button", { type: "button", onclick: () => close(null) }, "Not now"),
        ),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
