import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, connect, type Lab } from "../../src/index.js";
import { answerGate } from "../support/answer-gate.js";
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
    await new Promise((resolve) => setTimeout(resolve, 1_000));
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

describe("a table of 20,000 columns", () => {
  it("is read, and an unknown column names only the nearest", async () => {
    const columns = Array.from({ length: 20_000 }, (_, at) => `c${at} UInt8`);
    await own.writer.command(
      `CREATE TABLE wide (measurement_start_time DateTime, ${columns.join(", ")}) ENGINE = Memory`,
      { settings: { max_query_size: 1e7 } },
    );
    await own.writer.command(
      "INSERT INTO wide (measurement_start_time) VALUES ('2026-05-01 12:00:00')",
    );
    const tables = { measurements: { table: "wide" } };
    await using wide = await connect({ measurements: own.url, tables });
    const all = await wide.query("SELECT * FROM wide WHERE {range}", { range });
    expect(all.columnNames()).toHaveLength(20_001);
    await expect(wide.measurements.counts({ range, every: "all", by: "cc7" })).rejects.toThrow(
      /did you mean c\d+\? It has .* and 19,\d+ more\.$/,
    );
  }, 100_000);
});

describe("lab.query(sql, { params })", () => {
  it("takes a text of a million characters", async () => {
    const s = "x".repeat(1_000_000);
    const sql = "SELECT length({s:String}) AS n FROM fastpath WHERE {range} LIMIT 1";
    expect((await lab.query(sql, { range, params: { s } })).rows()).toEqual([{ n: 1_000_000 }]);
  });

  it("says what to check where a table, a database or a column is missing", async () => {
    const ask = (from: string) => lab.query(`SELECT 1 FROM ${from} WHERE {range}`, { range });
    await expect(ask("entirely_other")).rejects.toThrow(/UNKNOWN_TABLE.*Remedy: check its name/);
    await expect(ask("nowhere.fastpath")).rejects.toThrow(
      /UNKNOWN_DATABASE.*Remedy: check the database's name, in the SQL or/,
    );
    await expect(lab.query("SELECT zzzz FROM fastpath WHERE {range}", { range })).rejects.toThrow(
      /zzzz.*Remedy: .*DESCRIBE TABLE/,
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

it("a filter of long texts that matches nothing is explained quickly", async () => {
  await own.writer.command(
    "CREATE TABLE long (measurement_start_time DateTime, input String) ENGINE = MergeTree ORDER BY measurement_start_time",
  );
  await own.writer.command(
    "INSERT INTO long SELECT toDateTime('2026-05-01 12:00:00', 'UTC'), randomPrintableASCII(2000) FROM numbers(1000)",
  );
  const tables = { measurements: { table: "long" } };
  await using other = await connect({ measurements: own.url, tables });
  const none = await other.measurements.counts({
    range,
    every: "all",
    where: { input: "a".repeat(2_000) },
  });
  expect(none.origin.notes.join()).toMatch(/has input a+…; the range holds "/);
}, 60_000);

it("following an empty table goes on where its first line comes while it is learned", async () => {
  await own.writer.command(
    "CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String, SYSLOG_IDENTIFIER String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
  );
  const { origin, pathname, username, password } = new URL(own.url);
  await using gate = await answerGate(`${origin}${pathname}`);
  const logs = gate.url.replace("//", `//${username}:${password}@`);
  await using far = await connect({ measurements: own.url, logs });
  const since = new Date();
  const write = () =>
    own.writer.command(
      `INSERT INTO logs VALUES (${(since.getTime() + 1_000) * 1_000}, 'first', 'api')`,
    );
  // The rows have been counted by unit, and there was none.
  gate.on("AS microseconds", async () => {
    gate.open();
    await write();
  });
  const later = setTimeout(() => void write(), 1_500);
  try {
    for await (const line of far.logs.follow({ since, every: "1 second" })) {
      expect(line.message).toBe("first");
      break;
    }
  } finally {
    clearTimeout(later);
  }
});
