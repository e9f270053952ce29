import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Answer } from "../database/database.js";
import { counted } from "../base/text.js";
import { costOf } from "../result/origin.js";
import type { TimeRange } from "../time/time-range.js";
import { progressListener, withProgress } from "../base/query-progress.js";
import { isMerged } from "./merge-rows.js";
import type { AnswerRow, Plan } from "./plan.js";
import { DAY, HOUR } from "../time/span.js";

/** An answer at once (`table`), or the rows of windows, to be merged. */
export interface DividedAnswer extends Omit<Answer, "table"> {
  readonly table?: ColumnTable;
  readonly windows: readonly AnswerRow[];
  /** A sentence on how it was asked, where it wasn't at once. */
  readonly notes: readonly string[];
}

/** True where a shorter range would take what the server has not: memory, or time. */
export function isTooMuch(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  return /^(MEMORY_LIMIT_EXCEEDED|TIMEOUT_EXCEEDED|TOO_SLOW)$/.test(code);
}

/**
 * Asks at once; a question that exceeds the server's limits is split into time windows, newest first,
 * whose rows merge exactly: counts and sums add up, quantiles are found among all numbers and how
 * often each occurs. Each window reads its runs whole and counts those that start in it.
 *
 * @param part asks for the rows of a part of the range, whose quantiles are how often each number occurs.
 * @throws ProbelabError with the server's error if a measure can't be merged, or if even an hour is
 *   too much.
 */
export async function askInWindows(
  { source, aggregates }: Pick<Plan, "source" | "aggregates">,
  range: TimeRange,
  whole: () => Promise<Answer>,
  part: (window: TimeRange) => Promise<Answer>,
): Promise<DividedAnswer> {
  try {
    return { ...(await whole()), windows: [], notes: [] };
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    const merges = aggregates.every((aggregate) => aggregate.spread || isMerged(aggregate));
    const why =
      source.whole ?? (merges ? undefined : "counts of different values can't be added up");
    if (why === undefined) return inWindows(range, source.daysOnly ? DAY : HOUR, part);
    const { message, code = "" } = error as ProbelabError;
    throw new ProbelabError(
      `${message} Parts of the range would fit, but not be the whole: ${why}.`,
      { cause: error, code },
    );
  }
}

async function inWindows(
  range: TimeRange,
  least: number,
  part: (window: TimeRange) => Promise<Answer>,
): Promise<DividedAnswer> {
  const answers: Omit<Answer, "table">[] = [];
  const windows: AnswerRow[] = [];
  let step = (+range.end - +range.start) / 4;
  let { end } = range;
  while (end > range.start) {
    const unit = step >= 2 * DAY ? DAY : least;
    const start = Math.max(+range.start, Math.floor((+end - step) / unit) * unit);
    const left = Math.ceil((+end - +range.start) / (+end - start));
    const at = { at: answers.length + 1, of: answers.length + left };
    const listener = progressListener();
    const send = () => part({ ...range, start: new Date(start), end });
    try {
      const { table, ...cost } = await (listener
        ? withProgress((news) => listener({ ...news, part: at }), send)
        : send());
      answers.push(cost);
      for (const row of table.objects() as AnswerRow[]) windows.push(row);
      end = new Date(start);
    } catch (error) {
      if (!isTooMuch(error) || +end - start <= least) throw error;
      step = (+end - start) / 2;
    }
  }
  const amount = counted(answers.length, "window of time", "windows of time");
  return {
    ...costOf(...answers),
    retries: answers.reduce((sum, { retries }) => sum + retries, 0),
    askedAt: answers[0]!.askedAt,
    windows,
    notes: [`Asked in ${amount}, since the server could not answer the whole at once.`],
  };
}
