import { table } from "arquero";
import {
  between,
  type Bucket,
  type Origin,
  Result,
  type TimeRange,
  type Value,
} from "../../../src/index.js";
import type { MeasureColumn, ResultColumns } from "../../../src/result/origin.js";
import { buckets } from "../../../src/time/bucket.js";

export const RANGE = between("2026-02-01", "2026-05-01");
export const VERSIONS = ["3.8.2", "3.8.10", "3.9.0", "3.10.1", "3.11.0", "3.12.0-beta"];

/** A Result of the columns given, with an origin as a query gives it. */
export function makeResult(
  columns: Record<string, Value[]>,
  meaning: ResultColumns = { dimensions: [], measures: [] },
  origin: Partial<Origin> = {},
): Result {
  return new Result(table(columns), {
    sql: "SELECT toStartOfWeek(measurement_start_time, 1) AS t, count() AS measurements FROM fastpath WHERE measurement_start_time >= {start:DateTime} GROUP BY t",
    parameters: { start: "2026-02-01 00:00:00", end: "2026-05-01 00:00:00" },
    range: RANGE,
    source: "embedded:.probelab",
    server: "25.8.2.1",
    rowsRead: 4_812_003,
    bytesRead: 96_240_060,
    seconds: 0.41,
    askedAt: new Date("2026-05-01T09:30:00Z"),
    columns: meaning,
    reductions: [],
    notes: [],
    ...origin,
  });
}

/** The columns of rows, of which each has the same. */
export function columnsOf(
  rows: readonly Readonly<Record<string, Value>>[],
): Record<string, Value[]> {
  const names = Object.keys(rows[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
}

/** A Result of rows by time (in the column t, `every` so long) and by dimensions, the last of each its order; "other" is the rest. */
export function asked(
  rows: readonly Readonly<Record<string, Value>>[],
  by: Readonly<Record<string, readonly (string | null)[]>>,
  measures: readonly MeasureColumn[],
  every?: Bucket,
  origin: Partial<Origin> = {},
): Result {
  const dimensions = Object.entries(by).map(([name, order]) => ({
    ...{ name, order },
    ...(order.includes("other") && { other: "other" }),
  }));
  const time = every && { time: { name: "t", every, incomplete: [] } };
  return makeResult(columnsOf(rows), { ...time, dimensions, measures }, origin);
}

/** A count, whose unit is its name. */
export function counted(name: string, label: string): MeasureColumn {
  return { name, label, unit: name, additive: true, missing: "zero" };
}

/** A measure whose values can't be added up. */
export function single(name: string, label: string, unit = "s"): MeasureColumn {
  return { name, label, unit, additive: false, missing: "gap" };
}

/** What `lab.measurements.counts({ by: "software_version", every: "week", top: 6 })` gives. */
export function weeklyCounts(
  options: {
    range?: TimeRange;
    every?: Bucket;
    versions?: readonly string[];
    other?: boolean;
  } = {},
): Result {
  const { range = RANGE, every = "week", versions = VERSIONS, other = true } = options;
  const steps = buckets(range, every);
  const names = other ? [...versions, "other"] : [...versions];
  const random = generator(7);
  const rows = steps.flatMap(({ start, complete }, step) =>
    names.map((version, index) => {
      const born = (index * steps.length) / names.length - 3;
      const uptake = version === "other" ? 0.3 : 1 / (1 + Math.exp(-(step - born) / 1.2));
      const decay = version === "other" ? 1 : Math.exp(-Math.max(0, step - born - 3) / 3);
      const part = complete ? 1 : 0.45;
      const measurements = Math.round(42_000 * uptake * decay * part * (0.9 + 0.2 * random()));
      return { t: start, software_version: version, measurements };
    }),
  );
  return makeResult(
    columnsOf(rows),
    {
      time: { name: "t", every, incomplete: incompleteOf(range, every) },
      dimensions: [{ name: "software_version", order: names, ...(other && { other: "other" }) }],
      measures: [counted("measurements", "Measurements")],
    },
    {
      range,
      reductions: other ? ["Top 6 of 37 versions by measurements; other: 31 more."] : [],
    },
  );
}

/** Counts (additive) and medians (not) by bucket and version, every bucket there. */
export function countsResult(
  range: TimeRange,
  every: Bucket,
  versions: readonly (string | null)[],
  value: (bucket: number, version: number) => number = (b, v) => (b % 7) + v,
): Result {
  const rows = buckets(range, every).flatMap(({ start }, b) =>
    versions.map((version, v) => ({
      t: start,
      version,
      measurements: value(b, v),
      q50: value(b, v),
    })),
  );
  const meaning = {
    time: { name: "t", every, incomplete: incompleteOf(range, every) },
    dimensions: [{ name: "version", order: versions }],
    measures: [counted("measurements", "Measurements"), single("q50", "Median")],
  };
  return makeResult(columnsOf(rows), meaning, { range });
}

/** What `lab.measurements.runDurations({ by: "software_version", every: "week" })` gives. */
export function weeklyDurations(options: { range?: TimeRange } = {}): Result {
  const { range = RANGE } = options;
  const random = generator(11);
  const rows = buckets(range, "week").flatMap(({ start }, step) =>
    VERSIONS.map((version, index) => {
      const known = step >= index * 2 - 2 && !(index === 1 && step === 6);
      const median = (index >= 4 ? 210 : 640) * (0.94 + 0.12 * random());
      return {
        t: start,
        software_version: version,
        runs: known ? Math.round(400 + 300 * random()) : 0,
        q10: known ? median * 0.4 : null,
        q50: known ? median : null,
        q90: known ? median * 1.8 : null,
        single: known ? (index >= 4 ? 0.16 : 0.03) : null,
      };
    }),
  );
  return makeResult(
    columnsOf(rows),
    {
      time: { name: "t", every: "week", incomplete: incompleteOf(range, "week") },
      dimensions: [{ name: "software_version", order: VERSIONS }],
      measures: [
        counted("runs", "Runs"),
        single("q10", "Run duration, 10 %"),
        single("q50", "Run duration, median"),
        single("q90", "Run duration, 90 %"),
        single("single", "Runs of a single measurement", "share"),
      ],
    },
    { range },
  );
}

/** What `lab.runs.summary({ by: "software_version" })` gives. */
export function versionSummary(versions: readonly (string | null)[] = VERSIONS): Result {
  const random = generator(5);
  return makeResult(
    {
      software_version: [...versions],
      runs: versions.map(() => Math.round(2_000 + 9_000 * random())),
      q50: versions.map((_, index) => (index >= 4 ? 210 : 640) * (0.94 + 0.12 * random())),
      per_measurement: versions.map(() => 6.1 + 0.4 * random()),
      single: versions.map((_, index) => (index >= 4 ? 0.16 : 0.03)),
    },
    {
      dimensions: [{ name: "software_version", order: versions }],
      measures: [
        counted("runs", "Runs"),
        single("q50", "Run duration, median"),
        single("per_measurement", "Seconds per measurement, median"),
        single("single", "Runs of a single measurement", "share"),
      ],
    },
  );
}

/** Numbers in [0, 1), the same ones each time (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function incompleteOf(range: TimeRange, every: Bucket): Date[] {
  return buckets(range, every)
    .filter(({ complete }) => !complete)
    .map(({ start }) => start);
}
