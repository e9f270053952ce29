import { afterAll, beforeAll, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { measurementsOf } from "../../src/measurements/measurements.js";
import { between } from "../../src/time/time-range.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-04", "2026-05-05");
let database: Database;
let asked: string[];

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_name String,
      software_version String, test_name String, probe_cc String, probe_asn UInt32)
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    "INSERT INTO fastpath SELECT toDateTime('2026-05-04', 'UTC') + number, toString(number), concat('probe-', toString(number % 1000)), '3.9', 't', 'IT', number FROM numbers(10000)",
  );
  database = await Database.open(own.source);
  const ask = database.ask.bind(database);
  asked = [];
  // Only listens: every question still goes to the engine.
  database.ask = (question) => {
    asked.push(question.sql);
    return ask(question);
  };
});

afterAll(() => database[Symbol.asyncDispose]());

it.each([900, 990, 50_000])(
  "a filter by a list of %d wrong values takes three questions, all counted in rowsRead",
  async (many) => {
    asked.length = 0;
    const wrong = Array.from({ length: many }, (_, index) => `nobody-${index}`);
    const counts = await measurementsOf(database).counts({
      range,
      every: "all",
      where: { software_name: [...wrong, "probe-1"] },
    });
    expect(counts.rows()).toEqual([{ measurements: 10 }]);
    // The answer, which values are missing, and what the range holds instead.
    expect(asked).toHaveLength(3);
    // A list too long for a parameter travels as a table, whose rows the server reads too.
    const listed = many > 1000 ? 2 * (many + 1) : 0;
    expect(counts.origin.rowsRead).toBe(30_000 + listed);
    expect(counts.origin.notes).toHaveLength(4);
    expect(counts.origin.notes[0]).toMatch(
      /^No measurement .* has software_name nobody-0; the range holds "probe-/,
    );
    expect(counts.origin.notes[3]).toBe(
      `No measurement from 2026-05-04 to 2026-05-05 UTC has ${(many - 3).toLocaleString("en-US")} more values of the list of software_name either.`,
    );
  },
);

it("a list whose values all occur takes one question more, and says nothing", async () => {
  asked.length = 0;
  const names = Array.from({ length: 1000 }, (_, index) => `probe-${index}`);
  const counts = await measurementsOf(database).counts({
    range,
    every: "all",
    where: { software_name: names },
  });
  expect(counts.rows()).toEqual([{ measurements: 10_000 }]);
  expect(asked).toHaveLength(2);
  expect(counts.origin.notes).toEqual([]);
});
