/* eslint-disable @typescript-eslint/no-unused-vars -- functions that only their types are read of */
import { expectTypeOf, test } from "vitest";
import {
  between,
  bins,
  count,
  countDistinct,
  type Lab,
  min,
  type Result,
  share,
  type Value,
  versionPart,
} from "../../src/index.js";

// Read by the type check; nothing here is asked.
const range = between("2026-03-01", "2026-03-08");
type RowOf<F extends (...args: never[]) => Promise<Result<object>>> =
  ReturnType<F> extends Promise<Result<infer Row>> ? Row : never;
type N = number | null;

test("a question on measurements or runs gives the row's type", () => {
  const counts = (lab: Lab) => lab.measurements.counts({ range, by: "probe_cc" });
  type Counts = { t: Date; probe_cc: string | null; measurements: number };
  expectTypeOf<RowOf<typeof counts>>().toEqualTypeOf<Counts>();
  const total = (lab: Lab) =>
    lab.measurements.counts({ range, every: "all", by: { country: "probe_cc" } });
  type Total = { country: string | null; measurements: number };
  expectTypeOf<RowOf<typeof total>>().toEqualTypeOf<Total>();
  const summary = (lab: Lab) => lab.runs.summary({ range, quantiles: [0.025, 0.5] });
  expectTypeOf<RowOf<typeof summary>>().branded.toEqualTypeOf<
    Record<"software_name" | "software_version", string | null> &
      Record<"runs" | "measurements", number> &
      Record<"single_share" | "measurements_per_run" | "seconds_per_measurement", N> &
      Record<"q2_5" | "q50", N>
  >();
  const firstSeen = (lab: Lab) => lab.measurements.firstSeen({ range, by: "software_version" });
  type First = { software_version: string | null; first: Date | null; measurements: number };
  expectTypeOf<RowOf<typeof firstSeen>>().toEqualTypeOf<First>();
  const ask = (lab: Lab) =>
    lab.runs.ask({
      range,
      every: "day",
      by: [versionPart("software_version", 2), bins("duration", [60])],
      measures: {
        n: count(),
        part: share({ probe_cc: "IT" }),
        of: countDistinct("report_id"),
        at: min("time"),
      },
    });
  expectTypeOf<RowOf<typeof ask>>().branded.toEqualTypeOf<
    { t: Date; at: Date | null } & Record<"software_version_2" | "duration_bin", string | null> &
      Record<"n" | "of", number> &
      Record<"part", N>
  >();
  const values = (lab: Lab) =>
    lab.measurements.values({ range, y: "test_runtime", by: "test_name" });
  type Values = { t: Date; test_runtime: N; test_name: string | null };
  expectTypeOf<RowOf<typeof values>>().toEqualTypeOf<Values>();
  const oneLine = (lab: Lab) => lab.measurements.values({ range, y: "test_runtime" });
  expectTypeOf<RowOf<typeof oneLine>>().toEqualTypeOf<{ t: Date; test_runtime: N }>();
});

test("names that only the question knows give a row of any columns", () => {
  const ask = (lab: Lab, by: string[]) => lab.measurements.counts({ range, by });
  expectTypeOf<RowOf<typeof ask>>().toEqualTypeOf<Record<string, Value>>();
  const values = (lab: Lab, y: string) => lab.measurements.values({ range, y });
  expectTypeOf<RowOf<typeof values>>().toEqualTypeOf<Record<string, Value>>();
});
