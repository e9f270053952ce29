import { describe, expect, expectTypeOf, test } from "vitest";
import type { chart } from "../../src/chart/chart.js";
import type { table } from "../../src/chart/table.js";
import { downsample } from "../../src/downsample/downsample.js";
import type { Result, Value } from "../../src/result/result.js";
import { weeklyCounts } from "../chart/support/sample-results.js";

// An interface, which fits no index signature, and a type, which does.
interface Week {
  readonly t: Date;
  readonly probe_cc: string | null;
  readonly q50: number | null;
}
type Measured = { t: Date; measurements: number };

const untyped = weeklyCounts();
const weeks = untyped.with<Week>(untyped.table);
const measured = untyped.with<Measured>(untyped.table);

describe("Result<Row>", () => {
  test("rows and columns are of the row's type", () => {
    expectTypeOf(weeks.rows()).toEqualTypeOf<Week[]>();
    expectTypeOf<typeof weeks.column<"q50">>().returns.toEqualTypeOf<(number | null)[]>();
    expectTypeOf<typeof weeks.column<"t">>().returns.toEqualTypeOf<Date[]>();
    expectTypeOf<Parameters<typeof weeks.column>[0]>().toEqualTypeOf<"t" | "probe_cc" | "q50">();
  });

  test("without a row's type every name is allowed and gives any value", () => {
    expectTypeOf(untyped.rows()).toEqualTypeOf<Record<string, Value>[]>();
    expectTypeOf(untyped.column("t")).toEqualTypeOf<Value[]>();
  });

  test("a function of any answer takes each", () => {
    expectTypeOf(weeks).toExtend<Result<object>>();
    expectTypeOf(measured).toExtend<Result>();
    expectTypeOf(measured).toExtend<Result<{ t: Date }>>();
    expectTypeOf<Result<{ t: Date }>>().not.toExtend<Result<Measured>>();
    expectTypeOf<typeof chart.line>().toBeCallableWith(weeks);
    expectTypeOf<typeof chart.line>().toBeCallableWith(measured);
    expectTypeOf<typeof table>().toBeCallableWith(weeks);
    expectTypeOf(downsample(weeks, { x: "t", y: "measurements" })).toEqualTypeOf<Result<Week>>();
  });
});

describe("verbs", () => {
  test("filter, slice and orderby keep the row's type, and their functions have it", () => {
    const kept = weeks.filter((row) => {
      expectTypeOf(row).toEqualTypeOf<Week>();
      return row.q50 !== null;
    });
    expectTypeOf(kept).toEqualTypeOf<Result<Week>>();
    expectTypeOf(weeks.slice(0, 2)).toEqualTypeOf<Result<Week>>();
    expectTypeOf(weeks.orderby("t", "descending")).toEqualTypeOf<Result<Week>>();
    expectTypeOf(weeks.orderby(["t", (row) => row.q50])).toEqualTypeOf<Result<Week>>();
    // @ts-expect-error an unknown column
    expect(() => weeks.orderby("q90")).toThrow(RangeError);
  });

  test("derive adds what its functions give, select and rename name columns", () => {
    const both = measured.derive({ half: (row) => row.measurements / 2, t: () => "week" });
    expectTypeOf(both.rows()[0]).toEqualTypeOf<
      { measurements: number; half: number; t: string } | undefined
    >();
    expectTypeOf(measured.select("measurements").rows()).toEqualTypeOf<
      { measurements: number }[]
    >();
    expectTypeOf(measured.rename({ t: "week" }).rows()).toEqualTypeOf<
      { week: Date; measurements: number }[]
    >();
  });

  test("join has the columns of both, a left one null too; pivot any further name", () => {
    const other = measured.select("t", "measurements").rename({ measurements: "all" });
    const totals = other.with<{ t: Date; all: number }>(other.table.dedupe("t"));
    const inner = measured.join(totals, "t");
    expectTypeOf(inner.rows()[0]!.all).toEqualTypeOf<number>();
    const left = measured.join(totals, ["t"], "left");
    expectTypeOf(left.rows()[0]!.all).toEqualTypeOf<number | null>();
    expectTypeOf(left.rows()[0]!.t).toEqualTypeOf<Date>();
    const first = untyped
      .filter((row) => row["software_version"] === "other")
      .with<Measured & { software_version: string }>(untyped.table.dedupe("t"));
    const wide = first.pivot({ rows: "t", names: "software_version", values: "measurements" });
    const [row] = wide.rows();
    expectTypeOf(row!.t).toEqualTypeOf<Date>();
    expectTypeOf(row!["3.9"]).toEqualTypeOf<number | null | undefined>();
  });

  test("any Result is a value of charts after a verb", () => {
    expectTypeOf(measured.derive({ half: (row) => row.measurements / 2 })).toExtend<Result>();
    expectTypeOf<typeof chart.line>().toBeCallableWith([{ t: new Date(), runs: 1 }]);
    expectTypeOf<typeof chart.line>().toBeCallableWith(untyped.table);
  });
});
