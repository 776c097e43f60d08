// What all views share: they know where they are shown, and end what they began when they are left.

/** A view of the page. The router sets `place` (`{ parameters, query }`) before it is shown. */
export class View extends HTMLElement {
  #leaving = new AbortController();

  /** Aborts when the view is left; for requests, streams and listeners. */
  get leaving() {
    return this.#leaving.signal;
  }

  connectedCallback() {
    this.#leaving = new AbortController();
    this.show();
  }

  disconnectedCallback() {
    this.#leaving.abort();
  }

  /** Set the title of the page. */
  title(text) {
    document.title = text ? `${text} – Kibitz` : "Kibitz";
  }

  /** Do something at most once a frame, however often it is asked for. */
  soon(name, action) {
    this.pending ??= new Map();
    if (this.pending.has(name)) return;
    const run = () => {
      this.pending.delete(name);
      if (!this.leaving.aborted) action();
    };
    this.pending.set(name, nextFrame(run));
  }
}

/** Call back before the next paint, or soon, where nothing is painted: a hidden page has no frames. */
export function nextFrame(callback) {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    callback();
  };
  requestAnimationFrame(once);
  setTimeout(once, 250);
}
