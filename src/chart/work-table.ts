import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import {
  columnValues,
  newTable,
  pickRows,
  rowKeys,
  rowsByKey,
  unusedName,
} from "../result/arquero-table.js";
import { columnsPlural, valueWords } from "../result/column-words.js";
import { valueKey } from "../result/json.js";
import { zoneOf, type MeasureColumn } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { BUCKETS, buckets, bucketStart, type Bucket } from "../time/bucket.js";
import { bucketNoun, isMultiple, usualLength } from "../time/step.js";
import { label, uniqueLabels } from "./render/label.js";
import type { Options } from "./options.js";
import {
  chartRoles,
  checkColumn,
  list,
  type Reduced,
  type Roles,
  type RowsKind,
  type Work,
} from "./roles.js";

/** The Result as a chart reads it. @throws ProbelabError for rows that can't be added up. */
export function workTable(result: Result, roles: Roles): Work {
  const { hidden, series, facet } = roles;
  const summed = hidden.length > 0 ? addedUp(result, roles) : result;
  const sentences = summed === result ? [] : [addedUpSentence(result, hidden)];
  const one = oneColumn(summed, series);
  const both = facet === undefined ? one : oneColumn(one.result, [one.name ?? [], facet].flat());
  const named = one.name !== undefined && { series: one.name };
  return { result: both.result, ...named, lines: both.name, sentences };
}

/** `All versions and weeks added up.` */
export function addedUpSentence({ origin }: Result, hidden: readonly string[]): string {
  const { time } = origin.columns;
  const dimensions = hidden.filter((name) => name !== time?.name);
  const words = [
    ...(dimensions.length > 0 ? [columnsPlural(dimensions)] : []),
    ...(time && hidden.includes(time.name) ? [bucketNoun(time.every, true)] : []),
  ];
  return `All ${words.join(" and ")} added up.`;
}

/**
 * A row for each place that the chart draws, of the columns `kept`: counts are added up, of a quotient both of its parts.
 * Columns that nothing is known of stay as they are, as long as each place has one row.
 */
export function addedUp(
  result: Result,
  roles: Roles,
  kept: readonly string[] = [roles.x, ...roles.series, ...(roles.facet ? [roles.facet] : [])],
): Result {
  const { y, measure } = roles;
  const groups = [...rowsByKey(rowKeys(result.table, kept)).values()];
  if (measure === undefined && groups.length === result.numRows()) return result;
  const { quotient } = measure ?? {};
  const parts = quotient?.every((name) => result.columnNames().includes(name)) ? quotient : [y];
  if (!measure?.additive && parts.length < 2) throw refuseToAddUp(result, roles);
  const sums = parts.map((name) => {
    const values = result.column(name);
    return groups.map((rows) => {
      const known = rows.map((row) => values[row] ?? null).filter((value) => value !== null);
      return known.length === 0 ? null : known.reduce((sum: number, n) => sum + Number(n), 0);
    });
  });
  const [part = [], whole] = sums;
  const table = newTable(result.table, [
    ...kept.map((name): [string, Value[]] => {
      const values = result.column(name);
      return [name, groups.map(([row]) => values[row!])];
    }),
    [y, whole ? part.map((sum, at) => (whole[at] ? Number(sum) / whole[at] : null)) : part],
  ]);
  return new Result(table, result.origin);
}

/** The refusal of a chart without a dimension over which its values don't add up. */
function refuseToAddUp({ origin }: Result, { y, measure, hidden }: Roles): ProbelabError {
  const isTime = hidden.includes(origin.columns.time?.name ?? "");
  const why = measure ? "its values can't be added up" : "nothing says that its values add up";
  const remedy = isTime
    ? 'ask for the result with every: "all"'
    : `take ${list(hidden)} as color, or ask for the result without it`;
  return new ProbelabError(
    `Can't draw ${JSON.stringify(y)} without ${list(hidden)}: ${why}; ${remedy}.`,
  );
}

const COARSER: readonly Bucket[] = ["5 minutes", "15 minutes", "30 minutes", ...BUCKETS];

/**
 * Rows of areas and bars that are more than a chart takes, added up by the next coarser bucket that fits.
 * An area of several series has a point for each of them in every bucket, whether there is a row or not.
 *
 * @throws ProbelabError for what can't be added up, with what to ask for.
 */
export function coarserBuckets(
  work: Work,
  roles: Roles,
  noun: string,
  most: number,
  everyBucket = false,
): Reduced {
  const { result, lines: series } = work;
  const unchanged = { result, sentences: [] };
  const { origin } = result;
  const { time } = origin.columns;
  const rows = result.numRows();
  const timed = time !== undefined && time.name === roles.x;
  const fills = timed && everyBucket && series !== undefined;
  if (rows <= most && !fills) return unchanged;
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(
      `Can't draw ${counted(rows, "row")} as ${noun}, a chart takes fewer than 5,000: ${why}.`,
    );
  if (!timed) {
    throw refusal(
      `only the buckets of a question can be added up, and ${JSON.stringify(roles.x)} has none; group them in the query (toStartOfHour(t) AS hour, count() AS n … GROUP BY hour), ask for the largest (top, in SQL ORDER BY … LIMIT 20), or use chart.line`,
    );
  }
  const zone = zoneOf(origin);
  const times = result.column(time.name).map((at) => (at instanceof Date ? +at : NaN));
  const distinct = [...new Set(times.filter(Number.isFinite))];
  const startsBy = (every: Bucket): Map<number, number> =>
    new Map(distinct.map((at) => [at, +bucketStart(new Date(at), every, zone)]));
  const groups = series === undefined ? 1 : new Set(result.column(series).map(valueKey)).size;
  if (Math.max(rows, distinct.length * groups) <= most) return unchanged;
  // Only buckets that hold whole ones: weeks don't add up to months.
  const coarser = COARSER.filter(
    (each) => usualLength(each) > usualLength(time.every) && isMultiple(each, time.every),
  );
  const every = coarser.find((each) => new Set(startsBy(each).values()).size * groups <= most);
  if (every === undefined) {
    throw refusal(`ask again with a coarser every than "${time.every}", or fewer series (top)`);
  }
  if (roles.measure?.additive !== true) {
    throw refusal(
      `values of ${JSON.stringify(roles.y)} can't be added up, only counts can; ask again with every: "${every}"`,
    );
  }
  const starts = startsBy(every);
  const placed = [...times.keys()].filter((row) => starts.has(times[row]!));
  const table = pickRows(result.table, placed).assign({
    [time.name]: placed.map((row) => new Date(starts.get(times[row]!)!)),
  });
  const kept = [time.name, ...(series === undefined ? [] : [series])];
  const summed = addedUp(new Result(table, origin), roles, kept);
  const lost = rows - placed.length;
  const incomplete = (origin.range ? buckets(origin.range, every) : [])
    .filter(({ complete }) => !complete)
    .map(({ start }) => start);
  const columns = {
    ...origin.columns,
    time: { ...time, every, incomplete },
  };
  return {
    result: summed.with(summed.table, { columns }),
    sentences: [
      `${counted(rows, "row")} by ${time.every}, added up by ${every} to ${grouped(summed.numRows())}.`,
      ...(lost > 0 ? [`${counted(lost, "row")} without ${time.name} left out.`] : []),
    ],
  };
}

/** One column for several: `3.10 · IT`, in the order of all of them; they stay beside it. */
function oneColumn(
  result: Result,
  series: readonly string[],
): { readonly result: Result; readonly name?: string } {
  if (series.length < 2) return { result, ...(series[0] !== undefined && { name: series[0] }) };
  const values = series.map((name) => result.column(name));
  const dimensions = series.map((name) =>
    result.origin.columns.dimensions.find((dimension) => dimension.name === name),
  );
  const keys = rowKeys(result.table, series);
  const found = [...rowsByKey(keys)].map(([key, [row]]) => {
    const own = values.map((column) => column[row!] ?? null);
    const rank = own.map((value, at) => {
      const place = dimensions[at]?.order.indexOf(value as string | null) ?? -1;
      return place < 0 ? Infinity : place;
    });
    const other = own.every((value, at) => value !== null && value === dimensions[at]?.other);
    const names = own.map((value, at) =>
      label(valueWords(dimensions[at]?.of ?? series[at] ?? "", value)),
    );
    return { key, rank, other, text: other ? names[0]! : names.join(" · ") };
  });
  const labels = uniqueLabels(found.map(({ text }) => text));
  const texts = new Map(found.map(({ key }, index) => [key, labels[index]!]));
  found.sort((a, b) => {
    const at = a.rank.findIndex((rank, index) => rank !== b.rank[index]);
    return at < 0 ? 0 : (a.rank[at] ?? 0) < (b.rank[at] ?? 0) ? -1 : 1;
  });
  const name = unusedName(result.columnNames(), series.join(" and "));
  const other = found.find((entry) => entry.other);
  const dimension = {
    name,
    order: found.map(({ key }) => texts.get(key)!),
    ...(other && { other: texts.get(other.key)! }),
  };
  const table = result.table.assign({ [name]: keys.map((key) => texts.get(key)) });
  const { columns } = result.origin;
  const now = { ...columns, dimensions: [...columns.dimensions, dimension] };
  return { result: result.with(table, { columns: now }), name };
}

/**
 * A Result whose measures `y` stand below each other in one column, with another that names them: a
 * series each. With one measure it stays as it is.
 *
 * @throws ProbelabError for measures of different units, which have no axis in common.
 */
export function foldMeasures(
  result: Result,
  kind: RowsKind,
  { ys, ...options }: Options,
): { result: Result; options: Options } {
  const names = [...new Set(ys)];
  const [first] = names;
  if (names.length < 2) return { result, options: { ...options, ...(first && { y: first }) } };
  for (const name of names) checkColumn(result.columnNames(), name, `draw ${kind.noun} with y: `);
  const { columns } = result.origin;
  const measures = names.map((name) => columns.measures.find((each) => each.name === name));
  const known = measures.filter((measure) => measure !== undefined);
  const units = [...new Set(known.map(({ unit }) => unit))];
  if (units.length > 1) {
    throw new ProbelabError(
      `Can't draw ${list(names)} along one axis: they are of ${units.map((unit) => unit || "no unit").join(" and ")}; draw a chart of each.`,
    );
  }
  const roles = chartRoles(result, kind, { ...options, y: first! });
  const twice = kind.sizes ? overlapping(known) : undefined;
  const { stack = roles.xKind === "category" ? false : "sum" } = options;
  if (twice && stack !== false) {
    throw new ProbelabError(
      `Can't stack ${list(twice)}: what one counts can be part of the other, and would count twice; draw them with chart.line, or stack counts that exclude each other, count({ where: { anomaly: "t" } }) and count({ where: { anomaly: "f" } }).`,
    );
  }
  const labels = names.map((name, at) => measures[at]?.label ?? name);
  const common = commonStart(labels);
  const texts = uniqueLabels(labels.map((label) => label.slice(common.length)));
  const [name, value] = ["measure", "value"].map((each) => unusedName(result.columnNames(), each));
  const folded = result.table.fold(names, { as: [name!, value!] });
  const table = folded.assign({
    [name!]: columnValues(folded, name!).map((each) => texts[names.indexOf(each as string)]),
  });
  const measure: MeasureColumn = {
    name: value!,
    label: common === "" ? labels.join(", ") : common.replace(/[\s,]+$/, ""),
    unit: units[0] ?? "",
    additive: twice === undefined && known.every(({ additive }) => additive),
    missing: known.every(({ missing }) => missing === "zero") ? "zero" : "gap",
  };
  const meaning = {
    ...columns,
    dimensions: [...columns.dimensions, { name: name!, order: texts }],
    measures: known.length < names.length ? [] : [measure],
  };
  const color = [...roles.series, name!];
  return {
    result: result.with(table, { columns: meaning }),
    options: { ...options, y: value!, color },
  };
}

/** The first two measures that can count the same rows. */
function overlapping(measures: readonly MeasureColumn[]): [string, string] | undefined {
  for (const [at, { name, only }] of measures.entries()) {
    const other = measures
      .slice(at + 1)
      .find((each) => only && each.only && !excludes(only, each.only));
    if (other) return [name, other.name];
  }
  return undefined;
}

/** True if no row can have the values of both. */
function excludes(one: NonNullable<MeasureColumn["only"]>, other: typeof one): boolean {
  return Object.entries(one).some(([name, values]) => {
    const theirs = Object.hasOwn(other, name) ? other[name]! : undefined;
    return theirs !== undefined && !values.some((value) => theirs.includes(value));
  });
}

/** What all texts begin with, up to the end of a word: `Run duration, `. */
export function commonStart([first = "", ...others]: readonly string[]): string {
  const words = first.split(/(?<=\s)/);
  let start = "";
  for (const word of words.slice(0, -1)) {
    if (!others.every((text) => text.startsWith(start + word))) break;
    start += word;
  }
  return start;
}
