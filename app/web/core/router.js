// Which view is shown at which address; links are followed without loading the page again.

import { element, fill } from "./element.js";

const routes = [];
let shownAt = null;

/** Show a view at all addresses of a pattern, such as `/matches/{match_id}`; `load` makes it known. */
export function route(pattern, tag, load) {
  const source = pattern.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  routes.push({ matcher: new RegExp(`^${source}$`), tag, load });
}

/** Go to an address of the page. */
export function go(target, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  show();
}

/** Put values into the query of the address without going anywhere; null and "" are left out. */
export function noteQuery(values) {
  const kept = Object.entries(values).filter(([, value]) => value != null && value !== "");
  const search = kept.length ? `?${new URLSearchParams(kept)}` : "";
  history.replaceState(null, "", location.pathname + search + location.hash);
  shownAt = address();
}

function address() {
  return location.pathname + location.search;
}

/** Begin: show what is at the address, and whatever comes after it. */
export function start() {
  addEventListener("popstate", () => {
    if (address() !== shownAt) show(); // or else only the fragment is another: the same view
  });
  document.addEventListener("click", follow);
  show(true);
}

function follow(event) {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
  const target = new URL(link.href);
  if (target.origin !== location.origin || !viewAt(target.pathname)) return;
  if (target.pathname === location.pathname && target.search === location.search && target.hash) return;
  event.preventDefault();
  go(target.pathname + target.search + target.hash);
}

function viewAt(path) {
  for (const { matcher, tag, load } of routes) {
    const found = matcher.exec(path);
    if (found) return { tag, load, parameters: { ...found.groups } };
  }
  return null;
}

async function show(isFirst = false) {
  const main = document.getElementById("main");
  const here = address();
  shownAt = here;
  const found = viewAt(location.pathname);
  if (!found) {
    arrive("Nothing here");
    fill(main, element("h1", {}, "There is nothing here"), element("p", {}, element("a", { href: "/" }, "To the matches")));
    return;
  }
  try {
    await found.load();
  } catch {
    if (here !== shownAt) return;
    arrive("Not loaded");
    fill(main, notLoaded());
    return;
  }
  if (here !== shownAt) return; // somebody has gone on meanwhile
  const view = document.createElement(found.tag);
  view.place = { parameters: found.parameters, query: Object.fromEntries(new URLSearchParams(location.search)) };
  fill(main, view);
  dispatchEvent(new CustomEvent("kibitz:shown"));
  if (isFirst) return;
  scrollTo(0, 0);
  main.focus({ preventScroll: true }); // so that a screen reader begins with what is new
}

/** Tell the rest of the page that there is something else, which has no title of its own. */
function arrive(title) {
  document.title = `${title} – Kibitz`;
  dispatchEvent(new CustomEvent("kibitz:shown"));
}

/** A part of the page could not be fetched: the service is away, or has another version by now. */
function notLoaded() {
  return [
    element("h1", {}, "This part of the page is not there"),
    element("p", { role: "alert" }, "The service cannot be reached just now, or was updated since the page was loaded."),
    element("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Load the page again"),
  ];
}
