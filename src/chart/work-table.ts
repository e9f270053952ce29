import { ProbelabError } from "../base/error.js";
import { columnsPlural, valueWords } from "../result/column-words.js";
import { Result, type Value } from "../result/result.js";
import { bucketNoun } from "../time/step.js";
import { label, uniqueLabels } from "../render/label.js";
import { list, unusedName, type Roles } from "./roles.js";

/** A Result whose rows have one series column at most, and one row per x and series. */
export interface Work {
  readonly result: Result;
  readonly series?: string;
  readonly sentences: readonly string[];
}

/** The Result as a chart reads it. @throws ProbelabError for rows that can't be added up. */
export function workTable(result: Result, roles: Roles): Work {
  const { hidden, series } = roles;
  const summed = hidden.length > 0 ? sumOver(result, roles) : result;
  const { time } = result.origin.columns;
  const dimensions = hidden.filter((name) => name !== time?.name);
  const words = [
    ...(dimensions.length > 0 ? [columnsPlural(dimensions)] : []),
    ...(time && hidden.includes(time.name) ? [bucketNoun(time.every, true)] : []),
  ];
  const sentences = hidden.length > 0 ? [`All ${words.join(" and ")} added up.`] : [];
  if (series.length > 1) return { ...combine(summed, series), sentences };
  return { result: summed, ...(series[0] !== undefined && { series: series[0] }), sentences };
}

function sumOver(result: Result, { x, y, series, measure, hidden }: Roles): Result {
  if (measure && !measure.additive) {
    const isTime = hidden.includes(result.origin.columns.time?.name ?? "");
    const remedy = isTime
      ? 'ask for the result with every: "all"'
      : `take ${list(hidden)} as color, or ask for the result without it`;
    throw new ProbelabError(
      `Can't draw ${JSON.stringify(y)} without ${list(hidden)}: its values can't be added up; ${remedy}.`,
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
  const keys = Array.from({ length: result.numRows() }, (_, row) =>
    rowKey(columns.map((column) => column[row])),
  );
  const found = [...new Map(keys.map((key, row) => [key, row]))].map(([key, row]) => {
    const values = columns.map((column) => column[row] ?? null);
    const rank = values.map((value, at) => {
      const place = dimensions[at]?.order.indexOf(value as string | null) ?? -1;
      return place < 0 ? Infinity : place;
    });
    const other = values.every((value, at) => value !== null && value === dimensions[at]?.other);
    return { key, values, rank, other };
  });
  const labels = uniqueLabels(
    found.map(({ values, other }) =>
      (other ? values.slice(0, 1) : values)
        .map((value, at) => label(valueWords(dimensions[at]?.of ?? series[at] ?? "", value)))
        .join(" · "),
    ),
  );
  const texts = new Map(found.map(({ key }, index) => [key, labels[index] ?? key]));
  const text = ({ key }: { key: string }): string => texts.get(key) ?? key;
  found.sort((a, b) => {
    const at = a.rank.findIndex((rank, index) => rank !== b.rank[index]);
    return at < 0 ? 0 : (a.rank[at] ?? 0) < (b.rank[at] ?? 0) ? -1 : 1;
  });
  const name = unusedName(result.columnNames(), series.join(" and "));
  const other = found.find((entry) => entry.other);
  const dimension = { name, order: found.map(text), ...(other && { other: text(other) }) };
  const table = result.table.assign({ [name]: keys.map((key) => texts.get(key)) });
  const columnsNow = { ...result.origin.columns, dimensions: [dimension] };
  return { result: result.with(table, { columns: columnsNow }), series: name };
}

/** One text for equal values; null and the text "null" differ. */
export function rowKey(values: readonly Value[]): string {
  return JSON.stringify(
    values.map((value) =>
      value instanceof Date ? value.getTime() : typeof value === "bigint" ? [`${value}`] : value,
    ),
  );
}
