import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { zoneOf } from "../result/origin.js";
import { BUCKETS, buckets, bucketStart, type Bucket } from "../time/bucket.js";
import { isMultiple, usualLength } from "../time/step.js";
import { pickRows } from "../result/arquero-table.js";
import { valueKey } from "../result/json.js";
import { Result } from "../result/result.js";
import type { Kind, Roles } from "./roles.js";
import { addedUp, type Work } from "./work-table.js";

/** The rows that a chart draws, and a sentence where they are fewer than those of its Result. */
export interface Reduced {
  readonly result: Result;
  readonly sentences: readonly string[];
}

/**
 * Rows of areas and bars that are more than a chart takes, added up by the next coarser bucket that fits.
 * An area of several series has a point for each of them in every bucket, whether there is a row or not.
 *
 * @throws ProbelabError for what can't be added up, with what to ask for.
 */
export function coarserBuckets(work: Work, roles: Roles, kind: Kind, most: number): Reduced {
  const { result, lines: series } = work;
  const unchanged = { result, sentences: [] };
  const { origin } = result;
  const { time } = origin.columns;
  const rows = result.numRows();
  const timed = time !== undefined && time.name === roles.x;
  const fills = timed && kind.name === "area" && series !== undefined;
  if (rows <= most && !fills) return unchanged;
  const refusal = (why: string, limit = "a chart takes fewer than 5,000"): ProbelabError =>
    new ProbelabError(`Can't draw ${counted(rows, "row")} as ${kind.drawn}, ${limit}: ${why}.`);
  if (!kind.sized) {
    throw refusal(
      "count them in the question (every, by; in SQL GROUP BY), and draw chart.heatmap or chart.histogram",
      `a chart of these takes at most ${grouped(most)}`,
    );
  }
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
  const coarser = BUCKETS.filter(
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
  const partly = (origin.range ? buckets(origin.range, every) : [])
    .filter(({ complete }) => !complete)
    .map(({ start }) => +start);
  const incomplete = new Set([
    ...time.incomplete.map((at) => +bucketStart(at, every, zone)),
    ...partly,
  ]);
  const columns = {
    ...origin.columns,
    time: { ...time, every, incomplete: [...incomplete].map((at) => new Date(at)) },
  };
  return {
    result: summed.with(summed.table, { columns }),
    sentences: [
      `${counted(rows, "row")} by ${time.every}, added up by ${every} to ${grouped(summed.numRows())}.`,
      ...(lost > 0 ? [`${counted(lost, "row")} without ${time.name} left out.`] : []),
    ],
  };
}
