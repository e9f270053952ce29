import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Answer } from "../database/database.js";
import { counted, grouped } from "../base/text.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { progressListener, withProgress } from "../progress/query-progress.js";
import type { AskedDimension } from "./dimension.js";
import { addTo, mergeRows, type Cell } from "./merge-rows.js";
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
  /** How many values of each dimension may keep their name, by the rows of all values. */
  readonly top: (rows: readonly AnswerRow[]) => number;
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
    const added = new Map<string, Cell>();
    for (const row of rows) {
      const keys = Object.entries(row).filter(([name]) => !question.sums.includes(name));
      const key = JSON.stringify(
        keys.map(([, value]) => (typeof value === "bigint" ? String(value) : value)),
      );
      const before = added.get(key);
      if (before === undefined) added.set(key, { ...row });
      else for (const name of question.sums) addTo(before, name, "sum(", row[name]);
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

/** The rows of windows as the rows of one answer: values ranked over all, the rest merged. */
async function merged(
  rows: readonly AnswerRow[],
  { source, dimensions, aggregates, top }: WindowedQuestion,
  failed: unknown,
): Promise<ColumnTable> {
  const ranked = dimensions.flatMap(({ natural }, at) => (natural ? [] : [at]));
  const places = ranked.map((at) => rank(rows, `_k${at}`));
  const placed = rows.map((row): AnswerRow => {
    const own = ranked.flatMap((at, index) => {
      const place = places[index]!.get((row[`_k${at}`] as string | null) ?? null)!;
      return [
        [`_p${at}`, place],
        [`_h${at}`, place],
      ];
    });
    return { ...row, ...(Object.fromEntries(own) as Record<string, number>) };
  });
  const cells = mergeRows(placed, dimensions, aggregates, top(placed), () => {
    if (!aggregates.some(({ different }) => different)) return;
    throw notDivided(failed, "different values of several groups can't be added up as their rest");
  });
  const names = [
    ...["_t", ROWS, ...ranked.flatMap((at) => [`_p${at}`, `_k${at}`, `_h${at}`])],
    ...dimensions.flatMap(({ natural }, at) => (natural ? [`_d${at}`] : [])),
    ...(source.unusable === undefined ? [] : ["_unusable"]),
    ...aggregates.map(({ as }) => as),
  ];
  return tableOf(cells, names);
}

async function tableOf(rows: readonly AnswerRow[], names: readonly string[]): Promise<ColumnTable> {
  const aq = await import("arquero");
  return aq.table(
    Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? null)])),
  );
}

/** The place of each value: the largest is 1, ties by their text, rows without one last. */
function rank(rows: readonly AnswerRow[], name: string): ReadonlyMap<string | null, number> {
  const sizes = new Map<string | null, number>();
  for (const row of rows) {
    const value = (row[name] as string | null) ?? null;
    const counted = Number(row["_unusable"] ?? 0) === 0 ? Number(row[ROWS]) : 0;
    sizes.set(value, (sizes.get(value) ?? 0) + counted);
  }
  const byText = (a: string | null, b: string | null): number =>
    a === null || b === null
      ? Number(a === null) - Number(b === null)
      : Buffer.compare(Buffer.from(a), Buffer.from(b));
  const ordered = [...sizes].sort(([a, x], [b, y]) => y - x || byText(a, b));
  return new Map(ordered.map(([value], index) => [value, index + 1]));
}
