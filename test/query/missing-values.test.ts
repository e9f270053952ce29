import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { between, connect, count, type Lab, prefix, share, type Where } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab | undefined;
afterAll(() => lab?.close());

/** Columns of odd types; each value as SQL, as a filter names it. */
const COLUMNS = {
  probe_cc: {
    type: "LowCardinality(Nullable(String))",
    values: [null, "IT", "US", "ITA", ""],
    sql: (value: unknown) => (value === null ? "NULL" : `'${value as string}'`),
  },
  probe_asn: { type: "Nullable(UInt32)", values: [null, 0, 1, 30722], sql: String },
  runtime: {
    type: "Float64",
    values: [0, -0, 1.5, 2],
    sql: (value: unknown) => `${Object.is(value, -0) ? "-0." : Number(value)}`,
  },
  kind: {
    type: "Enum8('a' = 1, 'b' = 2)",
    values: ["a", "b"],
    sql: (value: unknown) => `'${value as string}'`,
  },
  code: {
    type: "FixedString(2)",
    values: ["xx", "yy", "zz"],
    sql: (value: unknown) => `'${value as string}'`,
  },
  tags: { type: "Array(String)", values: ["[]", "['p']", "['p','q']"], sql: String },
  more: { type: "Map(String, UInt8)", values: ["{}", "{'p':1}"], sql: String },
} as const;
type Name = keyof typeof COLUMNS;
const names = Object.keys(COLUMNS) as Name[];
const isPrefixed = (value: unknown): value is ReturnType<typeof prefix> =>
  typeof value === "object" && value !== null;

const row = fc.record(
  Object.fromEntries(
    names.map((name) => [name, fc.constantFrom<unknown>(...COLUMNS[name].values)]),
  ),
);
const list = fc.constantFrom(...names).chain((name) => {
  const values: readonly unknown[] = COLUMNS[name].values.filter((value) => !Object.is(value, -0));
  const fit = name === "runtime" ? [...values, 0.25, 7] : values;
  const all = name === "probe_cc" ? [...fit, prefix("I"), prefix("U", { edge: false }), "XX"] : fit;
  return fc.record({
    name: fc.constant(name),
    wanted: fc.uniqueArray(fc.constantFrom(...all), { minLength: 2, maxLength: 4 }),
  });
});

it("a value of a filter's list that nothing in the range has is named, and no other", async () => {
  let named = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.uniqueArray(list, { minLength: 1, maxLength: 2, selector: ({ name }) => name }),
      async (rows, lists) => {
        const columns = names.map((name) => `${name} ${COLUMNS[name].type}`).join(", ");
        await own.writer.command(
          `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, ${columns})
           ENGINE = MergeTree ORDER BY measurement_start_time`,
        );
        const values = (one: Record<string, unknown>) =>
          names.map((name) => COLUMNS[name].sql(one[name])).join(", ");
        await own.writer.command(
          `INSERT INTO fastpath VALUES ${rows.map((one) => `('2026-05-04 10:00:00', 'r', ${values(one)})`).join(", ")},
            ('2026-06-04 10:00:00', 'r', ${names.map((name) => COLUMNS[name].sql(COLUMNS[name].values[1])).join(", ")})`,
        );
        await lab?.close();
        lab = await own.open();
        const where = Object.fromEntries(lists.map(({ name, wanted }) => [name, wanted])) as Where;
        const result = await lab.runs.ask({
          range: between("2026-05-04", "2026-05-05"),
          every: "all",
          where,
          measures: { runs: { measure: "count" } },
        });
        const holds = (name: Name, wanted: unknown) =>
          rows.some(({ [name]: value }) =>
            isPrefixed(wanted)
              ? typeof value === "string" &&
                value.startsWith(wanted.prefix) &&
                (!wanted.edge || !/^\p{L}/u.test(value.slice(wanted.prefix.length)))
              : value === wanted,
          );
        const expected = lists.flatMap(({ name, wanted }) =>
          wanted
            .filter((value) => !holds(name, value))
            .map((value) => `${name} ${isPrefixed(value) ? `${value.prefix}…` : String(value)}`),
        );
        const told = result.origin.notes.flatMap(
          (note) => /^No measurement of .*? has (\w+ .*?); the range holds/s.exec(note)?.[1] ?? [],
        );
        const more = result.origin.notes.flatMap(
          (note) => / has (one|\d+) more values? of the list/.exec(note)?.[1] ?? [],
        );
        // An empty answer says the first reason alone.
        const all = result.numRows() === 0 ? Math.min(1, expected.length) : expected.length;
        expect(more.reduce((sum, n) => sum + (n === "one" ? 1 : Number(n)), told.length)).toBe(all);
        for (const one of told) expect(expected).toContain(one);
        named += expected.length;
      },
    ),
    { numRuns: 15, seed: 15 },
  );
  expect(named).toBeGreaterThan(10);
}, 240_000);

it("a share or a count that is zero everywhere names what the range holds instead", async () => {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, anomaly String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT '2026-05-04 10:00:00', 'r', if(number % 2 = 0, 'true', 'false') FROM numbers(10)`,
  );
  await using lab = await own.open();
  const range = between("2026-05-04", "2026-05-05");
  const ask = (anomaly: string) =>
    lab.measurements.ask({
      range,
      every: "all",
      measures: { blocked: share({ anomaly }), some: count({ where: { anomaly } }) },
    });
  const wrong = await ask("t");
  expect(wrong.rows()).toEqual([{ blocked: 0, some: 0 }]);
  expect(wrong.origin.notes).toEqual([
    'No measurement of 4 May 2026 has anomaly t; the range holds "true", "false".',
  ]);
  expect((await ask("true")).origin.notes).toEqual([]);
});

it("a question whose answer fits goes without what would explain it, where that is too much, and says so", async () => {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT '2026-05-04 10:00:00', hex(sipHash128(number)) FROM numbers(600000)`,
  );
  const limits = { maxMemory: 25 * 2 ** 20 };
  await using small = await connect({ measurements: own.url, limits });
  const range = between("2026-05-04", "2026-05-05");
  for (const report_id of [["x", "y"], "x"]) {
    const { rows, origin } = await small.measurements
      .counts({ range, every: "all", where: { report_id } })
      .then((result) => ({ rows: result.rows(), origin: result.origin }));
    expect(rows.every((row) => row.measurements === 0)).toBe(true);
    expect(origin.notes.join(" ")).toMatch(
      /Too much for the server: the values that the range holds/,
    );
  }
});
