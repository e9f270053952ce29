import type { VegaLiteSpec } from "../render/theme.js";
import { MOST_ROWS } from "../base/limits.js";
import { columnValues, newTable, rowsByKey } from "../result/arquero-table.js";
import { valueKey } from "../result/json.js";
import type { Result, Value } from "../result/result.js";
import { columnOf, isPart } from "./check-spec.js";

type Column = readonly Value[];

/** What is computed of the rows of a group; those that count are drawn as sums of their counts. */
const OPERATIONS: Readonly<Record<string, (values: readonly Value[]) => Value>> = {
  count: (values) => values.length,
  valid: (values) => numbers(values).length,
  // A number that isn't one is drawn as a missing value, which counts as one.
  distinct: (values) => new Set(values.map((value) => (isLost(value) ? null : value))).size,
  sum: (values) => numbers(values).reduce<number | null>((sum, value) => (sum ?? 0) + value, null),
  mean: (values) => mean(numbers(values)),
  average: (values) => mean(numbers(values)),
  min: (values) => numbers(values).reduce<number | null>(less, null),
  max: (values) => numbers(values).reduce<number | null>(more, null),
  q1: (values) => quantile(numbers(values), 0.25),
  median: (values) => quantile(numbers(values), 0.5),
  q3: (values) => quantile(numbers(values), 0.75),
};
const COUNTS = /^(count|valid|distinct)$/;
/** The parts of a group may be merged: their sum is the sum. */
const MERGES = /^(count|valid|sum|min|max)$/;

/**
 * A spec's groups, a row each, and the spec that draws them: the same picture as of all rows, since
 * Vega-Lite aggregates each group of one row to itself.
 *
 * @returns undefined for a spec that doesn't aggregate, one that needs more than its groups (its own
 *   transforms, layers, expressions, operations of two columns), and for 5,000 groups or more.
 */
export function groupRows(
  result: Result,
  spec: VegaLiteSpec,
): { readonly table: Result["table"]; readonly spec: VegaLiteSpec } | undefined {
  const { encoding, mark, transform } = spec;
  if (mark === undefined || transform !== undefined || !isPart(encoding)) return undefined;
  const type = isPart(mark) ? mark.type : mark;
  if (/^(boxplot|error)/.test(String(type))) return undefined;
  if (/"(test|expr|repeat|impute)":/.test(JSON.stringify([encoding, mark]))) return undefined;
  const groups = new Map<string, { column: string; units: readonly string[] }>();
  const computed = new Map<string, { operation: string; column: string | undefined }>();
  let exact = true;
  // Whether a bar, say, is drawn of several groups.
  let parted = false;
  let sorted = false;
  const rewrite = (part: unknown, name = ""): unknown => {
    if (Array.isArray(part)) return part.map((each) => rewrite(each, name));
    if (!isPart(part)) return part;
    const inner = Object.fromEntries(
      Object.entries(part).map(([key, value]) => [key, rewrite(value, key)]),
    );
    const word = name === "sort" ? "op" : "aggregate";
    const { field, timeUnit, bin } = inner;
    const operation = inner[word];
    const column = typeof field === "string" ? columnOf(field) : undefined;
    const { sort } = inner;
    // What sorts by another channel adds up all rows of its value.
    sorted ||= isPart(sort)
      ? "encoding" in sort
      : /^-?(x|y|color|size|shape|opacity)$/.test(String(sort));
    parted ||= (isPart(bin) || bin === true) && operation === undefined;
    if (operation === undefined) {
      if (field === undefined) return inner;
      const units = unitsOf(timeUnit);
      exact &&= column !== undefined && units !== undefined && name !== "sort";
      if (column !== undefined && units !== undefined) {
        groups.set(JSON.stringify([column, units]), { column, units });
      }
      return inner;
    }
    exact &&= typeof operation === "string" && Object.hasOwn(OPERATIONS, operation) && !timeUnit;
    exact &&= !bin && (column !== undefined || operation === "count");
    if (!exact) return inner;
    parted ||= name === "sort";
    const op = operation as string;
    const plain = op === "count" || !/^\w+$/.test(column!) ? op : `${op}_${column}`;
    const own = result.columnNames.includes(plain) ? `${plain}_of_rows` : plain;
    computed.set(own, { operation: op, column: op === "count" ? undefined : column });
    const drawn = { ...inner, field: own, [word]: COUNTS.test(op) ? "sum" : op };
    return name === "sort" ? drawn : { type: "quantitative", title: titleOf(op, column), ...drawn };
  };
  const rewritten = rewrite(encoding);
  const operations = [...computed.values()].map(({ operation }) => operation);
  if (
    !exact ||
    computed.size === 0 ||
    ((parted || (sorted && groups.size > 1)) && !operations.every((op) => MERGES.test(op)))
  ) {
    return undefined;
  }
  return grouped(result, groups, computed, { ...spec, encoding: rewritten });
}

function grouped(
  { table }: Result,
  groups: ReadonlyMap<string, { column: string; units: readonly string[] }>,
  computed: ReadonlyMap<string, { operation: string; column: string | undefined }>,
  spec: VegaLiteSpec,
): ReturnType<typeof groupRows> {
  const columns = new Map<string, Column>();
  const valuesOf = (name: string): Column => {
    const known = columns.get(name) ?? columnValues(table, name);
    columns.set(name, known);
    return known;
  };
  const keyed = [...groups.values()].map(({ column, units }) => ({
    values: valuesOf(column),
    units,
  }));
  const timed = keyed.filter(({ units }) => units.length > 0);
  if (!timed.every(({ values }) => values.every((value) => isMissing(value) || isDate(value)))) {
    return undefined;
  }
  const keys = Array.from({ length: table.numRows() }, (_, row) =>
    JSON.stringify(
      keyed.map(({ values, units }) => {
        const value = values[row];
        if (units.length > 0)
          return isDate(value) ? units.map((unit) => UNITS[unit]!(value)) : null;
        const key = valueKey(value);
        return typeof key === "bigint" ? [`${key}`] : key;
      }),
    ),
  );
  const rows = [...rowsByKey(keys).values()];
  if (rows.length > MOST_ROWS) return undefined;
  const summed: [string, Value[]][] = [];
  for (const [name, { operation, column }] of computed) {
    const values = column === undefined ? undefined : valuesOf(column);
    const countable = operation === "distinct" ? isPlain : isNumber;
    if (values?.some((value) => !isMissing(value) && !countable(value))) return undefined;
    const own = (of: readonly number[]): Value[] => of.map((row) => values?.[row] ?? null);
    summed.push([name, rows.map((of) => OPERATIONS[operation]!(own(of)))]);
  }
  const kept = [...new Set([...groups.values()].map(({ column }) => column))].map(
    (column): [string, Value[]] => [column, rows.map(([first]) => valuesOf(column)[first!]!)],
  );
  return { table: newTable(table, [...kept, ...summed]), spec };
}

/** Vega's units of time in UTC, each as a number that is equal where the unit is; its weeks begin on Sunday. */
const UNITS: Readonly<Record<string, (t: Date) => number>> = {
  year: (t) => t.getUTCFullYear(),
  quarter: (t) => Math.floor(t.getUTCMonth() / 3),
  month: (t) => t.getUTCMonth(),
  week: (t) => {
    const first = new Date(Date.UTC(t.getUTCFullYear(), 0)).getUTCDay();
    return Math.floor((dayOfYear(t) + (first === 0 ? 7 : first)) / 7);
  },
  // A week of a year may begin in the year before.
  yearweek: (t) => Math.floor((t.getTime() / 86_400_000 + 4) / 7),
  dayofyear: dayOfYear,
  date: (t) => t.getUTCDate(),
  day: (t) => t.getUTCDay(),
  hours: (t) => t.getUTCHours(),
  minutes: (t) => t.getUTCMinutes(),
  seconds: (t) => t.getUTCSeconds(),
  milliseconds: (t) => t.getUTCMilliseconds(),
};
const UNIT =
  /dayofyear|yearweek|year|quarter|month|week|date|day|hours|minutes|seconds|milliseconds/g;

function dayOfYear(t: Date): number {
  const begin = Date.UTC(t.getUTCFullYear(), 0);
  return Math.floor((t.getTime() - begin) / 86_400_000);
}

function unitsOf(timeUnit: unknown): readonly string[] | undefined {
  if (timeUnit === undefined || timeUnit === null) return [];
  if (typeof timeUnit !== "string" || !timeUnit.startsWith("utc")) return undefined;
  const units = timeUnit.slice(3).match(UNIT) ?? [];
  return units.join("") === timeUnit.slice(3) ? units : undefined;
}

/** As Vega-Lite calls it. */
function titleOf(operation: string, column: string | undefined): string {
  if (operation === "count") return "Count of Records";
  return `${operation[0]!.toUpperCase()}${operation.slice(1)} of ${column}`;
}

function numbers(values: readonly Value[]): number[] {
  return values
    .filter((value) => isNumber(value))
    .map(Number)
    .filter(Number.isFinite);
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}

/** R-7, as Vega's own. */
function quantile(values: readonly number[], p: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * p;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

const less = (a: number | null, b: number): number => (a === null || b < a ? b : a);
const more = (a: number | null, b: number): number => (a === null || b > a ? b : a);
const isMissing = (value: unknown): boolean => value === null || value === undefined;
const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";
const isLost = (value: Value): boolean => typeof value === "number" && !Number.isFinite(value);
const isPlain = (value: unknown): boolean =>
  isNumber(value) || /^(string|boolean)$/.test(typeof value);
const isDate = (value: unknown): value is Date =>
  value instanceof Date && !Number.isNaN(value.getTime());
