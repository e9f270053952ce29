import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openWriter } from "../../../src/database/writer.js";
import { between, connect, prefix, type Lab } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { EPOCH, LOG_TIME_TYPES, logRow, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;
const hour = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

function line(minute: number, message: string, more: Partial<LogRow> = {}): LogRow {
  const micros = (EPOCH + minute * MINUTE) * 1000;
  return { micros, identifier: "nginx", priority: 6, host: "api1", message, ...more };
}

/** Filters as options, and as the plain rule they stand for. */
const FILTERS: readonly [
  Partial<Parameters<Lab["logs"]["search"]>[0]>,
  (row: LogRow) => boolean,
][] = [
  [{}, () => true],
  [{ identifier: "nginx" }, (row) => row.identifier === "nginx"],
  [{ identifier: ["nginx", "probe-api"] }, (row) => row.identifier !== "test-helper"],
  [{ identifier: prefix("probe") }, (row) => row.identifier === "probe-api"],
  [{ priority: "err" }, (row) => row.priority <= 3],
  [{ priority: 4, host: "api1" }, (row) => row.priority <= 4 && row.host === "api1"],
  [{ contains: "timed" }, (row) => row.message === "timed out"],
  [{ contains: "it's \\ 100 % ?" }, (row) => row.message.includes("100 %")],
  [{ matches: /^timed/i }, (row) => /^timed/i.test(row.message)],
  [{ matches: "\\d+ (ms|%)" }, (row) => /\d+ (ms|%)/.test(row.message)],
];

it.each(LOG_TIME_TYPES)(
  "search agrees with plain rows of $type: filter, order, limit",
  async (time) => {
    const rows = fc.sample(logRow(time), { numRuns: 60, seed: 20260430 });
    await writeLogs(own.writer, rows, time.type);
    await using lab = await open();
    const question = fc.record({
      filter: fc.constantFrom(...FILTERS),
      limit: fc.constantFrom(1, 3, 100, Infinity),
      newestFirst: fc.boolean(),
      from: fc.integer({ min: -3, max: 30 }),
      minutes: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ filter, limit, newestFirst, from, minutes }) => {
        const start = EPOCH + from * MINUTE;
        const end = start + minutes * MINUTE;
        const range = between(new Date(start), new Date(end));
        const found = await lab.logs.search({ range, ...filter[0], limit, newestFirst });
        const inside = rows
          .filter((row) => row.micros >= start * 1000 && row.micros < end * 1000 && filter[1](row))
          .sort((a, b) => (newestFirst ? b.micros - a.micros : a.micros - b.micros));
        const wanted = inside.slice(0, limit);
        expect(found.column("t").map(Number)).toEqual(
          wanted.map((row) => Math.floor(row.micros / 1000)),
        );
        // Lines of one instant come in any order, and the limit may cut among them.
        const all = inside.map((row) => JSON.stringify(fields(row)));
        for (const { t, ...rest } of found.rows()) {
          expect(t).toBeInstanceOf(Date);
          const at = all.indexOf(JSON.stringify(rest));
          expect(at).toBeGreaterThanOrEqual(0);
          all.splice(at, 1);
        }
        expect(found.origin.reductions).toHaveLength(inside.length > wanted.length ? 1 : 0);
        expect(found.origin.notes).toHaveLength(wanted.length === 0 ? 1 : 0);
      }),
      { numRuns: 15, seed: 20260430 },
    );
  },
);

function fields({ identifier, priority, host, message }: LogRow) {
  return { identifier, priority: String(priority), host, message };
}

describe("search", () => {
  it("needs the seed's three columns only, and tells which one a filter lacks", async () => {
    await writeLogs(own.writer, [line(1, "hello")], "Int64", true);
    await using lab = await open();
    const found = await lab.logs.search({ range: hour });
    expect(found.columnNames()).toEqual(["t", "identifier", "message"]);
    await expect(lab.logs.search({ range: hour, host: "api1" })).rejects.toThrow(
      /Can't use host: logs has no column host\..*leave host out/,
    );
    await expect(lab.logs.search({ range: hour, priority: 3 })).rejects.toThrow(
      /Can't use priority: logs has no column PRIORITY/,
    );
  });

  it("hides addresses when asked, and says so", async () => {
    await writeLogs(own.writer, [line(1, "request from 203.0.113.9 by jo@example.org")]);
    await using lab = await open();
    const open1 = await lab.logs.search({ range: hour });
    expect(open1.column("message")).toEqual(["request from 203.0.113.9 by jo@example.org"]);
    const masked = await lab.logs.search({ range: hour, mask: true });
    expect(masked.column("message")).toEqual(["request from [IPv4] by [e-mail]"]);
    expect(masked.origin.notes).toEqual(["E-mail and IP addresses are masked."]);
  });

  it("says that there is more than the limit, and why there is nothing", async () => {
    await writeLogs(own.writer, [line(1, "a"), line(2, "b"), line(3, "c", { identifier: "sshd" })]);
    await using lab = await open();
    const two = await lab.logs.search({ range: hour, limit: 2 });
    expect(two.column("message")).toEqual(["c", "b"]);
    expect(two.origin.reductions).toEqual([
      "The newest 2 lines; the range holds more that match. Pass a larger limit for them.",
    ]);
    const none = await lab.logs.search({ range: hour, identifier: "ngnix" });
    expect(none.origin.notes[0]).toMatch(/matches the filter by identifier; .*nginx, sshd\.$/);
    const before = between(new Date(EPOCH - 2 * MINUTE), new Date(EPOCH));
    const empty = await lab.logs.search({ range: before });
    expect(empty.origin.notes[0]).toMatch(/^logs holds no line of 29 Apr 2026 23:58–24:00 UTC/);
  });

  it("refuses what can't be meant", async () => {
    await writeLogs(own.writer, [line(1, "hello")]);
    await using lab = await open();
    const refused = async (options: object, message: RegExp) => {
      await expect(lab.logs.search({ range: hour, ...options })).rejects.toThrow(message);
    };
    await refused({ range: undefined }, /Can't search the logs without a time range/);
    await refused({ limit: 0 }, /Can't take a limit of 0: pass limit: 100/);
    await refused({ priority: 8 }, /Can't use the priority 8/);
    await refused({ contains: "" }, /Can't search for contains: ""/);
    await refused({ matches: "(" }, /search the logs/);
  });
});

describe("lab.logs", () => {
  it("is a database of its own where its source differs, opened on first use", async () => {
    await using other = await temporaryDirectory();
    await writeLogs(own.writer, [line(1, "of the measurements' database")]);
    {
      await using own = await openWriter(other.source);
      await writeLogs(own, [line(1, "of the log database")]);
    }
    const measurements = own.url;
    await using apart = await connect({ measurements, logs: `embedded:${other.path}` });
    const found = await apart.logs.search({ range: hour });
    expect(found.column("message")).toEqual(["of the log database"]);
    expect(found.origin.source).toBe(`embedded:${other.path}`);
    await using lazy = await connect({ measurements, logs: "http://127.0.0.1:9/none" });
    await expect(lazy.logs.search({ range: hour })).rejects.toThrow(/127\.0\.0\.1:9/);
    await using same = await connect({ measurements, logs: measurements });
    expect((await same.logs.search({ range: hour })).column("message")).toEqual([
      "of the measurements' database",
    ]);
  });
});
