import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { between, contains, count, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab | undefined;
afterAll(() => lab?.close());

const range = between("2026-05-04", "2026-05-05");
const VALUES = [
  "",
  "example.org",
  "EXAMPLE.org/a",
  "Straße",
  "50%_off",
  "日本",
  "a'b\\c",
  "xexample",
];

test("contains(text) matches the rows that hold it, whatever the case of its letters; columns() names all columns", async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_name String,
      software_version String, test_name String, probe_cc LowCardinality(Nullable(String)), probe_asn UInt32, input Nullable(String))
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const rows = [...VALUES, null].map((input) => {
    const text =
      input === null ? "NULL" : `'${input.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
    return `('2026-05-04 10:00:00', 'r', 's', '1', 't', 'IT', 1, ${text})`;
  });
  await own.writer.command(`INSERT INTO fastpath VALUES ${rows.join(", ")}`);
  lab = await own.open();
  const asked = async (where: object): Promise<number> => {
    const answer = await lab!.measurements.ask({
      range,
      every: "all",
      measures: { n: count() },
      where,
    });
    return answer.rows()[0]?.n ?? 0;
  };
  const part = fc.constantFrom("e", "EXAMPLE", "ß", "%", "_", "本", "'", "\\", ".org", "zzz", "a");
  await fc.assert(
    fc.asyncProperty(part, async (text) => {
      const holds = VALUES.filter((value) => value.toLowerCase().includes(text.toLowerCase()));
      expect(await asked({ input: contains(text) })).toBe(holds.length);
      // The row without a value holds nothing.
      expect(await asked({ input: { ne: contains(text) } })).toBe(VALUES.length - holds.length + 1);
    }),
    { numRuns: 20, seed: 2 },
  );
  await expect(asked({ probe_asn: contains("1") })).rejects.toThrow(
    /by contains\("1"\): it is a UInt32, not text/,
  );
  expect(() => contains("")).toThrow("pass a part of a value");

  const columns = (await lab.columns()).rows();
  expect(columns).toContainEqual({ column: "input", type: "Nullable(String)" });
  expect(columns).toHaveLength(8);
  await expect(lab.columns("fastpath" as never)).rejects.toThrow('pass "measurements" or "logs"');
});
