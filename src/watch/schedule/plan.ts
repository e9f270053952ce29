import { createHash } from "node:crypto";
import { LENGTHS } from "../../time/span.js";
import { periodAfter, periodAt, type Schedule } from "./schedule.js";
import type { Run } from "./history.js";

/** When a notebook is to run. Instants in ms. */
export interface Plan {
  /** The start of the period that it owes a run; undefined where it owes none. */
  readonly period?: number;
  /** Periods that this run stands for: more than one where some were missed, at most 1,000. */
  readonly periods: number;
  /** When it runs next, or should have run. Undefined where it never will. */
  readonly at?: number;
}

/** A clock that was set back by less than this repeats no run. */
const SET_BACK = 5 * LENGTHS.minute;
/** So many runs for one period that were cut off: the next may be what ends the scheduler, too. */
const MOST_CUT_OFF = 2;
const MOST_PERIODS = 1_000;

/**
 * What a notebook owes at an instant, from its schedule and its runs.
 *
 * A period is owed a run until one for it, or for a later period, has ended; what was missed is made
 * up for by one run. A run that was cut off counts as none, the second for the same period counts.
 * Runs that began in the future are of a clock that was wrong, and don't count. A notebook that never
 * ran owes the period that it is in.
 *
 * @param runs the newest first.
 * @param delay ms after the start of a period, such as `jitter` gives.
 */
export function plan(
  now: number,
  schedule: Schedule,
  runs: readonly Pick<Run, "period" | "started" | "state">[],
  delay = 0,
): Plan {
  let covered = -Infinity;
  const cutOff = new Map<string, number>();
  for (const { period, started, state } of runs) {
    if (state === "running" || Date.parse(started) > now + SET_BACK) continue;
    const count = (cutOff.get(period) ?? 0) + 1;
    if (state === "interrupted") cutOff.set(period, count);
    if (state === "interrupted" && count < MOST_CUT_OFF) continue;
    covered = Date.parse(period);
    break;
  }
  const period = periodAt(schedule, now);
  if (period !== undefined && period > covered) {
    return { period, periods: countPeriods(schedule, covered, period), at: period + delay };
  }
  const next = periodAfter(schedule, now);
  return { periods: 0, ...(next !== undefined && { at: next + delay }) };
}

function countPeriods(schedule: Schedule, covered: number, period: number): number {
  if (covered === -Infinity) return 1;
  let count = 1;
  let start = periodAfter(schedule, covered);
  for (; start !== undefined && start < period && count < MOST_PERIODS; count += 1) {
    start = periodAfter(schedule, start);
  }
  return count;
}

/** A notebook's own delay, so that not all begin at once: up to a tenth of the period, 30 s at most. */
export function jitter(name: string, schedule: Schedule): number {
  const period = periodAfter(schedule, 0) ?? 0;
  const length = (periodAfter(schedule, period) ?? period) - period;
  const part = createHash("sha256").update(name).digest().readUInt32BE() / 2 ** 32;
  return Math.floor(part * Math.min(length / 10, 30_000));
}
