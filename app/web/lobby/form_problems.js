// What is wrong with a form, said where it is wrong.

import { sentence } from "../core/wording.js";

/** Shows problems at the fields of a form, and in a notice what belongs to none. */
export class FormProblems {
  #form;
  #notice;

  constructor(form, notice) {
    this.#form = form;
    this.#notice = notice;
    form.addEventListener("input", ({ target }) => this.#clearAt(target.closest("[data-field]")));
  }

  /** Show problems, `{ field, message }` each, and put the cursor on the first. */
  show(problems) {
    this.clear();
    const rest = [];
    let first = null;
    for (const { field, message } of problems) {
      if (!this.#placeOf(field)) {
        rest.push(sentence(message));
        continue;
      }
      const control = this.say(field, message);
      first ??= control;
    }
    this.#notice.hidden = !rest.length;
    this.#notice.textContent = rest.join(" ");
    if (first) focusOn(first);
    else if (rest.length) this.#notice.scrollIntoView({ block: "nearest" });
  }

  /** Show one problem at a field, and leave the cursor where it is; return the control at fault. */
  say(field, message) {
    const place = this.#placeOf(field);
    const wrong = wrongIn(place);
    wrong.hidden = false;
    wrong.textContent = sentence(message);
    const control = controlIn(place);
    if (control && control.type !== "radio") control.setAttribute("aria-invalid", "true");
    return control;
  }

  /** Nothing is known to be wrong with a field, or with all. */
  clear(field = null) {
    const places = field ? [this.#placeOf(field)] : this.#form.querySelectorAll("[data-field]");
    for (const place of places) this.#clearAt(place);
    if (!field) this.#notice.hidden = true;
  }

  /** Return the place for a field such as `tags.0`, by its longest part that has one. */
  #placeOf(field) {
    for (let name = field ?? ""; name; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
      const place = this.#form.querySelector(`[data-field="${CSS.escape(name)}"]`);
      if (place) return place;
    }
    return null;
  }

  #clearAt(place) {
    if (!place) return;
    const wrong = wrongIn(place);
    wrong.hidden = true;
    wrong.textContent = ""; // what is hidden would still describe the control
    for (const control of place.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
  }
}

function wrongIn(place) {
  return place.querySelector(":scope > .wrong");
}

/** Return the control that has to change: a text or a list, or else the choice that was taken. */
function controlIn(place) {
  const controls = [...place.querySelectorAll("input, select, textarea")];
  const isHidden = (control) => control.closest("[hidden]") !== null;
  return (
    controls.find((control) => control.type !== "radio" && !isHidden(control)) ??
    controls.find((control) => control.checked) ?? controls[0] ?? null
  );
}

function focusOn(control) {
  for (let parent = control; parent; parent = parent.parentElement) {
    if (parent.localName === "details") parent.open = true;
  }
  control.focus();
}
