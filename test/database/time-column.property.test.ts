import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { learnTable } from "../../src/database/table-info.js";
import { boundsSql } from "../../src/database/time-column.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let database: Database;
beforeAll(async () => {
  database = await Database.open(own.source);
});
afterAll(() => database[Symbol.asyncDispose]());

const iso = (micros: number, digits: number) =>
  new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19) +
  (digits === 0
    ? ""
    : `.${String(micros % 1e6)
        .padStart(6, "0")
        .padEnd(9, "0")
        .slice(0, digits)}`);
const quote = (text: string) => `'${text}'`;
const text = (separator: string, digits: number, zone: string) => (micros: number) =>
  quote(iso(micros, digits).replace("T", separator) + zone);
const digits =
  (unit: number, zeros = "") =>
  (micros: number) =>
    String(Math.floor(micros / unit)) + zeros;
const GARBAGE = ["''", "'abc'", "'2026-13-45 10:00:00'", "'2026-02-30T10:00:00Z'", "'0'", "'12'"];
const LATE = [
  "'2026-05-01 25:00:00'",
  "'2026-05-01 10:61:00'",
  "'1970-01-01 00:00:00'",
  "'2026-05-01 x'",
];

/** A type, its step in microseconds, how it writes an instant, and what it may hold instead. */
const TYPES: [type: string, step: number, write: (micros: number) => string, dirty: string[]][] = [
  ["DateTime('UTC')", 1e6, text(" ", 0, ""), ["0"]],
  ["Nullable(DateTime64(3, 'UTC'))", 1e3, text(" ", 3, ""), ["NULL", "0", "'1925-01-01 00:00:00'"]],
  ["DateTime64(9, 'UTC')", 1, text(" ", 9, ""), ["0", "'2199-01-01 00:00:00'"]],
  ["DateTime64(0, 'UTC')", 1e6, text(" ", 0, ""), ["0"]],
  ["Date", 86_400e6, (micros) => quote(iso(micros, 0).slice(0, 10)), ["0"]],
  ["Date32", 86_400e6, (micros) => quote(iso(micros, 0).slice(0, 10)), ["'1950-01-01'"]],
  ["UInt32", 1e6, digits(1e6), ["0", "5"]],
  ["Nullable(Int64)", 1e6, digits(1e6), ["NULL", "0", "-7"]],
  ["UInt64", 1e3, digits(1e3), ["0", "18446744073709551615"]],
  ["Int64", 1, digits(1), ["0", "-1777593600000000", "12"]],
  ["UInt64", 1, digits(1, "000"), ["0"]],
  ["Float64", 1e3, (micros) => String(micros / 1e6), ["0", "nan", "inf"]],
  ["String", 1e6, text(" ", 0, ""), [...GARBAGE, ...LATE]],
  ["LowCardinality(String)", 1e3, text("T", 3, ""), GARBAGE],
  ["Nullable(String)", 1e6, text("T", 0, "Z"), ["NULL", ...GARBAGE]],
  ["String", 1e3, text("T", 3, "Z"), [...GARBAGE, ...LATE]],
  ["LowCardinality(Nullable(String))", 1, text(" ", 6, "+00:00"), ["NULL", ...GARBAGE]],
  ["FixedString(26)", 1, text(" ", 6, ""), GARBAGE],
  ["String", 1, (micros) => quote(digits(1)(micros)), GARBAGE],
  ["String", 1e6, (micros) => quote(digits(1e6)(micros)), GARBAGE],
];

const DAY = 86_400_000;
const BASE = Date.UTC(2026, 4, 1);
const table = fc.constantFrom(...TYPES).chain(([type, step, write, dirty]) =>
  fc.record({
    type: fc.constant(type),
    write: fc.constant(write),
    good: fc.array(
      fc
        .integer({ min: 0, max: 3 * 86_400e6 })
        .map((at) => Math.floor((BASE * 1000 + at) / step) * step),
      { minLength: 1, maxLength: 30 },
    ),
    dirty: fc.array(fc.constantFrom(...dirty), { maxLength: 8 }),
    sorted: fc.boolean(),
  }),
);
const edges = fc
  .tuple(fc.integer({ min: -DAY, max: 4 * DAY }), fc.integer({ min: -DAY, max: 4 * DAY }))
  .map(([a, b]) => ({
    start: new Date(BASE + Math.min(a, b)),
    end: new Date(BASE + Math.max(a, b) + 1),
  }));

it("a learned time column counts the rows of plain arithmetic, whatever lies between them", async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(table, edges, async ({ type, write, good, dirty, sorted }, range) => {
      const name = `t${made++}`;
      await own.writer.command(
        `CREATE TABLE ${name} (at ${type}) ENGINE = MergeTree ORDER BY ${sorted ? "at" : "tuple()"} SETTINGS allow_nullable_key = 1`,
        { settings: { allow_suspicious_low_cardinality_types: 1 } },
      );
      const values = [...dirty, ...good.map(write)].map((value) => `(${value})`).join(", ");
      await own.writer.command(`INSERT INTO ${name} VALUES ${values}`);
      const names = { table: name, time: "at", columns: {} };
      const { time, notes, settled } = await learnTable(
        database.rows,
        own.writer.database,
        names,
        "measurements",
      );
      const n = dirty.length;
      const told = n === 1 ? `1 row of ${name} has` : `${n} rows of ${name} have`;
      expect(notes.filter((note) => note.includes("usable"))).toEqual(
        n === 0 ? [] : [`${told} no usable at and ${n === 1 ? "is" : "are"} left out.`],
      );
      expect(settled).toBe(true);
      const bounds = boundsSql(time, range);
      const where = [bounds.sql, ...(time.usable === null ? [] : [time.usable])].join(" AND ");
      const micros = (raw: string) =>
        `toString(toUnixTimestamp64Micro(toDateTime64(${time.dateTime(raw)}, 6, 'UTC')))`;
      const [row] = await database.rows<{ _at: string[]; _long: number; _first: string }>(
        `SELECT arraySort(groupArray(${micros("at")})) AS _at, ${micros("min(at)")} AS _first,
          ${time.seconds("min(at)", "max(at)")} AS _long FROM ${name} WHERE ${where}`,
        bounds.parameters,
      );
      const inside = good
        .filter((at) => at >= range.start.getTime() * 1000 && at < range.end.getTime() * 1000)
        .sort((a, b) => a - b);
      expect(row?._at).toEqual(inside.map(String));
      if (inside.length === 0) return;
      const [first = 0, last = 0] = [inside[0], inside.at(-1)];
      expect(row?._first).toBe(String(first));
      if (time.resolution !== "day") expect(row?._long).toBeCloseTo((last - first) / 1e6, 5);
    }),
    { numRuns: 60, seed: 20260501 },
  );
}, 180_000);
