// A list of cards in order: those near to what is seen are drawn, and cards slide where others make room.

import { element } from "../core/element.js";

/** Boards this far beyond the edge of the window are drawn already. */
const MARGIN = "350px";
const SLIDE = { duration: 260, easing: "ease-out" };

/** Cards by the id of their match. */
export class CardGrid {
  #cards = new Map();
  #order = [];
  #observer;
  #still = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(attributes, signal) {
    this.root = element("ul", { ...attributes, role: "list" });
    this.#observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: MARGIN });
    signal.addEventListener("abort", () => this.#observer.disconnect());
  }

  get size() {
    return this.#cards.size;
  }

  /** Return the card of a match, or undefined. */
  of(id) {
    return this.#cards.get(id);
  }

  /** Return all cards that are near to what is seen. */
  near() {
    return [...this.#cards.values()].filter((card) => card.isNear);
  }

  /** Whether a hand or the keyboard is on a card, which then should stay where it is. */
  get isTouched() {
    return this.root.matches(":hover") || this.root.contains(document.activeElement);
  }

  /** Have exactly these cards, in this order; others slide to their places. */
  arrange(cards) {
    if (cards.length === this.#order.length && cards.every((card, index) => card === this.#order[index])) return;
    this.#order = [...cards];
    const before = this.#places();
    const kept = new Set(cards);
    for (const [id, card] of this.#cards) if (!kept.has(card)) this.#drop(id, card);
    let next = this.root.firstElementChild;
    for (const card of cards) {
      if (card.root === next) {
        next = next.nextElementSibling;
        continue;
      }
      this.root.insertBefore(card.root, next);
      if (this.#cards.has(card.id)) continue;
      this.#cards.set(card.id, card);
      this.#observer.observe(card.root);
    }
    this.#slide(before);
  }

  #drop(id, card) {
    this.#observer.unobserve(card.root);
    card.root.remove();
    card.isNear = false;
    this.#cards.delete(id);
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const card = this.#cards.get(target.dataset.match);
      if (card) card.isNear = isIntersecting;
    }
  }

  /** Where the cards lie that somebody sees, or nothing where motion is not wanted. */
  #places() {
    if (this.#still.matches || document.hidden) return new Map();
    return new Map(this.near().map((card) => [card, card.root.getBoundingClientRect()]));
  }

  #slide(before) {
    for (const [card, was] of before) {
      if (!card.root.isConnected) continue;
      const is = card.root.getBoundingClientRect();
      const [x, y] = [was.left - is.left, was.top - is.top];
      if (x || y) card.root.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], SLIDE);
    }
  }
}
