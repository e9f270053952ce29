import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { alarm, type AlarmFinding } from "../change/alarm.js";
import { weekBefore } from "../change/compare.js";
import { explain, type Explanation } from "../change/explain.js";
import type { Finding } from "../change/finding.js";
import type { FreshnessRow } from "../change/freshness.js";
import type { Measurements } from "../measurements/measurements.js";
import type { Where } from "../query/where.js";
import type { Result } from "../result/result.js";
import { between, checkRange, last, type TimeRange } from "../time/time-range.js";
import { HOUR, WEEK } from "../time/span.js";

/** What `lab.drop` takes. */
export interface DropOptions {
  /** The time in question, up to the present: `last("7 days", { now: lab.now })`. The eight weeks before it are learnt from. */
  readonly range: TimeRange;
  /** Which measurements count. */
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

/** The answer of `lab.drop`: an alarm, and what else is known of it. */
export interface DropFinding extends AlarmFinding {
  /**
   * `dropping`: fewer come than expected, until the last whole hour; `silent`: none comes any more;
   * `over`: there was a drop in the range, and the last two hours are as expected; `usual`;
   * `unknown`: it can't be told, or not even a complete stop of two hours could.
   */
  readonly state: "dropping" | "silent" | "over" | "usual" | "unknown";
  /** When the alarm that goes on, else the largest, began. */
  readonly since: Date | null;
  /** Which values of which dimensions account for it; null without a drop, or where that can't be asked. */
  readonly why: Explanation | null;
  /** What `lab.freshness()` said: how late rows are stored, and who is silent. */
  readonly freshness: Finding;
}

/** So long after its last alarmed hour a drop is over. */
const CALM = 2 * HOUR;
/** A slow decline is told at the end of a week. */

/**
 * `lab.drop({ range })`: did the flow of measurements drop? `alarm` over the counts of each hour,
 * without the hours for which rows may still be stored (by what `lab.freshness` tells of the lag),
 * and what is behind the drop, against the same hours of the week before.
 */
export async function drop(
  measurements: Measurements,
  freshness: () => Promise<Finding>,
  options: DropOptions,
): Promise<DropFinding> {
  const action = "tell whether the flow dropped";
  refuseUnknown(options, ["range", "where", "signal"], action);
  const range = checkRange((options as DropOptions | undefined)?.range, action);
  const { where = {}, signal } = options;
  const fresh = await freshness();
  const [first] = (fresh.result as Result<FreshnessRow>).rows();
  const measured = first?.program === null ? first : undefined;
  // A present that lies before the range's end: the data of an embedded database ended.
  const present = measured === undefined ? +range.end : +measured.newest + measured.age * 1000;
  const end = new Date(Math.min(+range.end, Math.max(present, +range.start + 1)));
  const { timeZone } = range;
  const learnt = last("8 weeks", { now: range.start, timeZone });
  const counts = await measurements.counts({
    range: between(learnt.start, end, { timeZone }),
    ...{ every: "hour", where, ...(signal && { signal }) },
  });
  const lag = Math.ceil((measured?.lag_q95 ?? 0) / 60);
  const told = await alarm(counts, {
    since: range.start,
    ...(lag > 0 && { lag: `${lag} minutes` }),
  });
  const judged = (told.buckets as Result<{ t: Date; state: string }>)
    .rows()
    .filter(({ state }) => !["learning", "late", "incomplete", "unknown"].includes(state));
  const known = judged.length === 0 ? 0 : Number(judged.at(-1)!.t) + HOUR;
  const alarms = (told.result as Result<{ t: Date; until: Date; kind: string }>).rows();
  const isOn = ({ kind, until }: (typeof alarms)[number]) =>
    Number(until) > known - (kind === "decline" ? WEEK : CALM);
  const now = alarms.find(isOn);
  const shown = now ?? alarms[0];
  const silent = measured?.silent === true || now?.kind === "silence";
  const state = silent
    ? "silent"
    : now !== undefined
      ? "dropping"
      : shown !== undefined
        ? "over"
        : judged.length === 0 || told.least === null
          ? "unknown"
          : "usual";
  const why = shown === undefined || silent ? null : await causes(measurements, shown, options);
  const head = {
    dropping: "Fewer measurements come than expected, until now.",
    silent: "No measurement comes any more.",
    over: "There was a drop, and it is over.",
    usual: "",
    unknown: "",
  }[state];
  const sentences = [head, told.sentence, why?.found ? why.sentence : "", fresh.sentence];
  return {
    ...{ ...told, state, why, freshness: fresh },
    found: silent || shown !== undefined,
    since: silent ? (measured?.newest ?? shown?.t ?? null) : (shown?.t ?? null),
    sentence: sentences.filter((text) => text !== "").join(" "),
  };
}

async function causes(
  measurements: Measurements,
  { t, until }: { readonly t: Date; readonly until: Date },
  { range, where, signal }: DropOptions,
): Promise<Explanation | null> {
  const after = between(t, until, { timeZone: range.timeZone });
  try {
    return await explain(measurements, {
      ...{ before: weekBefore(after), after },
      ...{ ...(where && { where }), ...(signal && { signal }) },
    });
  } catch (error) {
    // Without the columns to look in, or the memory, that it dropped is still worth knowing.
    if (error instanceof ProbelabError && error.code !== "ABORTED") return null;
    throw error;
  }
}
