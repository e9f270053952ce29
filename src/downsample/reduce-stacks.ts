import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { newTable } from "../result/arquero-table.js";
import { zoneOf, type Origin } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { BUCKETS, buckets, bucketStart, type Bucket } from "../time/bucket.js";
import { bucketName, isMultiple, stepOf, usualLength } from "../time/step.js";
import type { ChartPlan, Reduced } from "./chart-plan.js";
import { numericColumn, seriesCodes } from "./series.js";

const TIMES = [2, 5, 10, 20, 50, 100];

/** Areas and bars: added up by the next coarser bucket that fits. */
export function reduceStacks(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const { table, origin } = result;
  const { time } = origin.columns;
  const unchanged = { table, sentences: [], result };
  const rows = table.numRows();
  const timed = time !== undefined && time.name === plan.x;
  if (rows <= maxRows && (!timed || plan.mark === "bar" || plan.series === undefined)) {
    return unchanged;
  }
  const { keys } = seriesCodes(table, plan.series);
  if (!timed) {
    throw refusal(
      plan,
      rows,
      `only the buckets of a question can be added up, and ${JSON.stringify(plan.x)} has none; group them in the query (toStartOfHour(t) AS hour, count() AS n … GROUP BY hour), ask for the largest (top, in SQL ORDER BY … LIMIT 20), or use chart.line`,
    );
  }
  const starts = new Set(numericColumn(table, plan.x).values);
  starts.delete(NaN);
  const startIn = (every: Bucket, at: number): number =>
    every === time.every ? at : +bucketStart(new Date(at), every, zoneOf(origin));
  const bucketCount = (every: Bucket): number =>
    new Set([...starts].map((at) => startIn(every, at))).size;
  const cells = bucketCount(time.every) * keys.length;
  if (Math.max(rows, cells) <= maxRows) return unchanged;
  const steps = [time.every, ...coarserThan(time.every)];
  const fits = steps.find((every) => bucketCount(every) * keys.length <= maxRows);
  const every = fits ?? steps.at(-1)!;
  const measure = origin.columns.measures.find(({ name }) => name === plan.y);
  if (measure?.additive !== true) {
    const remedy = `every: ${JSON.stringify(every)}${fits === undefined ? " and fewer series (top)" : ""}`;
    throw refusal(
      plan,
      Math.max(rows, cells),
      `values of ${JSON.stringify(plan.y)} can't be added up, only counts can; ask again with ${remedy}`,
    );
  }
  if (fits === undefined) {
    throw refusal(
      plan,
      rows,
      `${counted(bucketCount(every), "bucket")} of ${counted(keys.length, "series", "series")} don't fit even by ${every}; ask for a shorter range or fewer series (top)`,
    );
  }
  const reduced = addedUp(result, plan, (at) => startIn(every, at));
  const sentences =
    every === time.every
      ? []
      : [
          `${counted(rows, "row")} by ${time.every}, added up by ${every} to ${grouped(reduced.numRows())}.`,
        ];
  const columns = addedUpColumns(origin, plan, every);
  return {
    table: reduced,
    sentences,
    result: result.with(reduced, { columns, reductions: [...origin.reductions, ...sentences] }),
  };
}

// The steps whose buckets are whole ones of `every`: weeks don't add up to months. Those that no
// usual step is made of (7 minutes, 10 days) are taken twice, five times, ten times …
function coarserThan(every: Bucket): Bucket[] {
  const coarser = (steps: readonly Bucket[]): Bucket[] =>
    steps.filter((each) => usualLength(each) > usualLength(every) && isMultiple(each, every));
  const usual = coarser(BUCKETS);
  if (usual.length > 0 || (BUCKETS as readonly Bucket[]).includes(every)) return usual;
  const { count, unit } = stepOf(every);
  return coarser(TIMES.map((times) => bucketName({ count: times * count, unit })));
}

function refusal(plan: ChartPlan, rows: number, why: string): ProbelabError {
  return new ProbelabError(
    `Can't draw ${counted(rows, "row")} as ${plan.mark === "bar" ? "bars" : "an area"}, a chart takes fewer than 5,000: ${why}.`,
  );
}

// In order of time, then of the series' first rows; null where all values are missing.
function addedUp(
  { table, origin }: Result,
  plan: ChartPlan,
  startOf: (at: number) => number,
): ColumnTable {
  const { values } = numericColumn(table, plan.x);
  const { codes, keys } = seriesCodes(table, plan.series);
  const starts = new Map([...new Set(values)].filter(isFinite).map((at) => [at, startOf(at)]));
  const groups = new Map<string, { start: number; series: number; rows: number[] }>();
  for (let row = 0; row < values.length; row++) {
    const start = starts.get(values[row]!);
    if (start === undefined) continue;
    const series = codes[row]!;
    const key = `${start} ${series}`;
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { start, series, rows: [row] });
  }
  const sorted = [...groups.values()].sort((a, b) => a.start - b.start || a.series - b.series);
  const columns: [string, unknown[]][] = [[plan.x, sorted.map(({ start }) => new Date(start))]];
  if (plan.series !== undefined) {
    columns.push([plan.series, sorted.map(({ series }) => keys[series])]);
  }
  for (const { name } of origin.columns.measures.filter(({ additive }) => additive)) {
    const measured = numericColumn(table, name).values;
    const sums = sorted.map(({ rows }) => {
      const known = rows.map((row) => measured[row]!).filter((value) => !Number.isNaN(value));
      return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
    });
    columns.push([name, sums]);
  }
  return newTable(table, columns);
}

function addedUpColumns(origin: Origin, plan: ChartPlan, every: Bucket): Origin["columns"] {
  const { columns, range } = origin;
  const before = (columns.time?.incomplete ?? []).map(
    (start) => +bucketStart(start, every, zoneOf(origin)),
  );
  const now = (range ? buckets(range, every) : [])
    .filter(({ complete }) => !complete)
    .map(({ start }) => +start);
  const incomplete = [...new Set([...before, ...now])].sort((a, b) => a - b);
  return {
    time: { name: plan.x, every, incomplete: incomplete.map((ms) => new Date(ms)) },
    dimensions: columns.dimensions.filter(({ name }) => name === plan.series),
    measures: columns.measures.filter(({ additive }) => additive),
  };
}
