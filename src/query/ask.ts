import { answerOrigin, type Database } from "../database/database.js";
import { isOfColumns } from "../database/server-error.js";
import { ProbelabError } from "../base/error.js";
import { costOf } from "../result/origin.js";
import { Result } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { askedBuckets, incompleteNotes, type AskedBuckets } from "./asked-buckets.js";
import { dimensionsOf, type AskedDimension, type By } from "./dimension.js";
import { groupedRows, MOST_GROUPED_ROWS } from "./grouped-result.js";
import type { Measure } from "./measure.js";
import { fittingTop, isMerged, mergeRows, placed, type Fit } from "./merge-rows.js";
import { Plan, type AnswerRow } from "./plan.js";
import { questionSql } from "./question-sql.js";
import { NOTHING, type Extra, type Source } from "./source.js";
import { whereText, type Where } from "./where.js";
import { whyEmpty, zeroConditions } from "./why-empty.js";
import { askInWindows } from "./windows.js";

export type { By } from "./dimension.js";

/** Options of every grouped question. */
export interface GroupOptions<Name extends string = string, B extends By<Name> = By<Name>> {
  /** The time to ask about, half-open: `last("3 months")` or `between(a, b)`. */
  readonly range: TimeRange;
  /**
   * The bucket of time, any span; `"all"` makes the whole range one, without the column `t`,
   * `"auto"` takes the finest that keeps the answer under 5,000 rows.
   *
   * @default "auto"
   */
  readonly every?: Bucket | "auto" | "all";
  /** Dimensions to group by: columns, `hourOfDay()`, `weekday()`, `versionPart()`, `bins()`; `{ name: … }` names them. */
  readonly by?: B;
  /**
   * How many values of each dimension keep their name, the largest first; the others are "other", so
   * that sums over any dimension stay whole; Infinity keeps all. Several dimensions keep fewer where
   * the answer would have 5,000 rows or more, and a reduction says so.
   *
   * @default 6
   */
  readonly top?: number;
  /** False leaves out the rows of values beyond the top, and says so; true makes them "other". @default true */
  readonly other?: boolean;
  /** Filter: column to value, list of values, `prefix()`, or a comparison; all must hold. */
  readonly where?: Where<Name>;
  /** Stops the query at the server. @default the interrupt of the running cell */
  readonly signal?: AbortSignal;
}

/** Names of the options above, to find unknown ones. */
export const GROUP_OPTIONS = [
  ...["range", "every", "by", "top", "other", "where", "signal"],
] as readonly string[];

/** A question's defaults, and its name in errors. */
export interface Preset {
  /** For errors: "count measurements". */
  readonly action: string;
  readonly every?: "auto" | "all";
  readonly by?: readonly string[];
  readonly top?: number;
  /** The measure that charts draw by default. */
  readonly main?: string;
  /** Columns that the preset adds to the answer. */
  readonly adds?: readonly string[];
  /** The filter in words, where it is not `where`. */
  readonly filterText?: string;
  /** Sentences that stand after those of the source. */
  readonly after?: readonly string[];
}

/** A question whose options are read: what is asked, of whom. */
interface Question {
  readonly database: Database;
  readonly plan: Plan;
  readonly dimensions: readonly AskedDimension[];
  readonly buckets: AskedBuckets;
  readonly top: number;
  readonly action: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks a source: source × range × every × by × measures × where, in one scan of the table.
 *
 * @param open makes the source, once the range is checked; the same for the question's SQL and for
 *   what is asked besides (why an answer is empty).
 * @throws ProbelabError for what can't be asked, before anything is asked but the table's columns.
 */
export async function askSource(
  database: Database,
  open: (range: TimeRange) => Promise<Source>,
  options: GroupOptions,
  measures: Readonly<Record<string, Measure<unknown>>>,
  preset: Preset,
): Promise<Result> {
  const ask = () => askOnce(database, open, options, measures, preset);
  const { changes } = database;
  try {
    const answer = await ask();
    if (answer.numRows() > 0 || !(await database.isChanged(changes))) return answer;
  } catch (error) {
    if (!isOfColumns(error) || !(await database.isChanged(changes))) throw error;
  }
  return ask();
}

async function askOnce(
  database: Database,
  open: (range: TimeRange) => Promise<Source>,
  options: GroupOptions,
  measures: Readonly<Record<string, Measure<unknown>>>,
  preset: Preset,
): Promise<Result> {
  const { action } = preset;
  const range = checkRange((options as GroupOptions | undefined)?.range, action);
  const { by = preset.by ?? [], other = true, where = {}, signal } = options;
  const top = checkTop(options.top ?? preset.top ?? 6);
  const source = await open(range);
  const taken = [...Object.keys(measures ?? {}), ...(preset.adds ?? [])];
  const dimensions = dimensionsOf(by, source, range.timeZone, taken);
  const wanted = options.every ?? preset.every ?? "auto";
  const buckets = askedBuckets(wanted, range, groupsAtMost(dimensions, top), source);
  const plan = new Plan(source);
  const planned = plan.addAll(measures, ["t", ...dimensions.map(({ name }) => name)], preset);
  const why = (empty: boolean, only?: Where) => whyEmpty(database, source, empty, signal, only);
  // Asked beside the question. Where that fails, it says so itself.
  const missing = why(false);
  missing.catch(() => undefined);
  const answer = await askGroups({ database, plan, dimensions, buckets, top, action, signal });
  const { fit, question } = answer;
  const usable = answer.rows.filter((row) => Number(row["_unusable"] ?? 0) === 0);
  const time = buckets.column("t");
  const { table, ...columns } = await groupedRows(usable, {
    action,
    buckets,
    dimensions,
    top,
    fit,
    other,
    measures: planned,
    rowNoun: source.rowNoun,
  });
  const empty = table.numRows() === 0;
  const kinds = new Set(answer.rows.map((row) => Number(row["_unusable"] ?? 0)));
  kinds.delete(0);
  const filter = preset.filterText ?? whereText(where);
  const cost = answerOrigin(database, question, range, answer);
  const [nothing, unusable = [], listed, ...unmatched] = await Promise.all([
    empty ? why(true) : NOTHING,
    kinds.size > 0 ? source.unusableNotes?.(kinds, database, signal) : undefined,
    missing,
    ...zeroConditions(source, measures, table).map((where) => why(true, where)),
  ]);
  // In the order in which they are read: why there is nothing comes before how it was asked.
  const extras: readonly Extra[] = [
    nothing,
    said(wanted === "auto" ? [autoNote(buckets)] : []),
    said([...answer.notes, ...source.notes, ...(preset.after ?? [])]),
    ...unusable,
    empty ? { ...listed, notes: [] } : listed,
    ...unmatched,
    said(empty ? [] : incompleteNotes(time, range)),
  ];
  return new Result(table, {
    ...cost,
    ...costOf(cost, ...extras),
    ...(filter !== "" && { filter }),
    columns: {
      ...(time && { time }),
      dimensions: columns.dimensions,
      measures: planned.map(({ value: _, ...column }) => column),
    },
    reductions: columns.reductions,
    notes: [...new Set(extras.flatMap(({ notes }) => notes))],
  });
}

/** Sentences that took no question. */
function said(notes: readonly string[]): Extra {
  return { ...NOTHING, notes };
}

function autoNote({ every }: AskedBuckets): string {
  return `Grouped by ${every}, the finest bucket that keeps the rows under 5,000 (every: "auto").`;
}

/** Rows of an answer with the places of their values, and how they were had. */
async function askGroups(question: Question) {
  const { database, plan, dimensions, buckets, top, action, signal } = question;
  const { aggregates } = plan;
  const { range } = buckets;
  const steps = buckets.spans.length;
  const kept = mostKept(top, dimensions, steps);
  const sqlOf = (top: number, window = range, apart = false) =>
    questionSql(plan, dimensions, { buckets, range: window, top, apart });
  const ask = (question: ReturnType<typeof sqlOf>) => database.ask({ ...question, action, signal });
  const first = sqlOf(kept);
  const answer = await askInWindows(
    plan,
    range,
    () => ask(first),
    (window) => ask(sqlOf(Infinity, window, true)),
  );
  const { table } = answer;
  const rows = table ? (table.objects() as AnswerRow[]) : placed(answer.windows, dimensions);
  const fit: Fit = fittingTop(rows, dimensions, { top: kept, buckets: steps });
  if (table && fit.top >= kept) return { ...answer, fit, question: first, rows };
  if (!table || aggregates.every(isMerged)) {
    const merged = mergeRows(rows, dimensions, aggregates, fit.top);
    return { ...answer, fit, question: first, rows: merged };
  }
  // Quantiles of what is merged are known to the server only.
  const narrower = sqlOf(fit.top);
  const again = await ask(narrower);
  return {
    ...answer,
    ...again,
    fit,
    question: narrower,
    ...costOf(answer, again),
    rows: again.table.objects() as AnswerRow[],
  };
}

/** The largest number of groups that an answer may have, as far as it is known before asking. */
function groupsAtMost(dimensions: readonly AskedDimension[], top: number): number {
  return dimensions.reduce((all, { natural }) => all * (natural || top + 1), 1);
}

/** `top`, or as much of it as several dimensions can have in an answer of two million rows. */
function mostKept(top: number, dimensions: readonly AskedDimension[], buckets: number): number {
  const ranked = dimensions.filter(({ natural }) => !natural);
  if (ranked.length < 2 || !Number.isFinite(top)) return top;
  const natural = dimensions.reduce((all, { natural }) => all * (natural || 1), 1);
  const groups = MOST_GROUPED_ROWS / buckets / natural;
  return Math.max(1, Math.min(top, Math.floor(groups ** (1 / ranked.length)) - 1));
}

/** Checks `top`, the number of values of each dimension that keep their name. */
function checkTop(top: number): number {
  if (top >= 1 && (!Number.isFinite(top) || Number.isInteger(top))) return top;
  throw new ProbelabError(
    `Can't keep the top ${String(top)} values: pass top: 6, another whole number from 1, or Infinity for all.`,
  );
}
