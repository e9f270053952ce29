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

  it("says where a Buffer, or a view however deep, gives rows that a merging engine still holds", async () => {
    await make("copied", "at DateTime('UTC'), id UInt8", "", "ReplacingMergeTree ORDER BY id");
    const { database: name } = own.writer;
    const like = { Buffer: `Buffer('${name}', 'copied'`, Here: "Buffer(currentDatabase(), copied" };
    for (const [made, engine] of Object.entries(like)) {
      await own.writer.command(
        `CREATE TABLE ${made} AS copied ENGINE = ${engine}, 1, 1, 9, 1, 9, 1, 9)`,
      );
      const { notes } = await learn(made);
      expect(notes.join(" ")).toMatch(/is a Buffer of .*copied.*, a ReplacingMergeTree, without/);
    }
    await own.writer.command("CREATE VIEW once AS SELECT * FROM copied");
    await own.writer.command("CREATE VIEW deep AS SELECT * FROM once WHERE id > 0");
    expect((await learn("deep")).notes.join(" ")).toMatch(
      /once is a view of .*copied.*without FINAL/,
    );
    await own.writer.command("CREATE OR REPLACE VIEW once AS SELECT * FROM copied FINAL");
    expect((await learn("deep")).notes.join(" ")).not.toMatch(/FINAL/);
  });

  const at = "toString(toDateTime(1777593600 + number, 'UTC'))";
  const local = "formatDateTime(toDateTime(1777593600 + number, 'UTC') + 7200, '%F %T')";
  it.each<[name: string, text: string]>([
    ["both", `if(number % 2, ${at}, replace(${at}, ' ', 'T'))`],
    ["half_offset", `if(number % 2, ${at}, ${local} || '+02:00')`],
    ["most_offset", `if(number % 20 = 0, ${at}, ${local} || '+0200')`],
    ["few_offset", `if(number % 20 = 0, ${local} || '+02', ${at} || 'Z')`],
    ["named", `if(number % 2, ${at} || ' UTC', ${at} || '.25Z')`],
  ])("reads every row of texts in several forms: %s", async (name, text) => {
    await make(name, "at String", `SELECT ${text} FROM numbers(1000)`);
    const { notes, time } = await learn(name);
    expect(notes).toEqual([]);
    const range = between("2026-05-01T00:05:00Z", "2026-05-01T00:10:00Z");
    const bounds = boundsSql(time, range);
    const [found] = await database.rows(
      `SELECT count() AS n, substring(toString(min(${time.dateTime(time.sql)})), 1, 19) AS first FROM ${name} WHERE ${bounds.sql} AND ${time.usable}`,
      bounds.parameters,
    );
    expect(found).toEqual({ n: 300, first: "2026-05-01 00:05:00" });
  });

  it("bounds text with the offsets of all the world", async () => {
    const offsets = [-720, -330, 0, 60, 345, 765, 840];
    const sign =
      "if(m < 0, '-', '+') || leftPad(toString(intDiv(abs(m), 60)), 2, '0') || ':' || leftPad(toString(abs(m) % 60), 2, '0')";
    await make(
      "world",
      "at String",
      `SELECT formatDateTime(toDateTime('2026-05-01 00:00:00', 'UTC') + number * 600 + m * 60, '%FT%T') || ${sign} FROM numbers(1000) ARRAY JOIN [${offsets.join()}] AS m`,
    );
    const { time } = await learn("world");
    for (const [start, end] of [
      ["2026-05-03", "2026-05-04"],
      ["2026-05-03T23:50", "2026-05-04T00:10"],
    ] as const) {
      const range = between(start, end);
      const { sql, parameters } = boundsSql(time, range);
      const minutes = (range.end.getTime() - range.start.getTime()) / 60_000;
      expect(
        await database.rows(`SELECT count() AS n FROM world WHERE ${sql}`, parameters),
      ).toEqual([{ n: (minutes / 10) * offsets.length }]);
    }
  });

  it.each<[name: string, type: string, text: string, example: RegExp]>([
    ["hundredths", "String", "toString((1777593600 + number) * 100)", /such as "1777593\d+"/],
    ["hundredth_numbers", "Int64", "(1777593600 + number) * 100", /30 rows write something else/],
    ["slashes", "String", "'01/05/2026 12:00:00'", /such as "01\/05\/2026 12:00:00"/],
    ["comma", "String", `${at} || ',5'`, /such as "2026-05-01 \d\d:\d\d:\d\d,5"/],
    ["abbreviated", "String", `${at} || ' CEST'`, /such as "2026.* CEST"/],
  ])("refuses a table of which some rows are in a form it can't read: %s", async (...given) => {
    const [name, type, other, example] = given;
    const usual = type === "String" ? at : "1777593600 + number";
    await make(
      name,
      `at ${type}`,
      `SELECT if(number % 100 < 3, ${other}, ${usual}) FROM numbers(1000)`,
    );
    await expect(learn(name)).rejects.toThrow(example);
    await expect(learn(name)).rejects.toThrow(
      /970 rows write .*30 rows write something else.*"unit"/,
    );
    const unit = type === "String" ? "text" : "seconds";
    expect((await learn(name, { unit })).notes).toEqual([
      `30 rows of ${name} have no usable at and are left out.`,
    ]);
  });

  it.each<[name: string, many: string, other: string]>([
    ["verbal", "1,900", "formatDateTime(toDateTime(1777593600 + number, 'UTC'), '%e %b %Y %H:%i')"],
    ["short_ones", "1,900", "'1.05.26 12:00'"],
    ["days_alone", "1,000", "'2026-05-01'"],
    ["no_dates", "1,000", "'2026-02-31 12:00:00'"],
  ])("refuses texts of which many are no time: %s", async (name, many, other) => {
    const each = many === "1,900" ? "number % 20 > 0" : "number % 2 > 0";
    await make(name, "at String", `SELECT if(${each}, ${other}, ${at}) FROM numbers(2000)`);
    await expect(learn(name)).rejects.toThrow(
      new RegExp(`${many} rows write something else, such as .*name a view as "table"`),
    );
  });

  it("reads a view that the remedy names, and offers no unit where no row has one", async () => {
    const text = "formatDateTime(toDateTime(1777593600 + number, 'UTC'), '%e %b %Y %H:%i')";
    await make("words", "at String", `SELECT ${text} FROM numbers(600)`);
    const { message } = await learn("words").then(
      () => new Error("learned"),
      (error: unknown) => error as Error,
    );
    expect(message).not.toContain('"unit"');
    const [, select] = /such as (SELECT .* FROM words)\.$/.exec(message) ?? [];
    await own.writer.command(`CREATE VIEW read_words AS ${select}`);
    const { time, notes } = await learn("read_words");
    expect([time.resolution, notes]).toEqual(["millisecond", []]);
    const bounds = boundsSql(time, between("2026-05-01T00:05", "2026-05-01T00:06"));
    const sql = `SELECT count() AS n FROM read_words WHERE ${bounds.sql}`;
    expect(await database.rows(sql, bounds.parameters)).toEqual([{ n: 60 }]);
  });

  it("takes a date of zeros for none, which the engine reads as the first of January", async () => {
    const zeros =
      "if(number % 2, '0000-00-00 00:00:00', toString(toDateTime('2026-01-01', 'UTC') + number))";
    await make("zeros", "at String", `SELECT ${zeros} FROM numbers(1000)`);
    const { time, notes } = await learn("zeros");
    expect(notes).toEqual([
      "500 rows (50 % of those looked at) of zeros have no usable at and are left out.",
    ]);
    const bounds = boundsSql(time, between("2026-01-01", "2026-01-02"));
    const sql = `SELECT count() AS n FROM zeros WHERE ${bounds.sql} AND ${time.usable}`;
    expect(await database.rows(sql, bounds.parameters)).toEqual([{ n: 500 }]);
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

it("a Merge table over tables that keep copies says so", async () => {
  const columns = "measurement_start_time DateTime('UTC'), report_id String";
  for (const [name, engine] of [
    ["merged_a", "MergeTree"],
    ["merged_b", "ReplacingMergeTree"],
  ] as const) {
    await own.writer.command(
      `CREATE OR REPLACE TABLE ${name} (${columns}) ENGINE = ${engine} ORDER BY measurement_start_time`,
    );
  }
  for (const definition of ["currentDatabase(), '^merged_'", `REGEXP('.*'), '^merged_[ab]$'`]) {
    await own.writer.command("DROP TABLE IF EXISTS fastpath");
    await own.writer.command(`CREATE TABLE fastpath (${columns}) ENGINE = Merge(${definition})`);
    await using lab = await own.open();
    const range = between("2026-05-01", "2026-05-02");
    const { origin } = await lab.measurements.counts({ range, every: "all" });
    expect(origin.notes.join(" ")).toContain(
      "fastpath reads several tables, of which merged_b (ReplacingMergeTree) keeps copies of rows until they are merged: these copies count.",
    );
  }
  await own.writer.command("DROP TABLE fastpath");
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
