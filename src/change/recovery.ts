import { HOUR, WEEK } from "../time/span.js";

/** Whether what dropped is back. */
export interface Recovery {
  /**
   * `recovered`: the latest hours lie within the interval of what earlier weeks lead one to expect,
   * and a third of the drop would lie outside; `below`: they lie below it, the newest two
   * nearer to the loss than to the expectation; `unsure`: the hours since the alarm hold too little to
   * tell.
   */
  readonly state: "recovered" | "below" | "unsure";
  /** The latest hours against what was expected of them, as a share; null where nothing is expected. */
  readonly change: number | null;
  /** How many hours that is over. */
  readonly hours: number;
}

const HOURS_OF_WEEK = WEEK / HOUR;
const MOST_WEEKS = 4;
/** Fewer windows of the past give no quantile. */
const FEWEST_WINDOWS = 30;
/** Of the errors of past windows; one-sided. */
const LEVEL = 0.025;
/** A loss that goes on is then four standard deviations from the bound. */
const VISIBLE_PART = 1 / 3;
/** Of a complete stop, whose logarithm has no bound. */
const MOST_LOSS = 0.95;
const LENGTHS = [1, 2, 3, 6, 12, 24, 48, 96];

/**
 * Judges whether hourly counts are back after a drop. The expectation of a window of hours is the
 * median over up to four earlier weeks of the same hours, each scaled by how the week before the drop
 * compares with the week before those hours: nothing from after the drop's beginning enters it, so a
 * loss that goes on can't become what is usual. The interval comes from the errors of the same
 * forecast of windows before the drop.
 *
 * @param counts by the hour, without a gap.
 * @param drop the first alarmed hour and the one after the last, as places.
 */
export function recovery(
  counts: readonly number[],
  drop: { readonly from: number; readonly to: number },
): Recovery {
  const sums = [0];
  for (const count of counts) sums.push(sums.at(-1)! + count);
  const sum = (from: number, to: number) => sums[to]! - sums[from]!;
  /** The low end of the interval of what windows of so many hours hold, so long after what is known. */
  const lowEnd = (hours: number, away: number): number | null => {
    const past: number[] = [];
    for (let at = drop.from - hours; at >= 0; at--) {
      const found = forecastError(sum, at, hours, at + hours - away);
      if (found === null) break;
      past.push(found);
    }
    if (past.length < FEWEST_WINDOWS) return null;
    return past.sort((a, b) => a - b)[Math.floor(LEVEL * past.length)]!;
  };
  // Over all hours from the first alarmed one to the last: single hours are alarmed by chance, too.
  const length = drop.to - drop.from;
  const lost = forecastError(sum, drop.from, length, drop.from);
  const chance = lowEnd(length, length);
  let longest: Recovery = { state: "unsure", change: null, hours: 0 };
  if (lost === null || chance === null) return longest;
  // An alarm is raised where a loss and chance add up: what is beyond chance is surely lost.
  const loss = Math.max(lost, Math.log(1 - MOST_LOSS));
  const visible = Math.min(0, loss - Math.min(0, chance)) * VISIBLE_PART;
  let newest: number | undefined;
  for (const hours of LENGTHS) {
    const start = counts.length - hours;
    if (start < drop.to) break;
    const away = counts.length - drop.from;
    const found = forecastError(sum, start, hours, start + hours - away);
    const bound = lowEnd(hours, away);
    if (found === null || bound === null) break;
    longest = { state: "unsure", change: Math.expm1(found), hours };
    newest ??= found;
    if (found < bound && found < 0) {
      // The last alarmed hour may lie before the drop's end: a longer window then holds lost hours,
      // and says nothing of the newest where these are nearer to the expectation than to the loss.
      return newest < loss / 2 ? { ...longest, state: "below" } : longest;
    }
    // A single hour may be back by chance.
    if (bound >= visible && hours > 1) return { ...longest, state: "recovered" };
  }
  return longest;
}

/**
 * The logarithm of what came in a window over what was expected of it by rows before `known`; null
 * where too few weeks lie before.
 */
function forecastError(
  sum: (from: number, to: number) => number,
  at: number,
  hours: number,
  known: number,
): number | null {
  const expected: number[] = [];
  const first = Math.max(1, Math.ceil((at + hours - known) / HOURS_OF_WEEK));
  for (let week = first; week < first + MOST_WEEKS; week++) {
    const by = week * HOURS_OF_WEEK;
    const level = known - HOURS_OF_WEEK;
    if (level - by < 0) break;
    const [then, now] = [sum(level - by, known - by), sum(level, known)];
    if (then > 0) expected.push((sum(at - by, at - by + hours) * now) / then);
  }
  if (expected.length < 2) return null;
  expected.sort((a, b) => a - b);
  const middle = (expected.length - 1) / 2;
  const usual = (expected[Math.floor(middle)]! + expected[Math.ceil(middle)]!) / 2;
  return Math.log((sum(at, at + hours) + 1) / (usual + 1));
}
