import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { learnTable } from "../../src/database/table-info.js";
import { boundsSql } from "../../src/database/time-column.js";
import { between } from "../../src/index.js";
import { embeddedDatabase } from "../support/embedded-database.js";

const own = embeddedDatabase();
let database: Database;
beforeAll(async () => {
  database = await Database.open(own.source);
});
afterAll(() => database[Symbol.asyncDispose]());

async function learn(
  table: string,
  options: { unit?: string; columns?: Record<string, string> } = {},
) {
  const names = { table, time: "at", columns: {}, ...options };
  return learnTable(database.rows, own.writer.database, names, "measurements");
}

async function make(
  name: string,
  columns: string,
  insert: string,
  engine = "MergeTree ORDER BY at",
) {
  await own.writer.command(`CREATE TABLE ${name} (${columns}) ENGINE = ${engine}`);
  if (insert !== "") await own.writer.command(`INSERT INTO ${name} ${insert}`);
}

const MICROS = "1777593600000000 + number * 1000000";

describe("learnTable(rows, database, names, role)", () => {
  it("is not turned to seconds by a row 0 that comes first", async () => {
    await make("zero", "at UInt64", `SELECT if(number = 0, 0, ${MICROS}) FROM numbers(1000)`);
    const info = await learn("zero");
    expect(info.time.written).toBe("microseconds in a UInt64");
    expect(info.notes).toEqual(["1 row of zero has no usable at and is left out."]);
  });

  it("leaves a unit of at most one row in a hundred out, and refuses more, naming the setting", async () => {
    const seconds = "if(number % 100 < {n}, 1777593600 + number, " + MICROS + ")";
    for (const order of ["at", "tuple()"]) {
      const name = order === "at" ? "mixed" : "mixed_heap";
      const select = `SELECT ${seconds.replace("{n}", "1")} FROM numbers(40000)`;
      await make(name, "at Int64", select, `MergeTree ORDER BY ${order}`);
      expect((await learn(name)).notes[0]).toMatch(/^400 rows of .* left out/);
      await own.writer.command(
        `INSERT INTO ${name} SELECT 1777593600 + number FROM numbers(20000)`,
      );
      await expect(learn(name)).rejects.toThrow(
        /rows write .*seconds, .*seconds\. Set "unit" in tables\.measurements of probelab\.config\.json/,
      );
      const chosen = await learn(name, { unit: "microseconds" });
      expect(chosen.notes[0]).toMatch(/^(At least 10,000|20,400) rows of/);
    }
  });

  it("says of a Buffer, a Merge table and a view that it can't tell whether they merge rows", async () => {
    await make("copied", "at DateTime('UTC'), id UInt8", "", "ReplacingMergeTree ORDER BY id");
    for (const [name, engine, made] of [
      ["held", "Buffer", "TABLE held AS copied ENGINE = Buffer('', copied, 1, 1, 9, 1, 9, 1, 9)"],
      ["several", "Merge", "TABLE several AS copied ENGINE = Merge(currentDatabase(), '^copied$')"],
      ["seen", "View", "VIEW seen AS SELECT * FROM copied"],
    ] as const) {
      await own.writer.command(`CREATE ${made}`);
      expect((await learn(name)).notes).toEqual([
        `Can't tell whether ${name}, a ${engine}, merges rows: copies would count.`,
      ]);
    }
    const { merges, notes } = await learn("copied");
    expect([merges, notes]).toEqual([true, []]);
  });

  const at = "toString(toDateTime(1777593600 + number, 'UTC'))";
  const few = "if(number % 100 < 3, {other}, {usual})";
  it.each<[name: string, type: string, usual: string, other: string, seen: string]>([
    ["hundredths", "Int64", "1777593600 + number", "(1777593600 + number) * 100", ""],
    ["dates", "String", "toString(1777593600 + number)", at, ', such as "2026-05-01'],
  ])("refuses a table of which some rows are in a form it can't read: %s", async (...given) => {
    const [name, type, usual, other, seen] = given;
    const value = few.replace("{other}", other).replace("{usual}", usual);
    await make(name, `at ${type}`, `SELECT ${value} FROM numbers(1000)`);
    await expect(learn(name)).rejects.toThrow(
      new RegExp(`970 rows write seconds.*30 rows write something else${seen}.*"unit"`),
    );
    expect((await learn(name, { unit: "seconds" })).notes).toEqual([
      `30 rows of ${name} have no usable at and are left out.`,
    ]);
  });

  it.each<[name: string, type: string, text: string]>([
    ["plain", "String", at],
    ["iso", "LowCardinality(String)", `replace(${at}, ' ', 'T') || 'Z'`],
    [
      "ahead",
      "Nullable(String)",
      "toString(toDateTime(1777593600 + number, 'UTC') + 7200) || '+02:00'",
    ],
    ["fixed", "FixedString(19)", at],
    ["words", "String", "formatDateTime(toDateTime(1777593600 + number, 'UTC'), '%e %b %Y %T')"],
    ["zeros", "String", `if(number >= 600, '0000-00-00 00:00:00', ${at})`],
  ])("refuses text of dates with a view that reads it: %s", async (name, type, text) => {
    await make(
      name,
      `at ${type}`,
      `SELECT ${text} FROM numbers(1000)`,
      "MergeTree ORDER BY tuple()",
    );
    const { message } = await learn(name).then(
      () => new Error("learned"),
      (error: unknown) => error as Error,
    );
    const [, view] = /(CREATE VIEW .*), and name it as "table"/.exec(message) ?? [];
    await own.writer.command(view ?? message);
    const { time } = await learn(`${name}_with_times`);
    const bounds = boundsSql(time, between("2026-05-01T00:05", "2026-05-01T00:10"));
    const sql = `SELECT count() AS n FROM ${name}_with_times WHERE ${bounds.sql}`;
    expect(await database.rows(sql, bounds.parameters)).toEqual([{ n: 300 }]);
  });

  it("looks beyond the first million rows of an unsorted table", async () => {
    const from = "SELECT 1777593600 + number % 86400 FROM numbers(1500000)";
    await make("late", "at Int64", from, "MergeTree ORDER BY tuple()");
    const later = "SELECT (1777593600 + number) * 1000 FROM numbers(500000)";
    await own.writer.command(`INSERT INTO late ${later}`);
    await expect(learn("late")).rejects.toThrow(
      /1,500,000 rows write seconds, 500,000 rows write milliseconds/,
    );
  });

  it("refuses numbers that count none of the units, and types that hold no instant", async () => {
    await make("minutes", "at UInt64", "SELECT 29626560 + number FROM numbers(100)");
    await expect(learn("minutes")).rejects.toThrow(/Can't infer how at, a UInt64 of minutes/);
    await make("days", "at Decimal(18, 3)", "SELECT 1777593600.5");
    await expect(learn("days")).rejects.toThrow(/a Decimal\(18, 3\): a time column is/);
    await make("typed", "at DateTime", "SELECT now()");
    await expect(learn("typed", { unit: "seconds" })).rejects.toThrow(/leave unit out/);
  });
});

it("Database.table(role) learns a table again that was empty", async () => {
  await make(
    "fastpath",
    "measurement_start_time Int64",
    "",
    "MergeTree ORDER BY measurement_start_time",
  );
  const before = await database.table("measurements");
  expect(before.settled).toBe(false);
  await own.writer.command(`INSERT INTO fastpath SELECT ${MICROS} FROM numbers(10)`);
  const { time } = await database.table("measurements");
  expect(time.written).toBe("microseconds in a Int64");
  expect(await database.table("measurements")).toBe(await database.table("measurements"));
});

it("lab.now is the end of the newest day that is not in the future", async () => {
  await own.writer.command("INSERT INTO fastpath VALUES (4000000000000000), (0)");
  await using lab = await own.open();
  expect(lab.now).toEqual(new Date("2026-05-02T00:00:00Z"));
});

it("lab.now is where the rows end but for a few of a clock ahead, and lab.notes says so", async () => {
  const rows = (start: string, count: number, step: number) =>
    own.writer.command(
      `INSERT INTO fastpath SELECT toDateTime('${start}', 'UTC') + number * ${step}, 'r' FROM numbers(${count})`,
    );
  await own.writer.command(
    "CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String) ENGINE = MergeTree ORDER BY measurement_start_time",
  );
  await rows("2026-03-01 00:00:00", 2_000, 300);
  await rows("2026-04-20 03:00:00", 3, 60);
  await using stray = await own.open();
  expect(stray.now).toEqual(new Date("2026-03-08T00:00:00Z"));
  expect(stray.notes.at(-1)).toBe(
    "3 measurements of a clock ahead are left out of lab.now: the others end at 7 Mar 2026 22:35 UTC, the last is of 20 Apr 2026 03:02 UTC.",
  );
  // Days of nothing are no clock ahead where as many rows follow as a service makes.
  await rows("2026-04-20 04:00:00", 50, 300);
  await using back = await own.open();
  expect(back.now).toEqual(new Date("2026-04-21T00:00:00Z"));
  // Of a row a day a week without one is no gap.
  await own.writer.command("TRUNCATE TABLE fastpath");
  await rows("2025-11-01 00:00:00", 150, 86_400);
  await rows("2026-04-07 00:00:00", 1, 1);
  await using thin = await own.open();
  expect(thin.now).toEqual(new Date("2026-04-08T00:00:00Z"));
});
