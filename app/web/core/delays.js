// Delays of time controls: how long somebody thinks before their clock begins to run.

const PERIOD = /^(?:(\d+)\/)?[\d.]+(?:([+db])([\d.]+))?$/;

/**
 * Return the delay of a move, in milliseconds, by the time control as the service writes it and how
 * many moves that side has played: `delayOf("40/5400d30:1800", 39)` is 30,000, and after that 0.
 */
export function delayOf(timeControl, moves) {
  let left = moves;
  for (const text of timeControl?.split(":") ?? []) {
    const [, count, kind, seconds] = PERIOD.exec(text) ?? [];
    if (count !== undefined && left >= Number(count)) left -= Number(count);
    else return kind === "d" ? 1000 * Number(seconds) : 0;
  }
  return 0;
}
