import { ProbelabError } from "../base/error.js";
import { Result, type Value } from "../result/result.js";
import { label, uniqueLabels } from "./label.js";
import { list, unusedName, type Roles } from "./roles.js";

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
  if (series.length > 1) return { ...combine(summed, series), sentences };
  return { result: summed, ...(series[0] !== undefined && { series: series[0] }), sentences };
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

/** One series column in place of several: `3.10 · IT`, in the order of all of them. */
function combine(result: Result, series: readonly string[]): Omit<Work, "sentences"> {
  const columns = series.map((name) => result.column(name));
  const dimensions = series.map((name) =>
    result.origin.columns.dimensions.find((dimension) => dimension.name === name),
  );
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
  entries.sort((a, b) => {
    const at = a.rank.findIndex((rank, index) => rank !== b.rank[index]);
    return at < 0 ? 0 : (a.rank[at] ?? 0) < (b.rank[at] ?? 0) ? -1 : 1;
  });
  const texts = new Map(entries.map(({ key, text }) => [key, text]));
  const name = unusedName(result.columnNames, series.join(" and "));
  const other = entries.find((entry) => entry.other)?.text;
  const dimension = {
    name,
    order: entries.map(({ text }) => text),
    ...(other !== undefined && { other }),
  };
  const table = result.table.assign({ [name]: keys.map((key) => texts.get(key)) });
  const columnsNow = { ...result.origin.columns, dimensions: [dimension] };
  return { result: result.with(table, { columns: columnsNow }), series: name };
}

/** One text for equal values; null and the text "null" differ. */
function rowKey(values: readonly Value[]): string {
  return JSON.stringify(
    values.map((value) =>
      value instanceof Date ? value.getTime() : typeof value === "bigint" ? [`${value}`] : value,
    ),
  );
}
