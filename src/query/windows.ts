import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Answer } from "../database/database.js";
import { counted } from "../base/text.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { progressListener, withProgress } from "../progress/query-progress.js";
import { isMerged } from "./merge-rows.js";
import type { Aggregate, AnswerRow } from "./plan.js";
import type { Source } from "./source.js";
import { DAY, HOUR } from "../time/span.js";

/** A question whose answer can be made of those of parts of its range. */
interface Divided {
  readonly range: TimeRange;
  readonly source: Source;
  readonly aggregates: readonly Pick<Aggregate, "merge" | "spread">[];
  readonly ask: () => Promise<Answer>;
  /** Asks for the rows of a part of the range, whose quantiles are how often each number occurs. */
  readonly part: (window: TimeRange) => Promise<Answer>;
  /** True keeps the windows that were asked before an interrupt (default false: an error). */
  readonly keep?: true;
}

/** An answer at once (`table`), or the rows of windows, to be merged. */
export interface DividedAnswer extends Omit<Answer, "table"> {
  readonly table?: ColumnTable;
  readonly windows: readonly AnswerRow[];
  /** The part of the range that was asked before the question was stopped; else all of it. */
  readonly range: TimeRange;
  /** A sentence on how it was asked, and one on what is left out if it was stopped. */
  readonly notes: readonly string[];
  readonly reductions: readonly string[];
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
 * @throws ProbelabError with the server's error if a measure can't be merged, or if even an hour is
 *   too much.
 */
export async function askDividing(question: Divided): Promise<DividedAnswer> {
  const { range, source, aggregates } = question;
  try {
    return { ...(await question.ask()), windows: [], range, notes: [], reductions: [] };
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    const merges = aggregates.every((aggregate) => aggregate.spread || isMerged(aggregate));
    const why =
      source.whole ?? (merges ? undefined : "counts of different values can't be added up");
    if (why === undefined) return inWindows(question);
    const { message, code = "" } = error as ProbelabError;
    throw new ProbelabError(
      `${message} Parts of the range would fit, but not be the whole: ${why}.`,
      {
        cause: error,
        code,
      },
    );
  }
}

async function inWindows({ range, source, part, keep }: Divided): Promise<DividedAnswer> {
  const windows: AnswerRow[] = [];
  const cost = { rowsRead: 0, bytesRead: 0, seconds: 0, retries: 0, askedAt: new Date() };
  let partial: string | undefined;
  let asked = 0;
  const least = source.daysOnly === undefined ? HOUR : DAY;
  let step = (+range.end - +range.start) / 4;
  let { end } = range;
  while (end > range.start) {
    const unit = step >= 2 * DAY ? DAY : least;
    const start = Math.max(+range.start, Math.floor((+end - step) / unit) * unit);
    const left = Math.ceil((+end - +range.start) / (+end - start));
    const listener = progressListener();
    const at = { at: asked + 1, of: asked + left };
    const send = () => part({ ...range, start: new Date(start), end });
    try {
      const answer = await (listener
        ? withProgress((news) => listener({ ...news, part: at }), send)
        : send());
      for (const row of answer.table.objects() as AnswerRow[]) windows.push(row);
      cost.rowsRead += answer.rowsRead;
      cost.bytesRead += answer.bytesRead;
      cost.seconds += answer.seconds;
      cost.retries += answer.retries;
      partial ??= answer.partial;
      asked += 1;
    } catch (error) {
      if ((error as ProbelabError).code === "ABORTED" && asked > 0 && keep) break;
      if (!isTooMuch(error) || +end - start <= least) throw error;
      step = (+end - start) / 2;
      continue;
    }
    end = new Date(start);
  }
  const amount = counted(asked, "window of time", "windows of time");
  const rest = formatRange({ ...range, end });
  return {
    ...cost,
    ...(partial !== undefined && { partial }),
    windows,
    range: { ...range, start: end },
    notes: [`Asked in ${amount}, since the server could not answer the whole at once.`],
    reductions:
      end > range.start ? [`Stopped after ${amount}: ${rest} is not asked and left out.`] : [],
  };
}
