import { ProbelabError } from "../base/error.js";
import type { DimensionColumn } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { label, uniqueLabels } from "./label.js";
import { list, type Roles } from "./roles.js";
import { unusedName } from "./unused-name.js";

/** A Result whose rows have one series column at most, and one row per x and series. */
export interface Work {
  readonly result: Result;
  readonly series?: string;
  readonly sentences: readonly string[];
}

/**
 * The Result as a chart reads it: rows of dimensions that aren't shown are added up, two or more
 * series columns become one, and a bar that stands alone gets its place.
 *
 * @throws ProbelabError where the rows can't be added up, because the measure isn't a count.
 */
export function workTable(result: Result, roles: Roles): Work {
  const { hidden, series, single, x, y } = roles;
  const placed =
    single === undefined
      ? result
      : new Result(result.table.assign({ [x]: result.column(y).map(() => single) }), result.origin);
  const summed = hidden.length > 0 ? sumOver(placed, roles) : placed;
  const sentences =
    hidden.length > 0 ? [`Added up over ${hidden.map((name) => label(name)).join(", ")}.`] : [];
  const [only, ...more] = series;
  if (only === undefined) return { result: summed, sentences };
  const dimensions = series.map((name) =>
    result.origin.columns.dimensions.find((dimension) => dimension.name === name),
  );
  if (more.length === 0) {
    return { result: summed, series: only, sentences };
  }
  return { ...combine(summed, series, dimensions), sentences };
}

function sumOver(result: Result, { x, y, series, measure, hidden }: Roles): Result {
  if (measure && !measure.additive) {
    throw new ProbelabError(
      `Can't draw ${JSON.stringify(y)} without ${list(hidden)}: its values can't be added up; take ${list(hidden)} as colour, or ask for the result without it.`,
    );
  }
  const kept = [x, ...series];
  const columns = kept.map((name) => result.column(name));
  const sums = new Map<string, { at: number; sum: number | null }>();
  result.column(y).forEach((value, at) => {
    const key = rowKey(columns.map((column) => column[at]));
    const seen = sums.get(key);
    const number = value === null || value === undefined ? null : Number(value);
    if (seen === undefined) sums.set(key, { at, sum: number });
    else if (number !== null) seen.sum = (seen.sum ?? 0) + number;
  });
  const groups = [...sums.values()];
  const data: Record<string, Value[]> = {};
  kept.forEach((name, index) => (data[name] = groups.map(({ at }) => columns[index]?.[at])));
  data[y] = groups.map(({ sum }) => sum);
  return new Result(result.table.create({ data }).ungroup().unorder(), result.origin);
}

function combine(
  result: Result,
  series: readonly string[],
  dimensions: readonly (DimensionColumn | undefined)[],
): Omit<Work, "sentences"> {
  const columns = series.map((name) => result.column(name));
  const ranks = dimensions.map(
    (dimension) => new Map<Value, number>(dimension?.order.map((value, index) => [value, index])),
  );
  const keys = Array.from({ length: result.numRows }, (_, row) =>
    rowKey(columns.map((column) => column[row])),
  );
  const found = new Map(
    keys.map((key, row) => [key, columns.map((column) => column[row] ?? null)] as const),
  );
  const isOther = (values: readonly Value[]): boolean =>
    values.every((value, at) => value !== null && value === dimensions[at]?.other);
  const labels = uniqueLabels(
    [...found.values()].map((values) =>
      (isOther(values) ? values.slice(0, 1) : values).map((value) => label(value)).join(" · "),
    ),
  );
  const entries = [...found].map(([key, values], index) => ({
    key,
    text: labels[index] ?? key,
    rank: values.map((value, at) => ranks[at]?.get(value) ?? Infinity),
    other: isOther(values),
  }));
  entries.sort((a, b) => compare(a.rank, b.rank));
  const texts = new Map(entries.map(({ key, text }) => [key, text]));
  const name = unusedName(result.columnNames, series.join(" and "));
  const other = entries.find((entry) => entry.other)?.text;
  const order = entries.map(({ text }) => text);
  const dimension = { name, order, ...(other !== undefined && { other }) };
  const table = result.table.assign({ [name]: keys.map((key) => texts.get(key)) });
  const meaning = { ...result.origin.columns, dimensions: [dimension] };
  return { result: result.with(table, { columns: meaning }), series: name };
}

/** One text for equal values; null and the text "null" differ. */
function rowKey(values: readonly Value[]): string {
  return JSON.stringify(
    values.map((value) =>
      value instanceof Date ? value.getTime() : typeof value === "bigint" ? [`${value}`] : value,
    ),
  );
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((rank, index) => rank !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1;
}
