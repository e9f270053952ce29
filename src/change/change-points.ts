import { ProbelabError } from "../base/error.js";
import { checkOptions, type Rules } from "../base/check-options.js";
import { nearName } from "../base/near-name.js";
import { counted, shownValue } from "../base/text.js";
import { columnValues, newTable, rowKeys, rowsByKey } from "../result/arquero-table.js";
import { zoneOf, type MeasureColumn, type TimeColumn } from "../result/origin.js";
import { isResult, type Result, type Value } from "../result/result.js";
import { buckets, nextBucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import { formatInstant } from "../time/time-zone.js";
import { offsetAt } from "../time/wall-clock.js";
import type { Finding } from "./finding.js";
import { beginnings, type Beginning, type GivenAnnotation } from "./beginnings.js";
import { withoutSeason } from "./season.js";
import { segments, type Change } from "./segments.js";

/** What `changePoints` may be told. */
export interface ChangePointsOptions {
  /** Which measure; default: the one that charts draw. */
  readonly measure?: string;
  /** Share of the series found to have changed that may have not; default 0.05. */
  readonly falseDiscovery?: number;
  /**
   * When something first appeared: an answer of `lab.measurements.firstSeen`, or the same question
   * by version. Default: the versions in the answer itself, where it is grouped by them.
   */
  readonly firstSeen?: Result<object> | Promise<Result<object>>;
  /** Deploys and incidents, as charts take them: `chart.annotation("2026-03-02", "3.10 released")`. */
  readonly annotations?: readonly GivenAnnotation[];
}

/** The changes of one or many series, with the series that they were found in. */
export interface ChangePoints extends Finding {
  readonly kind: "change points";
  /** The answer that was searched: a chart draws the changes into it. */
  readonly asked: Result;
}

const ACTION = "find change points";
/** With fewer buckets no change can be told from chance. */
const FEWEST = 8;
const MOST = 5_000;

const RULES: Rules<ChangePointsOptions> = {
  measure: { fits: (v) => typeof v === "string", pass: "the name of a measure" },
  falseDiscovery: {
    fits: (v) => typeof v === "number" && v > 0 && v < 1,
    pass: "a share between 0 and 1, such as 0.05",
  },
  firstSeen: {
    fits: (v) => v instanceof Promise || isResult(v),
    pass: 'a Result, such as lab.measurements.firstSeen({ range, by: "software_version" })',
  },
  annotations: {
    fits: Array.isArray,
    pass: 'a list, such as [chart.annotation("2026-03-02", "3.10 released")]',
  },
};

/**
 * When did a series change its level or its trend?
 *
 * Takes an answer by bucket of time, of one series or many, and gives for each change its time (the
 * start of the first bucket after it) and size, both with a 95 % interval, and what else began then.
 * Day and week are removed where the buckets divide them and the answer covers 4 days, 2 weeks; one
 * or two outliers in a row are no change; buckets without a value, or which the range covers only in
 * part, are left out. Of many series, the share that is found by chance is held at `falseDiscovery`
 * (Benjamini and Hochberg 1995; within the series found, Benjamini and Bogomolov 2014).
 *
 * Columns of the table, the clearest change first: the dimensions, `t`, `change` ("level" or
 * "trend"), `before`, `after`, `size`, `relative` (null where nothing was before), `size_low`,
 * `size_high`, `earliest` and `latest` (of `t`), `p`, `began`. Of a trend, `before` is where the trend
 * before would have led by the end of the stretch after the change, `after` where the series was.
 *
 * @throws ProbelabError for an answer without buckets of time or without the measure, of more than
 *   5,000 buckets a series, and for unknown options.
 * @example
 * const finding = await changePoints(lab.measurements.counts({ range, every: "hour", by: "software_name" }));
 * finding.sentence;
 */
export async function changePoints(
  input: Result<object> | Promise<Result<object>>,
  options: ChangePointsOptions = {},
): Promise<ChangePoints> {
  checkOptions(options, RULES, ACTION);
  const result = (await input) as Result;
  if (!isResult(result)) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${shownValue(result)}: pass a Result by bucket of time, such as lab.measurements.counts({ range, every: "hour" }).`,
    );
  }
  const { time } = result.origin.columns;
  if (time === undefined) {
    throw new ProbelabError(
      `Can't ${ACTION} in an answer without buckets of time: ask with every: "hour", or name the column of free SQL with columns: { t: "hour" }.`,
    );
  }
  const measure = pickMeasure(result, options.measure);
  const zone = zoneOf(result.origin);
  const grid = gridOf(result, time);
  const series = readSeries(result, measure, grid, time);
  const counts = measure.additive && measure.missing === "zero";
  const error = options.falseDiscovery ?? 0.05;
  const judged = series.filter(({ silent }) => silent === undefined);
  const local = grid.starts.map((start) => start + offsetAt(start, zone));
  const usable = judged.map(({ values }) =>
    withoutSeason(values, local, { every: time.every, counts }),
  );
  const search = (at: number, most: number): readonly Change[] => {
    const { values, weights } = usable[at]!;
    return segments(values, { weights, error: most }).changes;
  };
  const first = judged.map((_, at) => search(at, error));
  const least = first.map((changes) => Math.min(1, ...changes.map(({ p }) => p)));
  const kept = benjaminiHochberg(least, error);
  // Fewer series than were looked at: each change of theirs has to be as much clearer.
  const stricter = (error * kept.size) / Math.max(1, judged.length);
  const found = judged.flatMap((each, at) => {
    if (!kept.has(at)) return [];
    const changes = stricter < error ? search(at, stricter) : first[at]!;
    return changes.map(({ before, ...change }): Found => ({
      series: each,
      // A trend that goes on leads below zero, where no count can be.
      change: { ...change, before: counts ? Math.max(0, before) : before },
    }));
  });
  // Beyond one in a million the larger is told first, not the one with the longer stretch.
  const clear = ({ change }: Found) => Math.max(1e-6, change.p);
  found.sort((a, b) => clear(a) - clear(b) || sizeOf(b.change) - sizeOf(a.change));
  const began = await beginnings(result, options, zone);
  const table = tableOf(found, result, { grid, measure, began, zone });
  const shown: Shown = { measure, time, zone, grid, error };
  const notes = notesOf(series, time, zone);
  const finding: ChangePoints = {
    kind: "change points",
    sentence: sentenceOf(table.column("began") as (string | null)[], found, series, shown),
    found: found.length > 0,
    result: table.with(table.table, {
      columns: table.origin.columns,
      notes: [...new Set([...result.origin.notes, ...notes])],
    }),
    asked: result,
  };
  return Object.freeze(finding);
}

function pickMeasure(result: Result, name: string | undefined): MeasureColumn {
  const { measures } = result.origin.columns;
  const found =
    name === undefined
      ? (measures.find(({ main }) => main) ?? measures[0])
      : measures.find((measure) => measure.name === name);
  if (found) return found;
  const names = measures.map((measure) => measure.name);
  if (name === undefined || names.length === 0) {
    throw new ProbelabError(
      `Can't ${ACTION} in an answer without a measure: its columns are ${result.columnNames().join(", ")}. Ask for one, or name the columns of free SQL with columns.`,
    );
  }
  const near = nearName(name, names);
  throw new ProbelabError(
    `Can't ${ACTION} of the measure ${shownValue(name)}: ${near === undefined ? "" : `did you mean ${near}? `}The measures are ${names.join(", ")}.`,
  );
}

/** The buckets of the answer, in order. */
interface Grid {
  readonly starts: readonly number[];
  readonly place: ReadonlyMap<number, number>;
  /** The end of the last. */
  readonly end: number;
}

function gridOf({ table, origin }: Result, { name, every }: TimeColumn): Grid {
  const times = columnValues(table, name).flatMap((v) => (v instanceof Date ? [+v] : []));
  const zone = zoneOf(origin);
  const { range } = origin;
  let starts: number[] = [];
  if (range) starts = buckets(range, every).map(({ start }) => +start);
  else if (times.length > 0) {
    const last = times.reduce((high, at) => Math.max(high, at), -Infinity);
    const begin = times.reduce((low, at) => Math.min(low, at), Infinity);
    for (let at = begin; at <= last && starts.length <= MOST;) {
      starts.push(at);
      at = +nextBucket(new Date(at), every, zone);
    }
  }
  if (starts.length > MOST) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${starts.length.toLocaleString("en-US")} buckets: ${MOST.toLocaleString("en-US")} are the most. Ask with a coarser every, or for a shorter range.`,
    );
  }
  const last = starts.at(-1);
  return {
    starts,
    place: new Map(starts.map((start, i) => [start, i])),
    end: last === undefined ? NaN : +nextBucket(new Date(last), every, zone),
  };
}

/** One series of the answer: a value for each bucket, NaN where none is known. */
interface Series {
  readonly names: readonly (string | null)[];
  readonly values: Float64Array;
  /** Why nothing can be told of it. */
  readonly silent?: string;
}

function readSeries(
  result: Result,
  measure: MeasureColumn,
  { starts, place }: Grid,
  time: TimeColumn,
): Series[] {
  const dimensions = result.origin.columns.dimensions.map(({ name }) => name);
  const times = columnValues(result.table, time.name);
  const cells = columnValues(result.table, measure.name);
  const named = dimensions.map((name) => columnValues(result.table, name));
  const cut = new Set(time.incomplete.map(Number));
  return [...rowsByKey(rowKeys(result.table, dimensions)).values()].map((rows): Series => {
    const values = new Float64Array(starts.length).fill(measure.missing === "zero" ? 0 : NaN);
    for (const row of rows) {
      const at = place.get(Number(times[row]));
      const value = cells[row];
      if (at !== undefined)
        values[at] = value === null || value === undefined ? NaN : Number(value);
    }
    starts.forEach((start, i) => {
      if (cut.has(start)) values[i] = NaN;
    });
    const known = values.filter(Number.isFinite);
    const silent =
      known.length < FEWEST
        ? `fewer than ${FEWEST} whole buckets`
        : known.every((value) => value === 0)
          ? "nothing but zeros"
          : undefined;
    const names = named.map((column) => (column[rows[0]!] ?? null) as string | null);
    return { names, values, ...(silent !== undefined && { silent }) };
  });
}

/** Which of the p-values are found with this false-discovery rate (Benjamini and Hochberg, JRSS B 57, 1995). */
export function benjaminiHochberg(p: readonly number[], rate: number): ReadonlySet<number> {
  const order = p.map((_, at) => at).sort((a, b) => p[a]! - p[b]!);
  let most = 0;
  order.forEach((at, rank) => {
    if (p[at]! <= (rate * (rank + 1)) / p.length) most = rank + 1;
  });
  return new Set(order.slice(0, most));
}

interface Found {
  readonly series: Series;
  readonly change: Change;
}

const sizeOf = ({ before, after }: Change): number => Math.abs(after - before);

interface Context {
  readonly grid: Grid;
  readonly measure: MeasureColumn;
  readonly began: readonly Beginning[];
  readonly zone: string;
}

function tableOf(found: readonly Found[], input: Result, context: Context): Result {
  const { grid, measure, began, zone } = context;
  const { dimensions, time } = input.origin.columns;
  const start = (at: number): Date => new Date(grid.starts[at]!);
  const column = (value: (change: Change) => Value): Value[] =>
    found.map(({ change }) => value(change));
  const columns: [string, Value[]][] = [
    ...dimensions.map(({ name }, at): [string, Value[]] => [
      name,
      found.map(({ series }) => series.names[at] ?? null),
    ]),
    ["t", column(({ at }) => start(at))],
    ["change", column(({ kind }) => kind)],
    ["before", column(({ before }) => before)],
    ["after", column(({ after }) => after)],
    ["size", column(({ before, after }) => after - before)],
    ["relative", column(relativeOf)],
    ["size_low", column(({ before, after, margin }) => after - before - margin)],
    ["size_high", column(({ before, after, margin }) => after - before + margin)],
    ["earliest", column(({ from }) => start(from))],
    ["latest", column(({ to }) => start(to))],
    ["p", column(({ p }) => p)],
    ["began", column((change) => beganAt(change, grid, began, zone))],
  ];
  const { label, unit } = measure;
  const meaning = (name: string, words: string, own = unit): MeasureColumn => ({
    name,
    label: words,
    unit: own,
    additive: false,
    missing: "gap",
  });
  const left = (name: string): Set<Value> =>
    new Set(columns.find(([each]) => each === name)?.[1].map((value) => value ?? null));
  return input.with(newTable(input.table, columns), {
    columns: {
      ...(time && { time: { name: "t", every: time.every, incomplete: [] } }),
      dimensions: dimensions.map((dimension) => ({
        ...dimension,
        order: dimension.order.filter((value) => left(dimension.name).has(value)),
      })),
      measures: [
        { ...meaning("size", `${label}, change`), main: true },
        meaning("before", `${label}, before`),
        meaning("after", `${label}, after`),
        meaning("relative", `${label}, relative change`, "share"),
        meaning("size_low", `${label}, change, low`),
        meaning("size_high", `${label}, change, high`),
        meaning("p", "Probability by chance", "probability"),
      ],
    },
  });
}

function relativeOf({ before, after }: Change): number | null {
  return before > 0 ? (after - before) / before : null;
}

/** What began from a bucket before the earliest time of the change to the end of the latest. */
function beganAt(
  { from, to }: Change,
  { starts, end }: Grid,
  began: readonly Beginning[],
  zone: string,
): string | null {
  const since = starts[Math.max(0, from - 1)]!;
  const until = starts[to + 1] ?? end;
  const some = began.filter(({ at }) => at >= since && at < until);
  if (some.length === 0) return null;
  return some.map(({ at, label }) => `${label} (${formatInstant(new Date(at), zone)})`).join("; ");
}

function notesOf(series: readonly Series[], time: TimeColumn, zone: string): string[] {
  const reasons = new Map<string, number>();
  for (const { silent } of series) {
    if (silent !== undefined) reasons.set(silent, (reasons.get(silent) ?? 0) + 1);
  }
  const cut = time.incomplete.map((start) => formatInstant(start, zone)).join(" and ");
  const gaps = series.filter(
    ({ values, silent }) =>
      silent === undefined &&
      values.filter((value) => isNaN(value)).length > time.incomplete.length,
  ).length;
  return [
    ...[...reasons].map(
      ([why, count]) => `Changes can't be told in ${counted(count, "series", "series")}: ${why}.`,
    ),
    ...(cut === ""
      ? []
      : [
          `Left out of the search: the ${bucketNoun(time.every, time.incomplete.length > 1)} of ${cut}, covered only in part.`,
        ]),
    ...(gaps === 0
      ? []
      : [
          `${counted(gaps, "series has", "series have")} buckets without a value: a change in such a gap is told at its end.`,
        ]),
  ];
}

interface Shown {
  readonly measure: MeasureColumn;
  readonly time: TimeColumn;
  readonly zone: string;
  readonly grid: Grid;
  readonly error: number;
}

function sentenceOf(
  began: readonly (string | null)[],
  found: readonly Found[],
  series: readonly Series[],
  shown: Shown,
): string {
  const { measure, time, grid, error } = shown;
  const judged = series.filter(({ silent }) => silent === undefined);
  const each = `${measure.label} by ${time.every}`;
  if (judged.length === 0) {
    const why = series[0]?.silent ?? "the answer is empty";
    return `Can't tell whether ${each} changed, because ${series.length > 0 ? `there ${why.startsWith("nothing") ? "is" : "are"} ` : ""}${why}.`;
  }
  const best = found[0];
  if (best === undefined) {
    const where = judged.length === 1 ? "" : ` in any of ${judged.length} series`;
    return `No change of level or trend was found in ${each}${where}, ${counted(grid.starts.length, bucketNoun(time.every, false), bucketNoun(time.every, true))} (false-discovery rate ${percent(error)}).`;
  }
  const changed = new Set(found.map((found) => found.series)).size;
  const head =
    judged.length > 1
      ? `${counted(found.length, "change")} in ${changed} of ${judged.length} series; the clearest: `
      : "";
  const others = found.length - 1;
  const tail =
    judged.length > 1 || others === 0
      ? ""
      : ` ${counted(others, "more change")}: ${found
          .slice(1, 4)
          .map(
            ({ change }) =>
              `${formatInstant(new Date(grid.starts[change.at]!), shown.zone)} (${changeText(change, measure)})`,
          )
          .join(", ")}${others > 3 ? " …" : ""}.`;
  return `${head}${oneText(best, each, shown)}${began[0] ? `; began then: ${began[0]}` : ""}.${tail}`;
}

function oneText({ series, change }: Found, each: string, { measure, zone, grid }: Shown): string {
  const time = (at: number): string => formatInstant(new Date(grid.starts[at]!), zone);
  const of =
    series.names.length === 0
      ? ""
      : ` of ${series.names.map((name) => name ?? "(none)").join(", ")}`;
  const { from, to, at, before, after, margin, kind } = change;
  const when =
    from === to
      ? `at ${time(at)} ${zone}`
      : `at ${time(at)} ${zone} (95 %: ${time(from)} to ${time(to)})`;
  const size = after - before;
  const interval = `${numberText(size - margin, measure)} to ${numberText(size + margin, measure)}`;
  return kind === "level"
    ? `${each}${of} ${size < 0 ? "fell" : "rose"} ${when} from ${numberText(before, measure)} to ${numberText(after, measure)}, ${changeText(change, measure)} (95 %: ${interval})`
    : `${each}${of} changed its trend ${when} and ended at ${numberText(after, measure)} instead of ${numberText(before, measure)}, ${changeText(change, measure)} (95 %: ${interval})`;
}

function changeText(change: Change, measure: MeasureColumn): string {
  const relative = relativeOf(change);
  const size = change.after - change.before;
  if (measure.unit === "share" || relative === null)
    return `${size < 0 ? "−" : "+"}${numberText(Math.abs(size), measure)}`;
  return `${relative < 0 ? "−" : "+"}${percent(Math.abs(relative))}`;
}

function percent(share: number): string {
  return `${(share * 100).toLocaleString("en-US", { maximumSignificantDigits: 2 })} %`;
}

function numberText(value: number, { unit }: MeasureColumn): string {
  if (unit === "share") {
    return `${(value * 100).toLocaleString("en-US", { maximumSignificantDigits: 3 })} %`.replace(
      "-",
      "−",
    );
  }
  const whole = Math.abs(value) >= 100;
  const text = value.toLocaleString(
    "en-US",
    whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 },
  );
  return `${text}${unit === "s" ? " s" : ""}`.replace("-", "−");
}
