import { describe, expect, it } from "vitest";
import { between, connect, count } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, MINUTE } from "./log-rows.js";

const own = ownDatabase();
const range = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

/** A line for each value, a minute apart; its message is its place. */
async function given(type: string, values: readonly string[]) {
  await own.writer.command(
    `CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP Int64, SYSLOG_IDENTIFIER String, PRIORITY ${type}, message String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
  );
  const rows = values.map(
    (value, at) => `(${(EPOCH + at * MINUTE) * 1000}, 'nginx', ${value}, '${at}')`,
  );
  await own.writer.command(`INSERT INTO logs VALUES ${rows.join(", ")}`);
  return own.open();
}

const PRIORITIES = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];
const digits = ["0", "1", "2", "3", "4", "5", "6", "7"];
const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`);
const enumOf = (values: readonly string[]) =>
  `Enum8(${values.map((value, at) => `'${value}' = ${at + 1}`).join(", ")})`;

describe("a filter by priority", () => {
  it.each<[string, string, readonly string[]]>([
    ["numbers", "UInt8", digits],
    ["numbers that may be missing", "Nullable(Int32)", digits],
    ["numbers with a point", "Float64", digits],
    ["digits as text", "String", quoted(digits)],
    ["digits as sd-daemon has them", "LowCardinality(String)", quoted(digits.map((d) => `<${d}>`))],
    ["names", "LowCardinality(Nullable(String))", quoted(PRIORITIES)],
    ["names in upper case", "String", quoted(PRIORITIES.map((name) => name.toUpperCase()))],
    [
      "RFC 5424's names",
      "Nullable(String)",
      quoted("Emergency Alert Critical Error WARN Notice Informational Debug".split(" ")).map(
        (name) => name.replace("Debug", "Debug "),
      ),
    ],
    ["an Enum of names", enumOf(PRIORITIES), quoted(PRIORITIES)],
    ["an Enum of digits", `Nullable(${enumOf(digits)})`, quoted(digits)],
  ])("keeps the severe of %s (%s)", async (_, type, values) => {
    await using lab = await given(type, values);
    const asked = [
      ["emerg", 0],
      ["err", 3],
      [4, 4],
      ["debug", 7],
    ] as const;
    for (const [priority, most] of asked) {
      const found = await lab.logs.search({ range, priority, newestFirst: false });
      expect(found.column("message")).toEqual(digits.slice(0, most + 1));
    }
    const rates = await lab.logs.rates({ range, every: "all", priority: "err" });
    expect(rates.column("messages")).toEqual([4]);
  });

  it("refuses spellings that are none of syslog's, and names them", async () => {
    await using lab = await given("String", ["'P1'", "'P1'", "'FATAL'", "'err'", "''"]);
    await expect(lab.logs.search({ range, priority: "err" })).rejects.toThrow(
      'Can\'t filter by priority: logs holds a PRIORITY that is no syslog priority: "P1" (2 lines), "FATAL" (1 line). Leave priority out and ask for the values themselves',
    );
    // Only what the range holds is in the way.
    const later = between(new Date(EPOCH + 3 * MINUTE), range.end);
    const found = await lab.logs.search({ range: later, priority: "err" });
    expect(found.column("message")).toEqual(["3"]);
    const following = lab.logs.follow({ since: new Date(EPOCH), priority: "err" });
    await expect(following.next()).rejects.toThrow(/no syslog priority: "P1"/);
  });

  it("refuses numbers of another scale, in which small ones may be the mildest", async () => {
    await using lab = await given("UInt8", ["17", "1", "17", "9", "3"]);
    await expect(lab.logs.search({ range, priority: "err" })).rejects.toThrow(
      "Can't filter by priority: logs holds a PRIORITY that is no syslog priority: 17 (2 lines), 9 (1 line). Leave priority out and ask for the values themselves: lab.logs.ask({ …, where: { PRIORITY: [17] } })",
    );
    const asked = await lab.logs.ask({
      range,
      every: "all",
      where: { priority: { gte: 17 } },
      measures: { messages: count() },
    });
    expect(asked.column("messages")).toEqual([2]);
  });

  it("refuses OpenTelemetry's severity numbers also where all are small", async () => {
    await own.writer.command(
      `CREATE OR REPLACE TABLE logs ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP AS
       SELECT toInt64(${EPOCH * 1000} + number) AS __REALTIME_TIMESTAMP, 'api' AS SYSLOG_IDENTIFIER, toString(number) AS message,
         toInt32(number) AS SeverityNumber FROM numbers(5)`,
    );
    const tables = { logs: { priority: "SeverityNumber" } };
    await using lab = await connect({ measurements: own.url, logs: own.url, tables });
    await expect(lab.logs.search({ range, priority: "err" })).rejects.toThrow(
      /no syslog priority: 1 \(1 line\)/,
    );
  });

  it("refuses numbers of the facility and the severity in one, RFC 5424's PRI", async () => {
    await using lab = await given("UInt8", ["30", "27", "191"]);
    await expect(lab.logs.search({ range, priority: "err" })).rejects.toThrow(
      /no syslog priority: 191 \(1 line\), 27 \(1 line\), 30 \(1 line\)/,
    );
  });

  it("takes the spellings of shells and programs: 3, error, warn", async () => {
    await using lab = await given("UInt8", digits);
    for (const [priority, most] of [
      ["3", 3],
      ["error", 3],
      ["warn", 4],
      ["Critical", 2],
    ] as const) {
      const found = await lab.logs.search({ range, priority: priority as never });
      expect(found.numRows()).toBe(most + 1);
    }
  });

  it("leaves lines without a priority out", async () => {
    for (const [type, values] of [
      ["Nullable(String)", ["NULL", "''", "'err'"]],
      ["Int16", ["-1", "-2", "3"]],
    ] as const) {
      await using lab = await given(type, values);
      const found = await lab.logs.search({ range, priority: "debug" });
      expect(found.column("message")).toEqual(["2"]);
    }
  });
});
