import { ProbelabError } from "../../base/error.js";
import { zoneOf, type Origin } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { BUCKETS, buckets, bucketStart, type Bucket } from "../../time/bucket.js";
import { bucketName, isMultiple, stepOf, usualLength } from "../../time/step.js";
import type { ChartPlan, Reduced } from "../chart-plan.js";
import { counted } from "../counted.js";
import { numericColumn } from "../numeric-column.js";
import { seriesCodes } from "../split-series.js";
import { regroup } from "./regroup.js";
import { smallestSeries } from "./smallest-series.js";

const TIMES = [2, 5, 10, 20, 50, 100];

/**
 * Areas and bars: rows are added up in the next coarser bucket whose grid of buckets × series fits,
 * then the smallest series are merged into "other". Only measures that may be added up.
 *
 * @throws ProbelabError for any other measure, naming the step of time to ask the database for.
 */
export function reduceStacks(result: Result, plan: ChartPlan, maxRows: number): Reduced {
  const { table, origin } = result;
  const { time } = origin.columns;
  const unchanged = { table, sentences: [], result };
  const rows = table.numRows();
  const timed = time !== undefined && time.name === plan.x;
  if (rows <= maxRows && (!timed || plan.mark === "bar" || plan.series === undefined)) {
    return unchanged;
  }
  const keys = plan.series === undefined ? [undefined] : seriesCodes(table, plan.series).keys;
  if (!timed) throw refusal(plan, rows, whyNotAdded(result, plan.x));
  const starts = numericColumn(table, plan.x).values;
  const grid = (every: Bucket): number =>
    countBuckets(starts, every, time.every, zoneOf(origin)) * keys.length;
  const cells = grid(time.every);
  if (Math.max(rows, cells) <= maxRows) return unchanged;
  const steps = [time.every, ...coarserThan(time.every)];
  const fits = steps.find((every) => grid(every) <= maxRows);
  const measure = origin.columns.measures.find(({ name }) => name === plan.y);
  if (measure?.additive !== true) {
    const remedy =
      fits === undefined
        ? `every: ${JSON.stringify(steps.at(-1))} and fewer series (top)`
        : `every: ${JSON.stringify(fits)}`;
    throw refusal(
      plan,
      Math.max(rows, cells),
      `values of ${JSON.stringify(plan.y)} can't be added up, only counts can; ask again with ${remedy}`,
    );
  }
  const every = fits ?? steps.at(-1)!;
  const merge =
    fits === undefined
      ? merging(result, plan, every, grid(every) / keys.length, maxRows, keys)
      : undefined;
  const reduced = regroup(result, plan, every, merge);
  const sentences: string[] = [];
  if (every !== time.every) {
    sentences.push(
      `${counted(rows, "row")} by ${time.every} added up by ${every}: ${counted(reduced.numRows(), "row")}.`,
    );
  }
  if (merge) {
    sentences.push(
      `The smallest ${merge.merged.size.toLocaleString("en-US")} of ${counted(keys.length, "series", "series")} merged into ${JSON.stringify(merge.label)}.`,
    );
  }
  const columns = regroupedColumns(origin, plan, every, merge?.order, merge?.label);
  return {
    table: reduced,
    sentences,
    result: result.with(reduced, { columns, reductions: [...origin.reductions, ...sentences] }),
  };
}

/**
 * The steps whose buckets are whole ones of `every`: weeks don't add up to months. Those that no
 * usual step is made of (7 minutes, 10 days) are taken twice, five times, ten times …
 */
function coarserThan(every: Bucket): Bucket[] {
  const coarser = (steps: readonly Bucket[]): Bucket[] =>
    steps.filter((each) => usualLength(each) > usualLength(every) && isMultiple(each, every));
  const usual = coarser(BUCKETS);
  if (usual.length > 0 || (BUCKETS as readonly Bucket[]).includes(every)) return usual;
  const { count, unit } = stepOf(every);
  return coarser(TIMES.map((times) => bucketName({ count: times * count, unit })));
}

function countBuckets(starts: Float64Array, every: Bucket, now: Bucket, timeZone: string): number {
  const distinct = new Set(starts);
  distinct.delete(NaN);
  if (every === now) return distinct.size;
  const coarse = new Set<number>();
  for (const at of distinct) coarse.add(bucketStart(new Date(at), every, timeZone).getTime());
  return coarse.size;
}

/** Only the buckets of a question can be added up: what stands along another column, nothing tells. */
function whyNotAdded(result: Result, x: string): string {
  const name = JSON.stringify(x);
  const first = result.column(x).find((value) => value !== null && value !== undefined);
  if (first instanceof Date) {
    return `nothing tells the step of time in ${name}, by which they could be added up; group them in the query (toStartOfHour(${/^\w+$/.test(x) ? x : "…"}) AS hour, count() AS n … GROUP BY hour), or use chart.points or chart.line`;
  }
  return typeof first === "number" || typeof first === "bigint"
    ? `the numbers of ${name} have no buckets, by which they could be added up; group them in the query, or use chart.points or chart.line`
    : `the texts of ${name} can't be added up; ask for the largest (top, in SQL ORDER BY … LIMIT 20)`;
}

function refusal(plan: ChartPlan, rows: number, why: string): ProbelabError {
  return new ProbelabError(
    `Can't draw ${counted(rows, "row")} as ${plan.mark === "bar" ? "bars" : "an area"}, a chart takes fewer than 5,000: ${why}.`,
  );
}

function merging(
  result: Result,
  plan: ChartPlan,
  every: Bucket,
  bucketCount: number,
  maxRows: number,
  keys: readonly unknown[],
): ReturnType<typeof smallestSeries> {
  const room = Math.floor(maxRows / bucketCount);
  if (plan.series === undefined || room < 2) {
    throw refusal(
      plan,
      result.numRows,
      `${counted(bucketCount, "bucket")} of ${counted(keys.length, "series", "series")} don't fit even by ${every}; ask for a shorter range`,
    );
  }
  return smallestSeries(result, plan.series, plan.y, room - 1);
}

function regroupedColumns(
  origin: Origin,
  plan: ChartPlan,
  every: Bucket,
  order?: readonly (string | null)[],
  other?: string,
): Origin["columns"] {
  const { columns, range } = origin;
  const incomplete = (range ? buckets(range, every) : []).filter(({ complete }) => !complete);
  const now = new Set(
    columns.time?.incomplete.map((start) => bucketStart(start, every, zoneOf(origin)).getTime()),
  );
  for (const { start } of incomplete) now.add(start.getTime());
  return {
    time: {
      name: plan.x,
      every,
      incomplete: [...now].sort((a, b) => a - b).map((ms) => new Date(ms)),
    },
    dimensions: columns.dimensions
      .filter(({ name }) => name === plan.series)
      .map((dimension) =>
        order && other !== undefined ? { ...dimension, order, other } : dimension,
      ),
    measures: columns.measures.filter(({ additive }) => additive),
  };
}
