import { optional } from "../../base/error.js";
import type { Where } from "../../query/where.js";
import { isVersionColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import type { TimeRange } from "../../time/time-range.js";
import type { ChangeSource } from "./cells.js";
import type { Part, RunsHold } from "./account.js";

/** The ranges that were compared, and which rows count. */
export interface Compared {
  readonly before: TimeRange;
  readonly after: TimeRange;
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

type Ask = (options: object) => Promise<Result<object>>;

/** Duplicates tell why runs hold more if they are this part of what is more. */
const LEAST_REPEATED = 0.5;
/** So many causes are asked about. */
const MOST_ASKED = 3;

/**
 * Asks of parts whose runs hold fewer measurements how long the runs last, of those that hold more how
 * many rows are duplicates: two narrow questions a part. What can't be asked stays unknown.
 */
export async function withRunEvidence(
  source: ChangeSource,
  { before, after, where = {}, signal }: Compared,
  parts: readonly Part[],
): Promise<Part[]> {
  const asks = { ...source } as Partial<Record<"durations" | "runDurations" | "duplicates", Ask>>;
  const seenOf = async (part: Part & RunsHold): Promise<Part> => {
    const isFewer = part.holds < part.held;
    const ask = isFewer ? (asks.durations ?? asks.runDurations) : asks.duplicates;
    if (ask === undefined) return part;
    /** The one number that is asked of rows of a range. */
    const numberOf = async (range: TimeRange, own: object) => {
      const question = { range, every: "all", where: { ...where, ...own } };
      const more = { ...(isFewer && { quantiles: [0.5] }), ...(signal && { signal }) };
      const [row] = (await ask({ ...question, ...more })).rows();
      const { q50, share } = (row ?? {}) as Partial<Record<string, number | null>>;
      return q50 ?? share ?? NaN;
    };
    // Of a release that is new its program shows what was.
    const all = Object.entries(part.where).filter(([name]) => !isVersionColumn(name));
    const was = await numberOf(before, Object.fromEntries(all));
    const is = await numberOf(after, part.where);
    // Duplicates tell it only where they are enough of it.
    const least = isFewer ? -Infinity : LEAST_REPEATED * (1 - part.before! / part.after!);
    return is - was > least ? { ...part, shown: { was, is } } : part;
  };
  const known: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const isNamed = Object.values(part.where).every((value) => typeof value === "string");
    const canAsk = part.kind === "runs hold" && at < MOST_ASKED && isNamed;
    known.push((canAsk && (await optional(() => seenOf(part)))) || part);
  }
  return known;
}
