import type { ColumnTable } from "arquero";
import { bucketSql } from "../database/bucket-sql.js";
import { valueKind } from "../database/column-type.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import type { DimensionColumn, MeasureColumn, ResultColumns } from "../result/origin.js";
import { columnValues } from "../result/arquero-table.js";
import type { Value } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { bucketStart, checkBucket, type Bucket } from "../time/bucket.js";
import { readSpan } from "../time/span.js";
import { bucketNoun } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { timeColumn } from "./grouped-result.js";
import type { Measure } from "./measure.js";
import { MEANINGS } from "./plan.js";

/** A column of free SQL that is a dimension. */
export interface NamedDimension {
  /** `"version"` orders by component (3.9 before 3.10); true by the first measure that adds up. */
  readonly dimension: true | "version";
  /** The value of the row that holds all the rest: it stands last. */
  readonly other?: string;
}

/**
 * The meaning of a column of free SQL: the start of buckets of a span (`"week"`, `"15 minutes"`), a
 * dimension, or a measure, such as `share()`.
 */
export type ColumnMeaning = Bucket | "dimension" | "version" | NamedDimension | Measure<unknown>;

/** What columns of an answer are said to hold. */
interface Named {
  readonly time?: { readonly name: string; readonly every: Bucket };
  readonly dimensions: readonly (NamedDimension & { readonly name: string })[];
  readonly measures: readonly (readonly [name: string, measure: Measure<unknown>])[];
}

const SUCH = 'such as { t: "week", software_version: "version", share: share(), n: count() }';

/**
 * Reads what columns of free SQL are said to hold, before any of it runs.
 *
 * @param described the columns of the answer and ClickHouse's names of their types.
 * @throws ProbelabError for a column that the answer has not, or whose type doesn't fit.
 */
export function checkNamed(
  columns: Readonly<Record<string, ColumnMeaning>>,
  described: readonly { readonly name: string; readonly type: string }[],
  range: TimeRange,
): Named {
  if (typeof columns !== "object" || columns === null || Array.isArray(columns)) {
    throw new ProbelabError(
      `Can't name columns by ${JSON.stringify(columns)}: pass an object, ${SUCH}.`,
    );
  }
  const types = new Map(described.map(({ name, type }) => [name, type]));
  const times: { name: string; every: Bucket }[] = [];
  const dimensions: (NamedDimension & { name: string })[] = [];
  const measures: [string, Measure<unknown>][] = [];
  for (const [name, meaning] of Object.entries(columns)) {
    const type = types.get(name);
    if (type === undefined) {
      const near = nearName(name, [...types.keys()]);
      throw new ProbelabError(
        `Can't find the named column ${JSON.stringify(name)} in the answer${near === undefined ? "." : `: did you mean ${JSON.stringify(near)}?`} It has ${[...types.keys()].join(", ")}.`,
      );
    }
    const kind = valueKind(type);
    const refuse = (as: string, remedy: string) => {
      const column = `${JSON.stringify(name)}, a ${type},`;
      throw new ProbelabError(`Can't take the column ${column} as ${as}: ${remedy}.`);
    };
    if (meaning === "dimension" || meaning === "version" || isDimension(meaning)) {
      if (kind === "time" || /^(Array|Tuple|Map|JSON|Object|Variant|Dynamic)\b/.test(type)) {
        refuse("a dimension", `give a text, such as toString(${name})`);
      }
      const version = { dimension: meaning === "version" ? ("version" as const) : (true as const) };
      dimensions.push({ name, ...(isDimension(meaning) ? meaning : version) });
    } else if (typeof meaning === "string" && readSpan(meaning) !== undefined) {
      const every = checkBucket(meaning);
      const start = `${bucketSql("measurement_start_time", every, range)} AS ${name}`;
      if (kind !== "time") {
        refuse(`the start of ${bucketNoun(every, true)}`, `give a time, such as ${start}`);
      }
      times.push({ name, every });
    } else if (isMeasure(meaning)) {
      checkMeasure(name, meaning);
      const wanted = meaning.column === "time" ? "time" : "number";
      const such = wanted === "number" ? `, such as toFloat64(${name})` : "";
      if (kind !== wanted) refuse(`${meaning.measure}()`, `it must hold a ${wanted}${such}`);
      measures.push([name, meaning]);
    } else {
      throw new ProbelabError(
        `Can't take the column ${JSON.stringify(name)} as ${JSON.stringify(meaning) ?? String(meaning)}: pass a span, "dimension", "version", { dimension: true, other: "other" } or a measure, ${SUCH}.`,
      );
    }
  }
  const [time, second] = times;
  if (time !== undefined && second !== undefined) {
    throw new ProbelabError(
      `Can't take both ${time.name} and ${second.name} as buckets of time: name one of them "dimension", or leave it out.`,
    );
  }
  return { ...(time && { time }), dimensions, measures };
}

/** A measure only describes what the SQL computed: a condition of its own would do nothing. */
function checkMeasure(name: string, { measure, where, of }: Measure<unknown>): void {
  if (where === undefined && !(measure === "share" && of !== undefined)) return;
  throw new ProbelabError(
    `Can't take the column ${JSON.stringify(name)} as ${measure}() of some rows: the SQL says of which; pass ${measure}() without a condition.`,
  );
}

function isDimension(meaning: unknown): meaning is NamedDimension {
  if (typeof meaning !== "object" || meaning === null) return false;
  const { dimension, other } = meaning as Partial<NamedDimension>;
  return (
    (dimension === true || dimension === "version") &&
    (other === undefined || typeof other === "string") &&
    Object.keys(meaning).every((key) => key === "dimension" || key === "other")
  );
}

function isMeasure(meaning: unknown): meaning is Measure<unknown> {
  if (typeof meaning !== "object" || meaning === null) return false;
  const { measure } = meaning as { measure?: unknown };
  return typeof measure === "string" && Object.hasOwn(MEANINGS, measure);
}

/**
 * The meaning of the named columns of an answer, and the answer with its dimensions as text.
 *
 * @param cut true where the SQL leaves out groups (LIMIT, HAVING): then a missing row is not zero.
 * @throws ProbelabError for a time that begins no bucket, and a share outside of 0 to 1.
 */
export function nameColumns(
  answer: ColumnTable,
  named: Named,
  range: TimeRange,
  cut: boolean,
): { readonly table: ColumnTable; readonly columns: Omit<ResultColumns, "kinds"> } {
  let table = answer;
  const measures = named.measures.map(([name, measure]) => measureColumn(name, measure, cut));
  for (const { name } of measures.filter(({ unit }) => unit === "share")) {
    checkShares(name, columnValues(answer, name));
  }
  const additive = measures.find((measure) => measure.additive);
  const sizes = additive && columnValues(answer, additive.name);
  const dimensions = named.dimensions.map((dimension) => {
    const values = columnValues(answer, dimension.name).map((value) =>
      value === null || value === undefined ? null : String(value as string | number | bigint),
    );
    table = table.assign({ [dimension.name]: values });
    return dimensionColumn(dimension, values, sizes);
  });
  const { time } = named;
  if (time === undefined) return { table, columns: { dimensions, measures } };
  checkStarts(time.name, columnValues(answer, time.name), time.every, range);
  const column = timeColumn(time.name, time.every, range);
  return { table, columns: { time: column, dimensions, measures } };
}

function measureColumn(name: string, measure: Measure<unknown>, cut: boolean): MeasureColumn {
  const { additive, missing } = MEANINGS[measure.measure];
  const unit = measure.unit ?? (measure.measure === "share" ? "share" : "");
  return { name, label: measure.label ?? name, unit, additive, missing: cut ? "gap" : missing };
}

function dimensionColumn(
  { name, dimension, other }: Named["dimensions"][number],
  values: readonly (string | null)[],
  sizes: readonly Value[] | undefined,
): DimensionColumn {
  const totals = new Map<string | null, number>();
  values.forEach((value, row) => {
    totals.set(value, (totals.get(value) ?? 0) + (Number(sizes?.[row] ?? 0) || 0));
  });
  const rest = other !== undefined && totals.delete(other);
  const order = [...totals.keys()].sort((a, b) =>
    dimension === "version"
      ? compareVersions(a, b)
      : (totals.get(b) as number) - (totals.get(a) as number),
  );
  return rest ? { name, order: [...order, other], other } : { name, order };
}

function checkStarts(
  name: string,
  values: readonly Value[],
  every: Bucket,
  range: TimeRange,
): void {
  const { timeZone } = range;
  const seen = new Set<number>();
  for (const value of values) {
    if (!(value instanceof Date) || seen.has(value.getTime())) continue;
    seen.add(value.getTime());
    if (bucketStart(value, every, timeZone).getTime() === value.getTime()) continue;
    throw new ProbelabError(
      `Can't take the column ${JSON.stringify(name)} as the start of ${bucketNoun(every, true)}: it holds ${formatInstant(value, timeZone)} ${timeZone}, where none begins. Group by ${bucketSql("measurement_start_time", every, range)} AS ${name}, or name another span.`,
    );
  }
}

function checkShares(name: string, values: readonly Value[]): void {
  const wrong = values.find((value) => Number(value) < -1e-9 || Number(value) > 1 + 1e-9);
  if (wrong === undefined) return;
  throw new ProbelabError(
    `Can't take the column ${JSON.stringify(name)} as a share: it holds ${Number(wrong)}, and a share is from 0 to 1. Leave out the factor 100 in the SQL, or name it mean("${name}", { unit: "%" }).`,
  );
}
