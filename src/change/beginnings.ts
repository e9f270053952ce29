import { ProbelabError } from "../base/error.js";
import { cleanText, shownValue, textOf } from "../base/text.js";
import { columnValues, rowKeys, rowsByKey } from "../result/arquero-table.js";
import { isVersionColumn } from "../result/origin.js";
import { isResult, type Result, type Value } from "../result/result.js";
import { nextBucket } from "../time/bucket.js";
import { readInstant } from "../time/instant.js";

/** A deploy or an incident: when it was (one of `time`, `at`, `start`), and what. */
export interface GivenAnnotation {
  readonly time?: Date | string;
  readonly at?: Date | string;
  readonly start?: Date | string;
  readonly label: string;
}

/** Something that began, in ms since 1970. */
export interface Beginning {
  readonly at: number;
  readonly label: string;
}

/** What began in the time of an answer, in order: annotations, and what was first seen after its first bucket. */
export async function beginnings(
  result: Result,
  {
    firstSeen,
    annotations = [],
  }: {
    readonly firstSeen?: Result<object> | Promise<Result<object>>;
    readonly annotations?: readonly GivenAnnotation[];
  },
  zone: string,
): Promise<Beginning[]> {
  const given = (await firstSeen) as Result | undefined;
  const seen =
    given === undefined
      ? firstBuckets(result, isVersionColumn)
      : isResult(given) && given.columnNames().includes("first")
        ? firstTimes(given)
        : firstBuckets(given, () => true);
  const noted = annotations.map(({ time, at, start, label }): Beginning => {
    if (typeof label !== "string") {
      throw new ProbelabError(
        `Can't find change points with an annotation labelled ${shownValue(label)}: pass { time, label: "3.10 released" }.`,
      );
    }
    const instant = readInstant(time ?? at ?? start, zone, "time of an annotation");
    return { at: +instant, label: cleanText(label, 100) };
  });
  return [...noted, ...seen].sort((a, b) => a.at - b.at);
}

function labelOf(names: readonly string[], values: readonly Value[]): string {
  const parts = names.map((name, at) => `${name} ${cleanText(textOf(values[at] ?? "(none)"), 60)}`);
  return `${parts.join(", ")} first seen`;
}

/** Of an answer of `firstSeen`: a row for each group, with the time of its first measurement. */
function firstTimes(result: Result): Beginning[] {
  const { range, columns } = result.origin;
  const names = columns.dimensions.map(({ name }) => name);
  const groups = names.map((name) => columnValues(result.table, name));
  const times = columnValues(result.table, "first").map((time) =>
    time instanceof Date ? +time : NaN,
  );
  const earliest = times.filter((at) => at >= +(range?.start ?? -Infinity));
  // What was there as the range began isn't new: an hour is more than the gap between measurements.
  const old = Math.min(...earliest) + 3_600_000;
  return times.flatMap((at, row) =>
    at > old
      ? [
          {
            at,
            label: labelOf(
              names,
              groups.map((group) => group[row]),
            ),
          },
        ]
      : [],
  );
}

/** Of an answer by time and group: the first bucket in which a group has anything, but for the first two of all. */
function firstBuckets(result: Result, wanted: (dimension: string) => boolean): Beginning[] {
  const { time, dimensions, measures } = result.origin.columns;
  const names = dimensions.map(({ name }) => name).filter(wanted);
  const counted = (measures.find(({ additive }) => additive) ?? measures[0])?.name;
  if (time === undefined || names.length === 0 || counted === undefined) return [];
  const { timeZone = "UTC" } = result.origin.range ?? {};
  const rest = dimensions.map(({ other }) => other);
  const times = columnValues(result.table, time.name).map(Number);
  const values = columnValues(result.table, counted);
  const groups = names.map((name) => columnValues(result.table, name));
  const start = times.reduce((low, at) => Math.min(low, at), Infinity);
  if (!Number.isFinite(start)) return [];
  const second = +nextBucket(new Date(start), time.every, timeZone);
  return [...rowsByKey(rowKeys(result.table, names)).values()].flatMap((rows) => {
    const own = groups.map((group) => group[rows[0]!]);
    if (own.some((value) => value === null || rest.includes(value as string))) return [];
    const at = rows
      .filter((row) => Number(values[row] ?? 0) > 0)
      .reduce((low, row) => Math.min(low, times[row]!), Infinity);
    return at > second && Number.isFinite(at) ? [{ at, label: labelOf(names, own) }] : [];
  });
}
