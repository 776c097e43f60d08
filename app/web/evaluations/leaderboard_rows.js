// The rows of the leaderboard: how one is told from another, and what to sort them by.

/** Return by row what it is called in addresses: its identity, with its label where that is not enough. */
export function keysOf(rows) {
  const times = new Map();
  for (const { identity } of rows) times.set(identity, (times.get(identity) ?? 0) + 1);
  return new Map(rows.map((row) => [row, times.get(row.identity) > 1 ? `${row.identity}:${row.label}` : row.identity]));
}

/** Return what people call a row: its label, with its identity where another row has the same label. */
export function nameOf(row, rows) {
  const isShared = rows.some((each) => each !== row && each.label === row.label);
  return isShared ? `${row.label} (${row.identity.slice(0, 6)})` : row.label;
}

const dollars = (text) => (text === null ? null : Number(text));

/** What rows can be sorted by: a value, or null where there is none. */
export const VALUES = {
  rating: (row) => row.rating?.elo ?? null,
  label: (row) => row.label,
  games: (row) => row.games,
  share: (row) => row.share,
  accuracy: (row) => row.accuracy,
  cost: (row) => dollars(row.per_move.cost_usd),
  tokens: (row) => row.per_move.tokens,
  latency: (row) => row.per_move.latency_ms,
  think: (row) => row.per_move.think_ms,
};

/** Return rows in order; those without a value come last either way. */
export function sortedRows(rows, key, isDescending) {
  const value = VALUES[key];
  const way = isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [first, second] = [value(a), value(b)];
    if (first === null || second === null) return (first === null) - (second === null);
    if (typeof first === "string") return way * first.localeCompare(second);
    return way * (first - second);
  });
}
