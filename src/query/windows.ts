import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Answer } from "../database/database.js";
import { counted, grouped } from "../base/text.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { progressListener, withProgress } from "../progress/query-progress.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Aggregate, type AnswerRow } from "./plan.js";
import type { Source } from "./source.js";
import { raw, sql, type Sql } from "./sql.js";
import { DAY, HOUR } from "../time/span.js";

/** An answer that was put together from parts. */
export interface Windowed extends Answer {
  /** The part of the range that was asked before the question was stopped; else all of it. */
  readonly range: TimeRange;
  /** A sentence on how it was asked, and one on what is left out if it was stopped. */
  readonly notes: readonly string[];
  readonly reductions: readonly string[];
}

/** A question to ask in parts. */
interface Divided {
  readonly range: TimeRange;
  readonly source: Source;
  readonly aggregates: readonly Pick<Aggregate, "merge" | "different" | "spread">[];
  /** Asks for the rows of a part: of a window, or of those of the range that match. */
  readonly ask: (window: TimeRange, only?: readonly Sql[]) => Promise<Answer>;
}

/** A question whose parts are merged into one answer. */
export interface WindowedQuestion extends Divided {
  readonly top: number;
  readonly dimensions: readonly AskedDimension[];
  readonly aggregates: readonly Aggregate[];
}

/** Parts by hash: a part more is a scan more. */
const MOST_PARTS = 1_024;

/** True where a shorter range would take what the server has not: memory, or time. */
export function isTooMuch(error: unknown): boolean {
  const { code } = error as { code?: string };
  return isMemory(error) || code === "TIMEOUT_EXCEEDED" || code === "TOO_SLOW";
}

function isMemory(error: unknown): boolean {
  return (error as { code?: string }).code === "MEMORY_LIMIT_EXCEEDED";
}

/**
 * Splits a question that exceeded the server's limits into time windows, newest first, and merges the
 * results exactly: counts and sums add up, quantiles are found among all numbers and how often each
 * occurs. Each window reads its runs whole by the source's margin and counts those that start in it.
 * Counts of different values are asked in parts by the hash of those values instead, each a scan of
 * the range.
 *
 * An interrupt keeps the windows that are there, and says from when on that is.
 *
 * @param failed the server's error for the whole question.
 * @throws ProbelabError with the server's error if a measure can't be merged, or if even an hour is
 *   too much.
 */
export async function askInWindows(question: WindowedQuestion, failed: unknown): Promise<Windowed> {
  const { rows, ...cost } = await divided(question, failed, true);
  return { ...cost, table: await merged(rows, question, failed) };
}

/**
 * Asks for rows that add up; what is too much for the server as by `askInWindows`: of rows that are
 * equal but for `sums`, those are added. An interrupt is an error.
 */
export async function askAdding(
  question: Omit<Divided, "aggregates"> & { readonly sums: readonly string[]; readonly by?: Sql },
): Promise<Answer & Pick<Windowed, "notes">> {
  try {
    return { ...(await question.ask(question.range)), notes: [] };
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    const aggregates = [{ merge: "sum(", ...(question.by && { different: question.by }) }];
    const { rows, notes, names, ...cost } = await divided({ ...question, aggregates }, error);
    const added = new Map<string, Record<string, AnswerRow[string]>>();
    for (const row of rows) {
      const keys = Object.entries(row).filter(([name]) => !question.sums.includes(name));
      const key = JSON.stringify(
        keys.map(([, value]) => (typeof value === "bigint" ? String(value) : value)),
      );
      const before = added.get(key);
      if (before === undefined) added.set(key, { ...row });
      else for (const name of question.sums) before[name] = MERGES["sum"]!(before[name], row[name]);
    }
    return {
      ...cost,
      notes,
      table: await tableOf([...added.values()], names),
    };
  }
}

/** The value by whose hash a question must be divided; null where time does. @throws what the server said. */
function dividedBy({ source, aggregates }: Divided, failed: unknown): Sql | null {
  const different = aggregates.flatMap((aggregate) => aggregate.different ?? []);
  const [first] = different;
  const one = new Set(different.map((value) => JSON.stringify(value))).size === 1;
  const known = aggregates.every(
    ({ merge, spread, different }) => different || spread || /^(sum|min|max)\(/.test(merge),
  );
  if (known && first === undefined && source.whole === undefined) return null;
  // A part by hash reads as much as the whole.
  if (!isMemory(failed)) throw failed;
  if (known && first === undefined && source.together) return source.together;
  if (known && first && one && source.plain && source.whole === undefined) return first;
  throw notDivided(failed, source.whole ?? "counts of different values can't be added up");
}

function notDivided(failed: unknown, why: string): ProbelabError {
  return new ProbelabError(
    `${(failed as Error).message} Parts of the range would fit, but not be the whole: ${why}.`,
    { cause: failed, code: (failed as ProbelabError).code ?? "MEMORY_LIMIT_EXCEEDED" },
  );
}

/** The rows of all parts, and what they cost. */
type Parts = Omit<Windowed, "table"> & {
  readonly rows: readonly AnswerRow[];
  readonly names: readonly string[];
};

/** @param keep true gives the windows asked before an interrupt; false throws it. */
async function divided(question: Divided, failed: unknown, keep = false): Promise<Parts> {
  const { range, source } = question;
  const value = dividedBy(question, failed);
  const rows: AnswerRow[] = [];
  const cost = { rowsRead: 0, bytesRead: 0, seconds: 0, retries: 0, askedAt: new Date() };
  let partial: string | undefined;
  let most = 0;
  let names: readonly string[] = [];
  const ask = async (left: number, window: TimeRange, only?: readonly Sql[]): Promise<void> => {
    const listener = progressListener();
    const part = { at: most + 1, of: most + left };
    const send = () => question.ask(window, only);
    const answer = await (listener
      ? withProgress((news) => listener({ ...news, part }), send)
      : send());
    names = answer.table.columnNames();
    for (const row of answer.table.objects() as AnswerRow[]) rows.push(row);
    cost.rowsRead += answer.rowsRead;
    cost.bytesRead += answer.bytesRead;
    cost.seconds += answer.seconds;
    cost.retries += answer.retries;
    partial ??= answer.partial;
    most += 1;
  };
  const since = "since the server could not answer the whole at once";
  if (value !== null) {
    let parts = [0, 1, 2, 3];
    for (let of = parts.length; parts.length > 0;) {
      const hash = sql`ifNull(cityHash64(${value}), 0) % ${raw(String(of))} = ${raw(String(parts[0]))}`;
      try {
        await ask(parts.length, range, [hash]);
        parts.shift();
      } catch (error) {
        if (!isMemory(error) || of >= MOST_PARTS) throw error;
        const half = of;
        parts = parts.flatMap((part) => [part, part + half]);
        of *= 2;
      }
    }
    const notes = [`Asked in ${grouped(most)} parts, ${since}.`];
    return {
      ...cost,
      ...(partial !== undefined && { partial }),
      rows,
      names,
      range,
      notes,
      reductions: [],
    };
  }
  const least = source.daysOnly === undefined ? HOUR : DAY;
  let step = (+range.end - +range.start) / 4;
  let { end } = range;
  while (end > range.start) {
    const unit = step >= 2 * DAY ? DAY : least;
    const start = Math.max(+range.start, Math.floor((+end - step) / unit) * unit);
    try {
      const left = Math.ceil((+end - +range.start) / (+end - start));
      await ask(left, { ...range, start: new Date(start), end });
    } catch (error) {
      if ((error as ProbelabError).code === "ABORTED" && most > 0 && keep) break;
      if (!isTooMuch(error) || +end - start <= least) throw error;
      step = (+end - start) / 2;
      continue;
    }
    end = new Date(start);
  }
  const windows = counted(most, "window of time", "windows of time");
  const left = formatRange({ ...range, end });
  return {
    ...cost,
    ...(partial !== undefined && { partial }),
    rows,
    names,
    range: { ...range, start: end },
    notes: [`Asked in ${windows}, ${since}.`],
    reductions:
      end > range.start ? [`Stopped after ${windows}: ${left} is not asked and left out.`] : [],
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
  failed: unknown,
): Promise<ColumnTable> {
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
    if (before !== undefined && cell["_highest"] !== at && aggregates.some((a) => a.different)) {
      throw notDivided(
        failed,
        "different values of several groups can't be added up as their rest",
      );
    }
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
        const together = MERGES[merge.slice(0, 3)] ?? MERGES["sum"]!;
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
  return tableOf(all, names);
}

async function tableOf(rows: readonly AnswerRow[], names: readonly string[]): Promise<ColumnTable> {
  const aq = await import("arquero");
  return aq.table(
    Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? null)])),
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
  // In the engine's own order of operations, so that windows give the same bits as one question.
  return levels.map((level) => {
    const place = level * (all - 1) + 1;
    const index = Math.floor(place);
    const low = nth(index - 1);
    return low + (place - index) * (nth(Math.min(index, all - 1)) - low);
  });
}
