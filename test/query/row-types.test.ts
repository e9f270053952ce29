/* eslint-disable @typescript-eslint/no-unused-vars -- functions that only their types are read of */
import { expectTypeOf, test } from "vitest";
import {
  between,
  bins,
  count,
  countDistinct,
  type Lab,
  min,
  quantile,
  type Result,
  share,
  type Value,
  versionPart,
} from "../../src/index.js";

// Read by the type check; nothing here is asked.
const range = between("2026-03-01", "2026-03-08");
type RowOf<Asked extends Promise<Result<object>>> =
  Asked extends Promise<Result<infer Row>> ? Row : never;
type N = number | null;

const measurements = (lab: Lab) => ({
  counts: lab.measurements.counts({ range, by: "probe_cc" }),
  total: lab.measurements.counts({ range, every: "all", by: { country: "probe_cc" } }),
  runs: lab.runs.counts({ range, by: ["probe_cc"], quantiles: [0.025, 0.5] }),
  durations: lab.measurements.runDurations({ range }),
  summary: lab.runs.summary({ range, quantiles: [0.5] }),
  duplicates: lab.measurements.duplicates({ range }),
  firstSeen: lab.measurements.firstSeen({ range, by: "software_version" }),
  ask: lab.measurements.ask({
    range,
    every: "day",
    by: ["probe_cc"],
    measures: {
      n: count(),
      part: share({ probe_cc: "IT" }),
      of: countDistinct("report_id"),
      at: min("time"),
    },
  }),
  runsAsked: lab.runs.ask({ range, every: "all", measures: { p90: quantile(0.9, "duration") } }),
  values: lab.measurements.values({ range, y: "test_runtime", by: "test_name" }),
  oneLine: lab.measurements.values({ range, y: "test_runtime" }),
  bins: lab.runs.ask({
    range,
    every: "all",
    by: [versionPart("software_version", 2), bins("duration", [60])],
    measures: { n: count() },
  }),
});

type M = ReturnType<typeof measurements>;
type Runs = { runs: number; measurements: number; single_share: N };

test("a question on measurements gives the row's type", () => {
  expectTypeOf<RowOf<M["counts"]>>().toEqualTypeOf<{
    t: Date;
    probe_cc: string | null;
    measurements: number;
  }>();
  expectTypeOf<RowOf<M["total"]>>().toEqualTypeOf<{
    country: string | null;
    measurements: number;
  }>();
  expectTypeOf<RowOf<M["runs"]>>().branded.toEqualTypeOf<
    { t: Date; probe_cc: string | null; q2_5: N; q50: N } & Runs
  >();
  expectTypeOf<RowOf<M["durations"]>>().branded.toEqualTypeOf<
    { t: Date; q10: N; q50: N; q90: N } & Runs
  >();
  expectTypeOf<RowOf<M["summary"]>>().branded.toEqualTypeOf<
    {
      software_name: string | null;
      software_version: string | null;
      measurements_per_run: N;
      seconds_per_measurement: N;
      q50: N;
    } & Runs
  >();
  expectTypeOf<RowOf<M["duplicates"]>>().toEqualTypeOf<{
    measurements: number;
    rows: number;
    duplicated: number;
    share: N;
  }>();
  expectTypeOf<RowOf<M["firstSeen"]>>().toEqualTypeOf<{
    software_version: string | null;
    first: Date | null;
    measurements: number;
  }>();
  expectTypeOf<RowOf<M["ask"]>>().branded.toEqualTypeOf<{
    t: Date;
    probe_cc: string | null;
    n: number;
    part: N;
    of: number;
    at: Date | null;
  }>();
  expectTypeOf<RowOf<M["runsAsked"]>>().branded.toEqualTypeOf<{ p90: N }>();
  expectTypeOf<RowOf<M["values"]>>().toEqualTypeOf<{
    t: Date;
    test_runtime: N;
    test_name: string | null;
  }>();
  expectTypeOf<RowOf<M["oneLine"]>>().toEqualTypeOf<{ t: Date; test_runtime: N }>();
  expectTypeOf<RowOf<M["bins"]>>().toEqualTypeOf<{
    software_version_2: string | null;
    duration_bin: string | null;
    n: number;
  }>();
});

test("names that only the question knows give a row of any columns", () => {
  const ask = (lab: Lab, by: string[]) => lab.measurements.counts({ range, by });
  expectTypeOf<RowOf<ReturnType<typeof ask>>>().toEqualTypeOf<Record<string, Value>>();
  const values = (lab: Lab, y: string) => lab.measurements.values({ range, y });
  expectTypeOf<RowOf<ReturnType<typeof values>>>().toEqualTypeOf<Record<string, Value>>();
});
