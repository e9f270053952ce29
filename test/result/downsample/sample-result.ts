import { table, type ColumnTable } from "arquero";
import { between, type Bucket, type Origin, Result, type TimeRange } from "../../../src/index.js";
import type { MeasureColumn } from "../../../src/result/origin.js";
import { buckets } from "../../../src/time/bucket.js";

/** A Result of plain columns without a meaning, as free SQL gives it. */
export function plainResult(columns: Record<string, unknown>, more: Partial<Origin> = {}): Result {
  return new Result(table(columns), {
    sql: "",
    parameters: {},
    range: between("2026-01-01", "2026-04-01"),
    source: "embedded:test",
    server: "",
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: new Date(0),
    columns: { dimensions: [], measures: [] },
    reductions: [],
    notes: [],
    ...more,
  });
}

/** Counts (additive) and medians (not) by bucket and version, every bucket there. */
export function countsResult(
  range: TimeRange,
  every: Bucket,
  versions: readonly (string | null)[],
  value: (bucket: number, version: number) => number | null = (b, v) => (b % 7) + v,
): Result {
  const starts = buckets(range, every);
  const rows = starts.flatMap(({ start }, b) =>
    versions.map((version, v) => ({ start, b, version, v })),
  );
  const measure = (name: string, additive: boolean): MeasureColumn => ({
    name,
    label: name,
    unit: "",
    additive,
    missing: additive ? "zero" : "gap",
  });
  return plainResult(
    {
      t: rows.map(({ start }) => start),
      version: rows.map(({ version }) => version),
      measurements: rows.map(({ b, v }) => value(b, v)),
      q50: rows.map(({ b, v }) => value(b, v)),
    },
    {
      range,
      columns: {
        time: {
          name: "t",
          every,
          incomplete: starts.filter(({ complete }) => !complete).map(({ start }) => start),
        },
        dimensions: [{ name: "version", order: versions }],
        measures: [measure("measurements", true), measure("q50", false)],
      },
    },
  );
}

/** The rows of a table as texts, for comparing. */
export function rowTexts(data: ColumnTable): string[] {
  return (data.objects() as Record<string, unknown>[]).map((row) =>
    Object.values(row)
      .map((value) => (value instanceof Date ? value.getTime() : String(value)))
      .join("|"),
  );
}
