import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Writer } from "../../../src/database/writer.js";
import { m4, pixelAxis } from "../../../src/result/downsample/m4.js";
import { m4Sql } from "../../../src/query/m4-sql.js";
import { print, raw } from "../../../src/query/sql.js";
import { between } from "../../../src/time/time-range.js";
import { newDatabase } from "../../support/own-database.js";
import { awkwardNumber } from "./awkward.js";

type Row = readonly [dataset: number, series: string, tick: number, y: number | null];

const START = Date.UTC(2026, 4, 1);
const SECONDS = 3_000;
let writer: Writer;
let rows: Row[];

beforeAll(async () => {
  const point = fc.tuple(
    fc.constantFrom("a", "Ω 'b'", ""),
    fc.integer({ min: 0, max: SECONDS }),
    fc.oneof(awkwardNumber(), fc.constant(null)),
  );
  const datasets = fc.sample(fc.array(point, { maxLength: 400, size: "max" }), {
    numRuns: 25,
    seed: 7,
  });
  rows = datasets.flatMap((points, dataset) => points.map((it): Row => [dataset, ...it]));
  writer = (await newDatabase()).writer;
  await writer.command(
    `CREATE TABLE points (dataset UInt8, series String, second DateTime('UTC'), milli DateTime64(3, 'UTC'),
      micro DateTime64(6, 'UTC'), day Date, y Nullable(Float64), sure Float64, small Int16)
      ENGINE = MergeTree ORDER BY dataset SETTINGS index_granularity = 64`,
  );
  const lines = rows.map(([dataset, series, tick, y]) =>
    [
      dataset,
      series.replaceAll("'", "\\'"),
      START / 1_000 + tick,
      (START + tick * 1_000) / 1_000,
      (START + tick * 1_000) / 1_000,
      new Date(Math.floor(tick / 10) * 86_400_000).toISOString().slice(0, 10),
      y === null ? "\\N" : shown(y),
      shown(y ?? NaN),
      small(y),
    ].join("\t"),
  );
  // In several inserts, so that the engine's threads read parts of its own.
  for (let from = 0; from < lines.length; from += 900) {
    await writer.command(
      `INSERT INTO points FORMAT TSV\n${lines.slice(from, from + 900).join("\n")}`,
    );
  }
}, 300_000);

afterAll(async () => {
  await writer[Symbol.asyncDispose]();
});

const times = (tick: number): number => START + tick * 1_000;
/** Milliseconds of a tick in each column of time. */
const xs = {
  second: times,
  milli: times,
  micro: times,
  day: (tick: number) => Math.floor(tick / 10) * 86_400_000,
};

test.each([
  ["second", "y", "Nullable(Float64)"],
  ["milli", "sure", "Float64"],
  ["micro", "small", "Int16"],
  ["day", "y", "Nullable(Float64)"],
] as const)(
  "m4Sql(line) along %s gives the rows of m4(x, y, axis) for %s, a %s",
  async (name, y, type) => {
    const xOf = xs[name];
    let compared = 0;
    for (let dataset = 0; dataset < 25; dataset++) {
      const width = [1, 7, 50, 400][dataset % 4]!;
      const grouped = dataset % 3 !== 0;
      const line = m4Sql({
        source: { from: () => raw(`points WHERE dataset = ${dataset}`), instant: name },
        y: raw(y),
        gaps: type !== "Int16",
        series: grouped ? raw("series") : undefined,
        range: between(new Date(xOf(0)), new Date(xOf(SECONDS))),
        width,
      });
      const { sql, parameters } = print(line);
      const found = await writer.rows<{ series?: string; tick: string | number; y: number | null }>(
        `SELECT * EXCEPT t, toUnixTimestamp64Milli(t) AS tick FROM (${sql})`,
        { parameters },
      );
      const expected = expectedRows(dataset, grouped, y, xOf, width);
      const got = found.map((row) => [row.series ?? "", Number(row.tick), row.y].join("|"));
      expect(got.sort()).toEqual(expected.sort());
      compared += got.length;
    }
    expect(compared).toBeGreaterThan(500);
  },
);

function expectedRows(
  dataset: number,
  grouped: boolean,
  y: string,
  xOf: (tick: number) => number,
  width: number,
): string[] {
  const here = rows.filter((row) => row[0] === dataset);
  const keys = grouped ? [...new Set(here.map((row) => row[1]))] : [""];
  const value = (row: Row): number => (y === "small" ? small(row[3]) : (row[3] ?? NaN));
  const all = keys.flatMap((key) => {
    const points = here
      .filter((row) => !grouped || row[1] === key)
      .map((row) => ({ x: xOf(row[2]), y: value(row) + 0 }))
      .sort(
        (a, b) => a.x - b.x || +!Number.isFinite(a.y) - +!Number.isFinite(b.y) || a.y - b.y || 0,
      );
    const kept = m4(
      Float64Array.from(points, (point) => point.x),
      Float64Array.from(points, (point) => point.y),
      pixelAxis(xOf(0), xOf(SECONDS), width),
    );
    return Array.from(kept, (i) => {
      const point = points[i]!;
      return [key, point.x, Number.isFinite(point.y) ? point.y : null].join("|");
    });
  });
  return [...new Set(all)];
}

function small(y: number | null): number {
  return y === null || !Number.isFinite(y) ? 3 : (Math.trunc(y) % 1_000) | 0;
}

function shown(y: number): string {
  return Number.isFinite(y)
    ? Object.is(y, -0)
      ? "-0"
      : String(y)
    : String(y).replace("Infinity", "inf").toLowerCase();
}
