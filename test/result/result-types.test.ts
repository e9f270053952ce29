import { describe, expectTypeOf, test } from "vitest";
import { type chart, downsample, type Result, type table, type Value } from "../../src/index.js";
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

test("filter keeps the row's type, and its function has it; with takes another", () => {
  const kept = weeks.filter((row) => {
    expectTypeOf(row).toEqualTypeOf<Week>();
    return row.q50 !== null;
  });
  expectTypeOf(kept).toEqualTypeOf<Result<Week>>();
  expectTypeOf(measured.with<Measured>((table) => table.slice(0, 1))).toEqualTypeOf<
    Result<Measured>
  >();
  expectTypeOf(measured.with((table) => table.slice(0, 1))).toExtend<Result>();
  expectTypeOf<typeof chart.line>().toBeCallableWith([{ t: new Date(), runs: 1 }]);
  expectTypeOf<typeof chart.line>().toBeCallableWith(untyped.table);
});
