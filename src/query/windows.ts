import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Answer } from "../database/database.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Aggregate, type AnswerRow } from "./plan.js";
import type { Source } from "./source.js";

/** What an answer was put together from. */
export interface Windowed extends Answer {
  /** The part of the range that was asked before the question was stopped; else all of it. */
  readonly range: TimeRange;
  /** How it was asked, a sentence; where it was stopped, what is left out. */
  readonly notes: readonly string[];
  readonly reductions: readonly string[];
}

/** What is put together. */
export interface WindowedQuestion {
  readonly action: string;
  readonly range: TimeRange;
  readonly top: number;
  readonly source: Source;
  readonly dimensions: readonly AskedDimension[];
  readonly aggregates: readonly Aggregate[];
  /** Asks for all groups of a part of the range, quantiles apart. */
  readonly ask: (window: TimeRange) => Promise<Answer>;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** True where a shorter range would take what the server has not: memory, or time. */
export function isTooMuch(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "MEMORY_LIMIT_EXCEEDED" || code === "TIMEOUT_EXCEEDED" || code === "TOO_SLOW";
}

/**
 * Asks again what was too much for the server, in windows of time, the newest first, as long as the
 * server manages; their cells are merged here, exactly: counts and sums add up, quantiles are found
 * among all numbers and how often each occurs. A run is read whole by each window's margin, and
 * counts in the window of its start.
 *
 * An interrupt keeps what is there, and says from when on that is.
 *
 * @param failed what the server said of the whole question.
 * @throws ProbelabError with what the server said where a measure can't be merged, or where even an
 *   hour is too much.
 */
export async function askInWindows(asked: WindowedQuestion, failed: unknown): Promise<Windowed> {
  const { range, source, aggregates } = asked;
  const apart = aggregates.find(({ merge, spread }) => !spread && !/^(sum|min|max)\(/.test(merge));
  if (source.whole !== undefined || apart !== undefined) {
    const why = source.whole ?? "counts of different values can't be added up";
    throw new ProbelabError(
      `${(failed as Error).message} Parts of the range would fit, but not be the whole: ${why}.`,
      { cause: failed, code: (failed as ProbelabError).code ?? "MEMORY_LIMIT_EXCEEDED" },
    );
  }
  const least = source.daysOnly === undefined ? HOUR : DAY;
  const rows: AnswerRow[] = [];
  let step = (+range.end - +range.start) / 4;
  let { end } = range;
  let windows = 0;
  let partial: string | undefined;
  const cost = { rowsRead: 0, bytesRead: 0, seconds: 0, retries: 0, askedAt: new Date() };
  while (end > range.start) {
    const unit = step >= 2 * DAY ? DAY : least;
    const start = Math.max(+range.start, Math.floor((+end - step) / unit) * unit);
    try {
      const answer = await asked.ask({ ...range, start: new Date(start), end });
      rows.push(...(answer.table.objects() as AnswerRow[]));
      cost.rowsRead += answer.rowsRead;
      cost.bytesRead += answer.bytesRead;
      cost.seconds += answer.seconds;
      cost.retries += answer.retries;
      partial ??= answer.partial;
      windows += 1;
      end = new Date(start);
    } catch (error) {
      if ((error as ProbelabError).code === "ABORTED" && windows > 0) break;
      if (!isTooMuch(error) || +end - start <= least) throw error;
      step = (+end - start) / 2;
    }
  }
  const stopped = end > range.start;
  const many = `${windows.toLocaleString("en-US")} ${windows === 1 ? "window" : "windows"}`;
  const left = formatRange({ ...range, end });
  return {
    ...cost,
    ...(partial !== undefined && { partial }),
    table: await merged(rows, asked),
    range: { ...range, start: end },
    notes: [`Asked in ${many} of time, since the server could not answer the whole at once.`],
    reductions: stopped
      ? [`Stopped after ${many} of time: ${left} is not asked and left out.`]
      : [],
  };
}

/** One number of a cell, of two windows or of two groups. */
type Merge = (a: AnswerRow[string], b: AnswerRow[string]) => AnswerRow[string];

const MERGES: Readonly<Record<string, Merge>> = {
  sum: (a, b) => Number(a) + Number(b),
  min: (a, b) => (Number(b) < Number(a) ? b : a),
  max: (a, b) => (Number(b) > Number(a) ? b : a),
};

/** The rows of windows as the rows of one answer: groups ranked over all, the rest merged. */
async function merged(
  rows: readonly AnswerRow[],
  { source, dimensions, aggregates, top }: WindowedQuestion,
): Promise<ColumnTable> {
  const aq = await import("arquero");
  const ranked = dimensions.flatMap(({ natural }, at) => (natural ? [] : [`_k${at}`]));
  const natural = dimensions.flatMap(({ natural }, at) => (natural ? [`_d${at}`] : []));
  const places = rank(rows, ranked);
  const cells = new Map<string, Record<string, AnswerRow[string]>>();
  const numbers = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const at = ranked.length === 0 ? 1 : places.get(keyOf(row, ranked))!;
    const place = at <= top ? at : 0;
    const kept = Object.fromEntries(ranked.map((name) => [name, place === 0 ? null : row[name]!]));
    const key = JSON.stringify([Number(row["_t"] ?? 0), Number(row["_unusable"] ?? 0), place]);
    const id = key + keyOf(row, natural);
    const before = cells.get(id);
    const cell = before ?? { ...row, ...kept, _place: place, _highest: at };
    cells.set(id, cell);
    if (before !== undefined) cell["_highest"] = Math.max(Number(cell["_highest"]), at);
    for (const { as, merge, spread } of [
      { as: ROWS, merge: "sum(", spread: undefined },
      ...aggregates,
    ]) {
      if (spread !== undefined) {
        const counts = numbers.get(id + as) ?? new Map<number, number>();
        numbers.set(id + as, counts);
        const [values, times] = [row[`${as}v`], row[`${as}n`]] as ArrayLike<number>[];
        for (let i = 0; i < values!.length; i++) {
          counts.set(values![i]!, (counts.get(values![i]!) ?? 0) + times![i]!);
        }
        cell[as] = null;
      } else if (before !== undefined && row[as] != null) {
        const together = MERGES[merge.slice(0, 3)]!;
        cell[as] = cell[as] == null ? row[as] : together(cell[as], row[as]);
      }
    }
  }
  for (const [id, cell] of cells) {
    for (const { as, spread } of aggregates) {
      if (spread) cell[as] = quantilesOf(numbers.get(id + as)!, spread.levels);
    }
  }
  const names = [
    ...["_t", "_place", "_highest", ROWS, ...ranked, ...natural],
    ...(source.unusable === undefined ? [] : ["_unusable"]),
    ...aggregates.map(({ as }) => as),
  ];
  const all = [...cells.values()].sort((a, b) => Number(a["_t"] ?? 0) - Number(b["_t"] ?? 0));
  return aq.table(
    Object.fromEntries(names.map((name) => [name, all.map((cell) => cell[name] ?? null)])),
  );
}

function keyOf(row: AnswerRow, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => row[name] ?? null));
}

/** The place of each group: the largest is 1, ties by their names, those without one last. */
function rank(rows: readonly AnswerRow[], names: readonly string[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, { size: number; values: (string | null)[] }>();
  for (const row of rows) {
    const key = keyOf(row, names);
    const values = names.map((name) => (row[name] as string | null) ?? null);
    const group = sizes.get(key) ?? { size: 0, values };
    sizes.set(key, group);
    if (Number(row["_unusable"] ?? 0) === 0) group.size += Number(row[ROWS]);
  }
  const byName = (a: readonly (string | null)[], b: readonly (string | null)[]): number => {
    const at = a.findIndex((value, index) => value !== b[index]);
    const [x, y] = [a[at] ?? null, b[at] ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return Buffer.compare(Buffer.from(x), Buffer.from(y));
  };
  const ordered = [...sizes].sort(([, a], [, b]) => b.size - a.size || byName(a.values, b.values));
  return new Map(ordered.map(([key], index) => [key, index + 1]));
}

/** Quantiles of numbers of which each occurs so often. */
function quantilesOf(counts: ReadonlyMap<number, number>, levels: readonly number[]): number[] {
  const values = Float64Array.from(counts.keys()).sort();
  let all = 0;
  const until = Float64Array.from(values, (value) => (all += counts.get(value)!));
  const nth = (index: number): number => {
    let [low, high] = [0, until.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (until[middle]! > index) high = middle;
      else low = middle + 1;
    }
    return values[low] ?? NaN;
  };
  return levels.map((level) => {
    const at = (all - 1) * level;
    const low = nth(Math.floor(at));
    return low + (at - Math.floor(at)) * (nth(Math.ceil(at)) - low);
  });
}
