import { optional } from "../../base/error.js";
import { count } from "../../query/measure.js";
import type { Where } from "../../query/where.js";
import { isVersionColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import type { TimeRange } from "../../time/time-range.js";
import type { ChangeSource } from "./cells.js";
import type { Part } from "./account.js";

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
/** So many ranges before the earlier one show whether something is new. */
const RANGES_BEFORE = 4;

/**
 * Asks of parts whose runs hold fewer measurements how long the runs last, of those that hold more how
 * many rows are duplicates: two narrow questions a part; and of parts that appeared whether they are
 * back. What can't be asked stays unknown.
 */
export async function withRunEvidence(
  source: ChangeSource,
  { before, after, where = {}, signal }: Compared,
  parts: readonly Part[],
): Promise<Part[]> {
  const asks = { ...source } as Partial<Record<"durations" | "runDurations" | "duplicates", Ask>>;
  /** The one number that is asked of rows of a range. */
  const numberOf = async (ask: Ask, range: TimeRange, own: Part["where"], more: object) => {
    const question = { range, every: "all", where: { ...where, ...own }, ...more };
    const [row] = (await ask({ ...question, ...(signal && { signal }) })).rows();
    const { q50, share, rows } = (row ?? {}) as Partial<Record<string, number | null>>;
    return q50 ?? share ?? rows ?? NaN;
  };
  const seenOf = async (part: Part): Promise<Part> => {
    if (part.kind === "runs hold") {
      const isFewer = part.holds < part.held;
      const ask = isFewer ? (asks.durations ?? asks.runDurations) : asks.duplicates;
      if (ask === undefined) return part;
      // Of a release that is new its program shows what was.
      const all = Object.entries(part.where).filter(([name]) => !isVersionColumn(name));
      const more = isFewer ? { quantiles: [0.5] } : {};
      const was = await numberOf(ask, before, Object.fromEntries(all), more);
      const is = await numberOf(ask, after, part.where, more);
      // Duplicates tell it only where they are enough of it.
      const least = isFewer ? -Infinity : LEAST_REPEATED * (1 - part.before! / part.after!);
      return is - was > least ? { ...part, shown: { was, is } } : part;
    }
    const start = new Date(+before.start - RANGES_BEFORE * (+before.end - +before.start));
    const range = { ...before, start, end: before.start };
    const ask: Ask = (question) => source.ask(question as never);
    const rows = await numberOf(ask, range, part.where, { measures: { rows: count() } });
    return rows > 0 ? { ...part, history: { rows, range } } : part;
  };
  const known: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const values = Object.values(part.where);
    const isAsked = part.kind === "runs hold" || (part.before === 0 && values.length > 0);
    const canAsk = at < MOST_ASKED && values.every((value) => typeof value === "string");
    known.push((isAsked && canAsk && (await optional(() => seenOf(part)))) || part);
  }
  return known;
}
