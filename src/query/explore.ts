import { ProbelabError } from "../base/error.js";
import type { Database } from "../database/database.js";
import { MOST_ROWS } from "../base/limits.js";
import { grouped } from "../base/text.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { autoBucket, BUCKETS, buckets, checkBucket, type Bucket } from "../time/bucket.js";
import { usualLength } from "../time/step.js";
import { checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import { askSource, type GroupOptions } from "./ask.js";
import { coarser, FEW_BUCKETS, finestOf } from "./asked-buckets.js";
import { namedBy, type By } from "./dimension.js";
import { count, type Measure } from "./measure.js";
import type { Source } from "./source.js";

/** Options of `explore`; see `lab.measurements.explore`. */
export interface ExploreOptions<
  Name extends string = string,
  B extends By<Name> = By<Name>,
> extends Pick<GroupOptions<Name, B>, "range" | "where" | "signal"> {
  /** One to four dimensions to choose by: columns, `hourOfDay()`, `weekday()`, `versionPart()`, `bins()`. */
  readonly by: B;
  /** `count()`, `sum(column)`, `share(where)` or `ratio(a, b)`, whose parts add up. @default `count()` */
  readonly measure?: Measure<unknown, Name>;
  /** The bucket of time; "auto" takes the finest that fits. @default "auto" */
  readonly every?: Bucket | "auto";
}

/** Names of the options above, to find unknown ones. */
export const EXPLORE_OPTIONS = ["range", "by", "where", "measure", "every", "signal"];

const MOST_DIMENSIONS = 4;
/** Values of a dimension that keep their name at most, unless it has few by nature. */
const MOST_NAMED = 10;

/**
 * Cells of a source that add up to it under every choice of values and buckets: fewer than 5,000
 * rows, a row for each bucket and combination of values in which there is anything. They are asked
 * in few buckets, which says how many combinations of named values there are, and then in the
 * finest buckets that fit.
 */
export async function askExplore(
  database: Database,
  open: (range: TimeRange) => Promise<Source>,
  options: ExploreOptions,
  action: string,
): Promise<Result> {
  const range = checkRange((options as Partial<ExploreOptions> | undefined)?.range, action);
  const { by, measure = count(), every: wanted = "auto", ...rest } = options;
  const amount = namedBy(by).length;
  if (amount === 0 || amount > MOST_DIMENSIONS) {
    throw new ProbelabError(
      `Can't ${action} by ${amount} dimensions: pass one to ${MOST_DIMENSIONS}, such as by: ["software_version", "probe_cc", "test_name"].`,
    );
  }
  const source = await open(range);
  const measures = measured(measure, action, source.rowNoun);
  const main = Object.keys(measures).at(-1)!;
  const ask = (every: Bucket) =>
    askSource(database, open, { ...rest, by, every, top: MOST_NAMED }, measures, { action, main });
  const refused = (every: Bucket, why: string) =>
    new ProbelabError(
      `Can't ${action} by ${every} over ${formatRange(range)}: ${why}. Take a coarser every ("auto" picks one), a shorter range or fewer dimensions.`,
    );
  const finest = finestOf(source);
  const steps = BUCKETS.slice(BUCKETS.indexOf(finest));
  const few = (every: Bucket) => buckets(range, every).length >= FEW_BUCKETS;
  let every = wanted === "auto" ? (steps.findLast(few) ?? finest) : checkBucket(wanted);
  if ((+range.end - +range.start) / usualLength(every) > MOST_ROWS + 1) {
    throw refused(every, "the range has 5,000 buckets or more");
  }
  let cells = await ask(every);
  if (wanted === "auto" && cells.numRows() > 0) {
    const groups = cells.numRows() / buckets(range, every).length;
    const fitting = coarser(autoBucket(range, MOST_ROWS, groups), finest);
    if (fitting !== every) cells = await ask(fitting);
    every = fitting;
  }
  const filled = arranged(cells, main, wanted === "auto");
  if (filled.numRows() <= MOST_ROWS) return filled;
  const rows = grouped(filled.numRows());
  throw refused(every, `the values of these dimensions make ${rows} rows, not fewer than 5,000`);
}

/** Without empty cells; names what adds up to the main measure. */
function arranged(cells: Result, main: string, auto: boolean): Result {
  const { columns, notes } = cells.origin;
  const [first, second] = columns.measures.map(({ name }) => name) as [string, string?];
  const additive = columns.measures.flatMap(({ name, additive }) => (additive ? [name] : []));
  const measures = columns.measures.map((measure): MeasureColumn =>
    measure.name === main && second !== undefined
      ? { ...measure, quotient: [first, second] }
      : measure,
  );
  const every = columns.time?.every;
  const note = `By ${every}, the finest bucket for fewer than 5,000 rows.`;
  const filled = cells.filter((row) => additive.some((name) => Number(row[name]) !== 0));
  return cells.with(filled.table, {
    columns: { ...columns, measures },
    notes: auto && cells.numRows() > 0 ? [note, ...notes] : notes,
  });
}

/** The additive parts of a measure, and the quotient of two. */
function measured(
  measure: Measure<unknown>,
  action: string,
  many: string,
): Readonly<Record<string, Measure<unknown>>> {
  const { measure: kind, where, of: [first, second] = [] } = measure ?? {};
  if (kind === "count") return { [many]: measure };
  if (kind === "sum") return { sum: measure };
  if ((kind !== "share" && kind !== "ratio") || first === undefined) {
    throw new ProbelabError(
      `Can't ${action} by ${typeof kind === "string" ? kind : JSON.stringify(measure)}: its values don't add up, so no choice in the figure could be computed from the cells. Pass count(), sum(column), share(where) or ratio(a, b), or ask each choice by itself: lab.measurements.ask({ …, where }).`,
    );
  }
  const whole = kind === "ratio" ? second! : count(where && { where });
  const part = kind === "ratio" ? first : count({ where: { ...first.where, ...where } });
  return { part, whole, [kind]: measure };
}
