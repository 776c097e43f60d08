// Requests that start something: whoever sends one again, since no answer came, starts nothing twice.

/** Keys for `Idempotency-Key`, which stay the same as long as the same is asked for. */
export class Attempt {
  #text = null;
  #key = null;

  /** Return the headers of a request with this body: it may have arrived the first time. */
  headers(body) {
    const text = JSON.stringify(body);
    if (this.#text !== text) {
      this.#text = text;
      this.#key = randomKey();
    }
    return { "Idempotency-Key": this.#key };
  }

  /** It has been answered: what is asked for next is something else, though it may look the same. */
  end() {
    this.#text = null;
  }
}

/** Return what nobody else makes; `crypto.randomUUID` is only there in secure contexts. */
function randomKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
