import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, connect, count, sum, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-01", "2026-05-02");
let lab: Lab;
beforeAll(async () => {
  for (const [name, at] of [
    ["fastpath", "1777600000 + number"],
    ["millis", "(1777600000 + number) * 1000"],
  ] as const) {
    await own.writer.command(
      `CREATE TABLE ${name} (measurement_start_time Int64, probe_cc String) ENGINE = MergeTree ORDER BY measurement_start_time`,
    );
    await own.writer.command(`INSERT INTO ${name} SELECT ${at}, 'IT' FROM numbers(100)`);
  }
  lab = await own.open();
});
afterAll(() => lab.close());

describe("a lab that stays open", () => {
  const sql = "SELECT count() AS n FROM fastpath WHERE {range}";
  const counted = async () => [
    (await lab.measurements.counts({ range, every: "all" })).rows()[0]?.measurements,
    (await lab.query(sql, { range })).rows()[0]?.["n"],
  ];

  it("asks a table that was exchanged for one in another unit", async () => {
    expect(await counted()).toEqual([100, 100]);
    await own.writer.command("EXCHANGE TABLES fastpath AND millis");
    expect(await counted()).toEqual([100, 100]);
  });

  it("asks again in the unit that a view's table or new rows have now", async () => {
    const columns =
      "(measurement_start_time Int64, probe_cc String) ENGINE = MergeTree ORDER BY measurement_start_time";
    const fill = (table: string, unit: number) =>
      own.writer.command(
        `INSERT INTO ${table} SELECT (1777600000 + number) * ${unit}, 'IT' FROM numbers(100)`,
      );
    for (const [table, unit] of [
      ["one", 1],
      ["two", 1000],
      ["again", 1],
    ] as const) {
      await own.writer.command(`CREATE TABLE ${table} ${columns}`);
      await fill(table, unit);
    }
    await own.writer.command("CREATE VIEW seen AS SELECT * FROM one");
    const change = {
      seen: () => own.writer.command("EXCHANGE TABLES one AND two"),
      async again() {
        await own.writer.command("TRUNCATE TABLE again");
        await fill("again", 1000);
      },
    };
    for (const [table, act] of Object.entries(change)) {
      const tables = { measurements: { table } };
      await using lab = await connect({ measurements: own.url, tables });
      const ask = async () => [
        (await lab.measurements.counts({ range, every: "all" })).rows()[0]?.measurements,
        (await lab.query(`SELECT count() AS n FROM ${table} WHERE {range}`, { range })).rows(),
      ];
      expect(await ask()).toEqual([100, [{ n: 100 }]]);
      await act();
      expect((await ask()).flat(), table).toEqual([100, { n: 100 }]);
    }
  });

  it("has the logs searched again where their unit is another now", async () => {
    for (const [table, unit] of [
      ["lines", 1e6],
      ["newer", 1e3],
    ] as const) {
      const columns =
        "toInt64((1777600000 + number) * " +
        unit +
        ") AS at, 'up' AS message, 'api' AS SYSLOG_IDENTIFIER";
      await own.writer.command(
        `CREATE TABLE ${table} ENGINE = MergeTree ORDER BY at AS SELECT ${columns} FROM numbers(9)`,
      );
    }
    await own.writer.command("CREATE VIEW seen_lines AS SELECT * FROM lines");
    const tables = { logs: { table: "seen_lines", time: "at" } };
    await using lab = await connect({ measurements: own.url, logs: own.url, tables });
    const search = () => lab.logs.search({ range });
    expect((await search()).numRows()).toBe(9);
    await own.writer.command("EXCHANGE TABLES lines AND newer");
    expect((await search()).origin.notes[0]).toMatch(/altered or filled anew .*: ask again\.$/);
    expect((await search()).numRows()).toBe(9);
  });

  it("asks a table that was empty, and another type of a column", async () => {
    await own.writer.command(
      "CREATE TABLE later (at Int64, n String) ENGINE = MergeTree ORDER BY at",
    );
    const ask = async () =>
      (await lab.query("SELECT n FROM later WHERE {range:at}", { range })).rows();
    expect(await ask()).toEqual([]);
    await own.writer.command("INSERT INTO later VALUES (1777600000000000, '7')");
    expect(await ask()).toEqual([{ n: "7" }]);
    await own.writer.command("ALTER TABLE later MODIFY COLUMN n UInt8");
    expect(await ask()).toEqual([{ n: 7 }]);
  });

  it("knows a column that was added, and not one that was dropped", async () => {
    const by = "probe_asn";
    const ask = () => lab.measurements.counts({ range, every: "all", by });
    await expect(ask()).rejects.toThrow(/Can't find a column "probe_asn"/);
    await own.writer.command("ALTER TABLE fastpath ADD COLUMN probe_asn UInt32 DEFAULT 30722");
    expect((await ask()).rows()).toMatchObject([{ probe_asn: "30722", measurements: 100 }]);
    await own.writer.command("ALTER TABLE fastpath DROP COLUMN probe_asn");
    await expect(ask()).rejects.toThrow(/Can't find a column "probe_asn"/);
  });
});

describe("lab.query(sql, { params })", () => {
  it("says what to check where a table, a database or a column is missing", async () => {
    const ask = (from: string) => lab.query(`SELECT 1 FROM ${from} WHERE {range}`, { range });
    for (const table of ["entirely_other", "nope"]) {
      await expect(ask(table)).rejects.toThrow(/^(?!.*meant system).*UNKNOWN_TABLE.*Remedy: check/);
    }
    await expect(ask("nowhere.fastpath")).rejects.toThrow(
      /UNKNOWN_DATABASE.*Remedy: check the database's name, in the SQL or/,
    );
    await expect(lab.query("SELECT zzzz FROM fastpath WHERE {range}", { range })).rejects.toThrow(
      /zzzz.*Remedy: .*await lab\.columns\(\)/,
    );
    const params = { x: Symbol("x") as unknown as string };
    const symbol = "SELECT {x:String} AS x FROM fastpath WHERE {range}";
    await expect(lab.query(symbol, { range, params })).rejects.toThrow(
      "Can't run the query: Cannot convert a Symbol value to a string.",
    );
  });

  it("names a view where a column's type can't be grouped", async () => {
    await own.writer.command(
      "CREATE TABLE dynamic (measurement_start_time DateTime, report_id Dynamic, software_name String, software_version String) ENGINE = MergeTree ORDER BY measurement_start_time",
    );
    await own.writer.command("INSERT INTO dynamic VALUES ('2026-05-01 00:00:00', 'a', 'x', '1')");
    const tables = { measurements: { table: "dynamic" } };
    await using odd = await connect({ measurements: own.url, tables });
    await expect(odd.runs.summary({ range })).rejects.toThrow(/Remedy: make a view/);
    await own.writer.command(
      "CREATE TABLE parts (measurement_start_time DateTime, software Tuple(name String)) ENGINE = MergeTree ORDER BY measurement_start_time",
    );
    const part = { table: "parts", software_name: "software.name" };
    await using parts = await connect({ measurements: own.url, tables: { measurements: part } });
    await expect(parts.measurements.counts({ range })).rejects.toThrow(
      /software\.name of parts, a part of a column: make a view .* software\.name AS software_name FROM/,
    );
  });
});

it("lab.query bounds a table whose name holds a dot", async () => {
  await own.writer.command(
    "CREATE TABLE `fast.path` (at DateTime64(3)) ENGINE = MergeTree ORDER BY at AS SELECT toDateTime64('2026-05-01 12:00:00', 3, 'UTC') FROM numbers(3)",
  );
  const sql = "SELECT count() AS n FROM `fast.path` WHERE {range:`fast.path`.at}";
  expect((await lab.query(sql, { range })).rows()).toEqual([{ n: 3 }]);
});

it("columns may have names of our SQL; an EPHEMERAL one and a view with parameters are refused plainly", async () => {
  await own.writer.command(
    "CREATE TABLE named (measurement_start_time DateTime, _rows UInt32, _n UInt32, sent UInt8 EPHEMERAL, report_id String) ENGINE = MergeTree ORDER BY measurement_start_time",
  );
  await own.writer.command(
    "INSERT INTO named SELECT toDateTime(1777600000 + number), 7, number % 2, toString(number % 10) FROM numbers(100)",
  );
  await own.writer.command("CREATE VIEW asked AS SELECT * FROM named WHERE _n = {n:UInt32}");
  const open = (table: string) =>
    connect({ measurements: own.url, tables: { measurements: { table } } });
  await using named = await open("named");
  const { measurements, runs } = named;
  expect((await measurements.counts({ range, every: "all", by: ["_rows", "_n"] })).rows()).toEqual([
    { _rows: "7", _n: "0", measurements: 50 },
    { _rows: "7", _n: "1", measurements: 50 },
  ]);
  const asked = {
    range,
    every: "all" as const,
    measures: { sum: sum("_rows"), n: count() },
    where: { _rows: 7 },
  };
  expect((await measurements.ask(asked)).rows()).toMatchObject([{ sum: 700, n: 100 }]);
  expect((await runs.summary({ range, by: "_n" })).rows()).toMatchObject([
    { _n: "0", runs: 5, measurements_per_run: 10 },
    { _n: "1", runs: 5, measurements_per_run: 10 },
  ]);
  await expect(measurements.counts({ range, by: "sent" })).rejects.toThrow(/find a column "sent"/);
  await using view = await open("asked");
  await expect(view.measurements.counts({ range })).rejects.toThrow(/a view with parameters/);
});
