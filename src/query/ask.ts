import { answerOrigin, type Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { grouped } from "../base/text.js";
import { Result } from "../result/result.js";
import { autoBucket, buckets, checkBucket, type Bucket } from "../time/bucket.js";
import { usualLength } from "../time/step.js";
import { checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import { dimensionOf, type AskedDimension, type Dimension } from "./dimension.js";
import { groupedRows, incompleteNotes, MOST_GROUPED_ROWS } from "./grouped-result.js";
import type { Measure } from "./measure.js";
import { fittingTop, isMerged, mergeRows, placed } from "./merge-rows.js";
import { Plan, type AnswerRow, type PlannedMeasure } from "./plan.js";
import { questionSql } from "./question-sql.js";
import { checkFinest, NOTHING, type Extra, type Source } from "./source.js";
import type { PrintedSql } from "./sql.js";
import { whereText, type Where } from "./where.js";
import { askDividing, isTooMuch } from "./windows.js";

/** Dimensions to group by: a column's name or a dimension, a list of them, or an object that names them. */
export type By<Name extends string = string> =
  GroupBy<Name> | readonly GroupBy<Name>[] | Readonly<Record<string, GroupBy<Name>>>;

type GroupBy<Name extends string> = Name | Dimension<string, Name>;

/** Options of every grouped question. */
export interface GroupOptions<Name extends string = string, B extends By<Name> = By<Name>> {
  /** The time to ask about, half-open: `last("3 months")` or `between(a, b)`. */
  readonly range: TimeRange;
  /**
   * The bucket of time, any span; `"all"` makes the whole range one, without the column `t`. Default
   * `"auto"`: the finest that keeps the answer under 5,000 rows.
   */
  readonly every?: Bucket | "auto" | "all";
  /** Dimensions to group by: columns, `hourOfDay()`, `weekday()`, `versionPart()`, `bins()`; `{ name: … }` names them. */
  readonly by?: B;
  /**
   * How many values of each dimension keep their name, the largest first; the others are "other", so
   * that sums over any dimension stay whole. Default 6; Infinity keeps all. Several dimensions keep
   * fewer where the answer would have 5,000 rows or more, and a reduction says so.
   */
  readonly top?: number;
  /** False leaves out the rows of values beyond the top, and says so (default true: they are "other"). */
  readonly other?: boolean;
  /** Filter: column to value, list of values, `prefix()`, or a comparison; all must hold. */
  readonly where?: Where<Name>;
  /** Stops the query at the server; default: the interrupt of the running cell. */
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
  asksAgain = false,
): Promise<Result> {
  const { action } = preset;
  const whole = checkRange((options as GroupOptions | undefined)?.range, action);
  const top = checkTop(options.top ?? preset.top ?? 6);
  const source = await open(whole);
  const taken = [...Object.keys(measures ?? {}), ...(preset.adds ?? [])];
  const by = options.by ?? preset.by ?? [];
  const dimensions = askedDimensions(by, source, whole.timeZone, taken);
  const { every, notes } = pickBucket(
    options.every ?? preset.every ?? "auto",
    whole,
    groupsAtMost(dimensions, top),
    source,
  );
  const plan = new Plan(source);
  const planned = planMeasures(plan, measures, dimensions, preset);
  const { signal } = options;
  const { aggregates } = plan;
  const steps = every === null ? 1 : buckets(whole, every).length;
  const kept = mostKept(top, dimensions, steps);
  const sqlOf = (top: number, range = whole, apart = false) =>
    questionSql(plan, dimensions, { every, range, top, apart });
  const ask = (question: PrintedSql) => database.ask({ ...question, action, signal });
  const question = sqlOf(kept);
  const asked = async () => {
    const part = (window: TimeRange) => ask(sqlOf(Infinity, window, true));
    const divided = { range: whole, source, aggregates, ask: () => ask(question), part };
    const answer = await askDividing({ ...divided, keep: true });
    const windowed = answer.table === undefined;
    const rows = windowed
      ? placed(answer.windows, dimensions)
      : (answer.table.objects() as AnswerRow[]);
    const fit = fittingTop(rows, dimensions, { top: kept, buckets: steps });
    if (!windowed && fit.top >= kept) return { ...answer, fit, question, rows };
    if (windowed || aggregates.every(isMerged)) {
      const merged = mergeRows(rows, dimensions, aggregates, fit.top);
      return { ...answer, fit, question, rows: merged };
    }
    // Quantiles of what is merged are known to the server only.
    const narrower = sqlOf(fit.top);
    const again = await ask(narrower);
    return {
      ...answer,
      ...again,
      fit,
      question: narrower,
      rowsRead: answer.rowsRead + again.rowsRead,
      bytesRead: answer.bytesRead + again.bytesRead,
      seconds: answer.seconds + again.seconds,
      rows: again.table.objects() as AnswerRow[],
    };
  };
  const [answer, missing] = await Promise.all([
    asked(),
    source.missingValues(database, signal).catch((error: unknown) => {
      // Where the question was stopped, the question itself says so.
      return (error as { code?: string }).code === "ABORTED" ? NOTHING : untold(error);
    }),
  ]);
  const { range } = answer;
  const stopped = range.start > whole.start;
  const usable = answer.rows.filter((row) => Number(row["_unusable"] ?? 0) === 0);
  const grouped = await groupedRows(usable, {
    action,
    range,
    every,
    dimensions,
    top,
    fit: answer.fit,
    other: options.other ?? true,
    measures: planned,
    many: source.many,
  });
  const empty = grouped.table.numRows() === 0;
  if (empty && !stopped && !asksAgain && (await database.isChanged())) {
    return askSource(database, open, options, measures, preset, true);
  }
  const unusable = usable.length < answer.rows.length && !stopped;
  const leftOut = (unusable && (await source.unusableNote?.(database, signal))) || NOTHING;
  const why = empty && !stopped ? await source.whyEmpty(database, signal).catch(untold) : missing;
  const filter = preset.filterText ?? whereText(options.where ?? {});
  const cost = answerOrigin(database, answer.question, range, answer);
  const beside = [...(why === missing ? [] : [why]), missing, leftOut];
  return new Result(grouped.table, {
    ...cost,
    rowsRead: beside.reduce((sum, { rowsRead }) => sum + rowsRead, cost.rowsRead),
    bytesRead: beside.reduce((sum, { bytesRead }) => sum + bytesRead, cost.bytesRead),
    ...(filter !== "" && { filter }),
    columns: {
      ...(grouped.time && { time: grouped.time }),
      dimensions: grouped.dimensions,
      measures: planned.map(({ value: _, ...column }) => column),
    },
    reductions: [...grouped.reductions, ...answer.reductions],
    notes: [
      ...notes,
      ...answer.notes,
      ...source.notes,
      ...(preset.after ?? []),
      ...leftOut.notes,
      ...why.notes,
      ...(empty ? [] : incompleteNotes(grouped.time, range)),
    ],
  });
}

/** A note in place of one that the server could not compute within its limits. */
function untold(error: unknown): Extra {
  const { code } = error as { code?: string };
  if (!isTooMuch(error) && code !== "TOO_MANY_ROWS_OR_BYTES") throw error;
  const note = "Too much for the server: the values that the range holds of the filter's columns.";
  return { ...NOTHING, notes: [note] };
}

/** Names that a row, a plain object, can't safely have. */
const UNSAFE = ["__proto__", "constructor", "prototype"];

/** The dimensions of `by`, each with the name of its column. */
export function namedBy(by: By | undefined): readonly (readonly [string, string | Dimension])[] {
  if (typeof by === "string") return [[by, by]];
  if (Array.isArray(by)) {
    return (by as readonly (string | Dimension)[]).map((one) => [nameOf(one), one] as const);
  }
  if (isDimension(by)) return [[by.name, by]];
  return Object.entries((by ?? {}) as Record<string, string | Dimension>);
}

/**
 * The dimensions of `by`, each once.
 *
 * @param taken names of the answer's other columns.
 * @throws ProbelabError for unknown columns, and for names that occur twice, are taken or unsafe.
 */
function askedDimensions(
  by: By,
  source: Source,
  timeZone: string,
  taken: readonly string[],
): AskedDimension[] {
  const named = namedBy(by);
  return named.map(([name, dimension], index) => {
    if (named.findIndex(([other]) => other === name) !== index) {
      throw new ProbelabError(
        `Can't group by ${name} twice: name each column of by once, or { ${name}: …, ${name}_2: … } for two of one column.`,
      );
    }
    checkDimensionName(name, dimension, taken);
    return dimensionOf(name, dimension, source, timeZone);
  });
}

function checkDimensionName(name: string, of: string | Dimension, taken: readonly string[]): void {
  const reason =
    name === "t"
      ? "that is the column of time"
      : UNSAFE.includes(name)
        ? "JavaScript gives that name another meaning"
        : taken.includes(name)
          ? "another column of the answer has that name"
          : undefined;
  if (reason === undefined) return;
  const other = `${name.replace(/\W|^_+|_+$/g, "")}_2`;
  throw new ProbelabError(
    `Can't name a dimension ${JSON.stringify(name)}: ${reason}. Give it another name, such as by: { ${other}: ${typeof of === "string" ? JSON.stringify(of) : "…"} }.`,
  );
}

function isDimension(by: unknown): by is Dimension {
  return typeof by === "object" && by !== null && typeof (by as Dimension).dimension === "string";
}

function nameOf(one: string | Dimension): string {
  if (typeof one === "string") return one;
  if (isDimension(one)) return one.name;
  throw new ProbelabError(
    `Can't group by ${JSON.stringify(one) ?? "undefined"}: pass columns' names, such as by: ["probe_cc", "test_name"].`,
  );
}

/** More buckets than rows that an answer may have. */
const MOST_BUCKETS = 2_000_000;
/** For `top: Infinity`, which may give fewer groups or more. */
const MANY_GROUPS = 50;
/** Buckets that an answer should have before values are named instead. */
const FEW_BUCKETS = 12;

/**
 * The bucket of a question: null for `"all"`, for `"auto"` the finest that keeps the answer under
 * 5,000 rows, with a note that says so.
 */
function pickBucket(
  wanted: Bucket | "auto" | "all",
  range: TimeRange,
  groups: number,
  source: Source,
): { readonly every: Bucket | null; readonly notes: readonly string[] } {
  if (wanted === "all") return { every: null, notes: [] };
  if (wanted === "auto") {
    const most = Number.isFinite(groups) ? Math.floor(MOST_ROWS / FEW_BUCKETS) : MANY_GROUPS;
    const fitting = autoBucket(range, MOST_ROWS, Math.min(groups, most));
    const finest = source.daysOnly ? "day" : source.hoursOnly ? "hour" : fitting;
    const every = usualLength(fitting) < usualLength(finest) ? finest : fitting;
    const note = `Grouped by ${every}, the finest bucket that keeps the rows under 5,000 (every: "auto").`;
    return { every, notes: [note] };
  }
  const every = checkBucket(wanted);
  checkFinest(every, source);
  const count = Math.round((+range.end - +range.start) / usualLength(every));
  if (count <= MOST_BUCKETS) return { every, notes: [] };
  throw new ProbelabError(
    `Can't group ${formatRange(range)} by ${every}: ${grouped(count)} buckets are too many. Take a coarser every ("auto" picks one) or a shorter range.`,
  );
}

/** The largest number of groups that an answer may have, as far as it is known before asking. */
function groupsAtMost(dimensions: readonly AskedDimension[], top: number): number {
  return dimensions.reduce((all, { most, natural }) => all * (natural ? most : top + 1), 1);
}

/** `top`, or as much of it as several dimensions can have in an answer of two million rows. */
function mostKept(top: number, dimensions: readonly AskedDimension[], buckets: number): number {
  const ranked = dimensions.filter(({ natural }) => !natural).length;
  if (ranked < 2 || !Number.isFinite(top)) return top;
  const groups =
    MOST_GROUPED_ROWS /
    buckets /
    groupsAtMost(
      dimensions.filter(({ natural }) => natural),
      top,
    );
  return Math.max(1, Math.min(top, Math.floor(groups ** (1 / ranked)) - 1));
}

function planMeasures(
  plan: Plan,
  measures: Readonly<Record<string, Measure<unknown>>>,
  dimensions: readonly AskedDimension[],
  { action, main }: Preset,
): PlannedMeasure[] {
  const entries = Object.entries(measures ?? {});
  if (entries.length === 0) {
    throw new ProbelabError(
      `Can't ${action} without a measure: pass measures: { measurements: count() }, a name for each.`,
    );
  }
  const taken = new Set(["t", "__proto__", ...dimensions.map(({ name }) => name)]);
  return entries.flatMap(([name, measure]) => {
    const planned = plan.add(name, measure, name === main);
    const ends = plan.ends(name, measure);
    const [low, high] = ends;
    const named =
      low && high
        ? [{ ...planned, interval: [low.name, high.name] as const }, low, high]
        : [planned];
    for (const each of named) {
      if (taken.has(each.name)) {
        throw new ProbelabError(
          `Can't name a measure ${JSON.stringify(each.name)}: ${each.name === "t" ? "that is the column of time" : "another column has that name"}. Give it another name.`,
        );
      }
      taken.add(each.name);
    }
    return named;
  });
}

/** Checks `top`, the number of values of each dimension that keep their name. */
function checkTop(top: number): number {
  if (top >= 1 && (!Number.isFinite(top) || Number.isInteger(top))) return top;
  throw new ProbelabError(
    `Can't keep the top ${String(top)} values: pass top: 6, another whole number from 1, or Infinity for all.`,
  );
}
