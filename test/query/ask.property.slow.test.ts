import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  between,
  bins,
  count,
  countDistinct,
  type Dimension,
  hourOfDay,
  type Lab,
  max,
  mean,
  min,
  prefix,
  quantile,
  rate,
  ratio,
  share,
  sum,
  versionPart,
  weekday,
  type Where,
} from "../../src/index.js";
import { wilson } from "../../src/query/wilson.js";
import { ownDatabase } from "../support/own-database.js";
import { quantile as plainQuantile } from "../sources/measurements/reference.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String,
      software_name String, software_version Nullable(String), test_name String, probe_cc String,
      probe_asn UInt32, bytes Nullable(Float64)) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  lab = await own.open();
});
afterAll(() => lab.close());

interface Row {
  /** Seconds after the start of the range. */
  readonly at: number;
  readonly report: number;
  readonly version: string | null;
  readonly bytes: number | null;
  readonly asn: number;
}

const START = Date.UTC(2026, 4, 4);
const DAYS = 3;
const range = between(new Date(START), new Date(START + DAYS * 86_400_000));

const rows = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: DAYS * 86_400 - 1 }),
    report: fc.integer({ min: 0, max: 5 }),
    version: fc.constantFrom("3.9.1", "3.10.0", "3.10.2-rc1", "v4", "dev", "", null),
    bytes: fc.constantFrom(null, -2.5, 0, 1, 7, 60, 600.25, NaN, Infinity),
    asn: fc.constantFrom(0, 1, 2),
  }),
  { maxLength: 25 },
);

/** What a group's rows are told by. */
const DIMENSIONS: readonly {
  readonly by: "software_version" | Dimension;
  readonly name: string;
  readonly of: (row: Row) => string | null;
}[] = [
  { by: "software_version", name: "software_version", of: (row) => row.version },
  {
    by: hourOfDay(),
    name: "hour_of_day",
    of: (row) => String(Math.floor((row.at % 86_400) / 3600)).padStart(2, "0"),
  },
  {
    by: weekday(),
    name: "weekday",
    of: (row) => ["Monday", "Tuesday", "Wednesday"][Math.floor(row.at / 86_400)] ?? null,
  },
  {
    by: versionPart("software_version", 2),
    name: "software_version_2",
    of: ({ version }) => {
      if (version === null) return null;
      const digits = version.split(/[^0-9.]/).filter((part) => /[0-9]/.test(part))[0];
      return digits === undefined
        ? version
        : (version.startsWith("v") ? "v" : "") + digits.split(".").slice(0, 2).join(".");
    },
  },
  {
    by: bins("bytes", [0, 60, 600]),
    name: "bytes_bin",
    of: ({ bytes }) =>
      bytes === null || !Number.isFinite(bytes)
        ? null
        : bytes < 0
          ? "< 0"
          : bytes < 60
            ? "0 to 60"
            : bytes < 600
              ? "60 to 600"
              : "≥ 600",
  },
];

const FILTERS: readonly { readonly where: Where; readonly keep: (row: Row) => boolean }[] = [
  { where: {}, keep: () => true },
  { where: { probe_asn: { ne: 0 } }, keep: (row) => row.asn !== 0 },
  { where: { probe_asn: { ne: [0, 1] } }, keep: (row) => row.asn > 1 },
  { where: { probe_asn: { gt: 0, lte: 1 } }, keep: (row) => row.asn === 1 },
  { where: { bytes: { lt: 60 } }, keep: ({ bytes }) => bytes !== null && bytes < 60 },
  { where: { bytes: { gte: 0.5 } }, keep: ({ bytes }) => bytes !== null && bytes >= 0.5 },
  { where: { software_version: prefix("3.1") }, keep: () => false },
  {
    where: { software_version: [prefix("3.1", { edge: false }), null] },
    keep: ({ version }) => version?.startsWith("3.1") ?? true,
  },
  { where: { software_version: { ne: "dev" } }, keep: (row) => row.version !== "dev" },
  { where: { software_version: { ne: null } }, keep: (row) => row.version !== null },
  {
    where: { software_version: { ne: [null, ""] } },
    keep: (row) => row.version !== null && row.version !== "",
  },
];

async function write(table: readonly Row[]): Promise<void> {
  await own.writer.command("TRUNCATE TABLE fastpath");
  if (table.length === 0) return;
  const number = (value: number | null) =>
    value === null ? "NULL" : Number.isNaN(value) ? "nan" : value === Infinity ? "inf" : value;
  const values = table.map(
    ({ at, report, version, bytes, asn }) =>
      `(${START / 1000 + at}, 'r${report}', 'p', ${version === null ? "NULL" : `'${version}'`}, 't', 'IT', ${asn}, ${number(bytes)})`,
  );
  await own.writer.command(`INSERT INTO fastpath VALUES ${values.join(", ")}`);
}

/** Equal, or as near as adding floats in another order leaves it. */
function expectNear(value: unknown, expected: number | null, what: string): void {
  if (expected === null) expect(value, what).toBeNull();
  else
    expect(Math.abs(Number(value) - expected), what).toBeLessThanOrEqual(
      1e-9 * (1 + Math.abs(expected)),
    );
}

const MEASURES = {
  n: count(),
  small: count({ where: { bytes: { lt: 60 } } }),
  bytes: sum("bytes"),
  mean: mean("bytes"),
  min: min("bytes"),
  max: max("bytes"),
  q50: quantile(0.5, "bytes"),
  q90: quantile(0.9, "bytes"),
  networks: countDistinct("probe_asn"),
  versions: countDistinct("software_version"),
  zero: share({ probe_asn: 0 }, { interval: 0.95 }),
  each: ratio(sum("bytes"), count()),
  rate: rate(count(), "minute"),
  first: min("time"),
  last: max("time", { where: { probe_asn: 1 } }),
} as const;

it("every measure agrees with plain rows, by day and dimension, with any comparison", async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.constantFrom(...DIMENSIONS),
      fc.constantFrom(...FILTERS),
      fc.constantFrom("day", "all"),
      async (table, dimension, filter, every) => {
        await write(table);
        const result = await lab.measurements.ask({
          range,
          every,
          by: [dimension.by],
          top: Infinity,
          where: filter.where,
          measures: MEASURES,
        });
        const kept = table.filter(filter.keep);
        const groups = [...new Set(kept.map(dimension.of))];
        const times = every === "day" ? [0, 1, 2] : [null];
        expect(result.numRows()).toBe(groups.length * times.length);
        for (const row of result.rows() as Record<string, unknown>[]) {
          const own = kept.filter(
            (one) =>
              dimension.of(one) === row[dimension.name] &&
              (every === "all" ||
                Math.floor(one.at / 86_400) === (Number(row["t"]) - START) / 86_400_000),
          );
          const bytes = own
            .map((one) => one.bytes)
            .filter((one): one is number => one !== null && Number.isFinite(one));
          const zero = own.filter((one) => one.asn === 0).length;
          const total = bytes.reduce((a, b) => a + b, 0);
          const none = own.length === 0;
          expect(row["n"]).toBe(own.length);
          expect(row["small"]).toBe(
            own.filter((one) => one.bytes !== null && one.bytes < 60).length,
          );
          expectNear(row["bytes"], total, "sum");
          expectNear(row["mean"], bytes.length === 0 ? null : total / bytes.length, "mean");
          expectNear(row["min"], bytes.length === 0 ? null : Math.min(...bytes), "min");
          expectNear(row["max"], bytes.length === 0 ? null : Math.max(...bytes), "max");
          expectNear(row["q50"], plainQuantile(bytes, 0.5), "q50");
          expectNear(row["q90"], plainQuantile(bytes, 0.9), "q90");
          expect(row["networks"]).toBe(new Set(own.map((one) => one.asn)).size);
          const versions = own.map((one) => one.version).filter((one) => one !== null);
          expect(row["versions"]).toBe(new Set(versions).size);
          expectNear(row["zero"], none ? null : zero / own.length, "share");
          const interval = wilson(zero, own.length);
          expectNear(row["zero_low"], interval?.low ?? null, "low");
          expectNear(row["zero_high"], interval?.high ?? null, "high");
          expectNear(row["each"], none ? null : total / own.length, "ratio");
          expectNear(row["rate"], own.length / (every === "day" ? 1440 : DAYS * 1440), "rate");
          const at = (list: readonly Row[], pick: (...seconds: number[]) => number) =>
            list.length === 0 ? null : START + pick(...list.map((one) => one.at)) * 1000;
          const instant = (value: unknown) => (value === null ? null : Number(value));
          expect(instant(row["first"])).toBe(at(own, Math.min));
          expect(instant(row["last"])).toBe(
            at(
              own.filter((one) => one.asn === 1),
              Math.max,
            ),
          );
        }
      },
    ),
    { numRuns: 20, seed: 20261122 },
  );
}, 240_000);

/** Random combinations, of which some dimensions decide others and some values are rare or null. */
const combined = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: DAYS * 86_400 - 1 }),
    report: fc.integer({ min: 0, max: 9 }),
    version: fc.constantFrom("3.9.1", "3.10.0", "3.10.2", "4.0", "other", "", null),
    bytes: fc.constantFrom(null, 1, 7, 60, 600.25),
    asn: fc.integer({ min: 1, max: 9 }),
  }),
  { minLength: 1, maxLength: 60 },
);

it("each dimension keeps its largest values, so sums over any of two are the truth", async () => {
  await fc.assert(
    fc.asyncProperty(
      combined,
      fc.constantFrom(1, 2, 3),
      fc.constantFrom("day", "all"),
      async (table, top, every) => {
        await write(table);
        const by = ["software_version", "probe_asn"] as const;
        const measures = {
          n: count(),
          bytes: sum("bytes"),
          q90: quantile(0.9, "bytes"),
          networks: countDistinct("report_id"),
          small: share({ bytes: { lt: 60 } }),
        };
        const both = await lab.measurements.ask({ range, every, by, top, measures });
        const { dimensions } = both.origin.columns;
        const cut = both.origin.columns.dimensions.flatMap(({ other }) => other ?? []);
        const text = (row: Row, name: (typeof by)[number]) =>
          name === "probe_asn" ? String(row.asn) : row.version;
        for (const [at, name] of by.entries()) {
          const one = await lab.measurements.ask({ range, every, by: name, top, measures });
          expect(one.origin.columns.dimensions[0]).toEqual(dimensions[at]);
          for (const row of one.rows() as Record<string, unknown>[]) {
            const parts = (both.rows() as Record<string, unknown>[]).filter(
              (part) =>
                part[name] === row[name] && Number(part["t"] ?? 0) === Number(row["t"] ?? 0),
            );
            const total = (column: string) =>
              parts.reduce((sum, part) => sum + Number(part[column]), 0);
            expect(total("n")).toBe(row["n"]);
            expectNear(total("bytes"), Number(row["bytes"]), "bytes");
          }
        }
        expect(both.origin.reductions).toHaveLength(cut.length);
        // What doesn't add up is of exactly the rows that a row names.
        for (const row of both.rows() as Record<string, unknown>[]) {
          const rowsOf = table.filter(
            (one) =>
              by.every((name, at) => {
                const { order, other } = dimensions[at]!;
                const value = text(one, name);
                const named = order.filter((kept) => kept !== other);
                return row[name] === other ? !named.includes(value) : value === row[name];
              }) &&
              (every === "all" ||
                Math.floor(one.at / 86_400) === (Number(row["t"]) - START) / 86_400_000),
          );
          const bytes = rowsOf.flatMap((one) => one.bytes ?? []);
          expect(row["n"]).toBe(rowsOf.length);
          expectNear(row["q90"], plainQuantile(bytes, 0.9), "q90");
          expect(row["networks"]).toBe(new Set(rowsOf.map((one) => one.report)).size);
          const small = bytes.filter((one) => one < 60).length;
          expectNear(row["small"], rowsOf.length === 0 ? null : small / rowsOf.length, "share");
        }
      },
    ),
    { numRuns: 15, seed: 20261124 },
  );
}, 240_000);

it("keeps fewer values of several dimensions where the rows would be 5,000 or more, and says so", async () => {
  await write([]);
  await own.writer.command(
    `INSERT INTO fastpath SELECT ${START / 1000} + number % ${DAYS * 86_400}, toString(number), 'p', concat('3.', toString(number % 37)), 't', concat('C', toString(intDiv(number, 37) % 41)), number % 43, number FROM numbers(200000)`,
  );
  const by = ["software_version", "probe_cc"] as const;
  const asked = { range, every: "hour", by, top: 30 } as const;
  const counts = await lab.measurements.counts(asked);
  const quantiles = await lab.measurements.ask({
    ...asked,
    measures: { measurements: count(), q: quantile(0.5, "bytes") },
  });
  // 72 hours of 7 × 7 groups, and 8 × 8 with "other" would be 4,608: 69 groups fit.
  expect(counts.numRows()).toBe(72 * 64);
  expect(quantiles.numRows()).toBe(72 * 64);
  for (const { origin } of [counts, quantiles]) {
    expect(origin.reductions[0]).toBe(
      "The top 7 of each dimension instead of 30, for at most 4,968 rows: a coarser every, a shorter range or fewer dimensions keep more.",
    );
    expect(origin.reductions[1]).toMatch(
      /^Top 7 of 37 versions by measurements; other: 30 more\.$/,
    );
  }
  expect(quantiles.column("measurements")).toEqual(counts.column("measurements"));
}, 60_000);
