// What a plan will likely cost, and what it can cost at most.

import { element } from "../core/element.js";
import { count, money, sentence } from "../core/wording.js";
import { table } from "./table.js";

/** Return the estimate of a dry run: small tables, and notes. */
export function estimateTable({ games, most_games: mostGames, likely, most, players, notes }, kind) {
  const numeric = (...titles) => titles.map((title) => ({ title, isNumber: true }));
  const columns = [{ title: "Of it all", isHead: true }, ...numeric("Likely", "At most")];
  const rows = [
    [kind === "positions" ? "Answers" : "Games", count(games), count(mostGames)],
    ["Model calls", count(likely.calls), count(most.calls)],
    ["Tokens read", count(likely.prompt_tokens), count(most.prompt_tokens)],
    ["Tokens written", count(likely.completion_tokens), count(most.completion_tokens)],
    ["Cost", money(likely.cost_usd), money(most.cost_usd)],
  ];
  const paid = players.filter((each) => each.likely.calls);
  const each = [{ title: "Player", isHead: true }, ...numeric("Games", "Calls, likely", "Cost, likely", "Cost, at most")];
  const shares = paid.map((one) => [
    one.player,
    count(one.games),
    count(one.likely.calls),
    money(one.likely.cost_usd),
    money(one.most.cost_usd),
  ]);
  return element(
    "section",
    { class: "panel stack", "aria-labelledby": "estimate-title" },
    element("h2", { id: "estimate-title" }, "What it will cost"),
    !likely.calls && element("p", {}, "No model is asked, so it costs nothing but time."),
    table("What the plan will likely come to, and what it can come to at most", columns, rows, { isCaptionHidden: true }),
    shares.length > 0 && table("Of it, by player", each, shares),
    notes.length > 0 && element("ul", { class: "notes quiet" }, notes.map((note) => element("li", {}, sentence(note)))),
  );
}
