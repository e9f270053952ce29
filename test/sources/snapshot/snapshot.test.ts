import { beforeAll, describe, expect, it } from "vitest";
import {
  between,
  chart,
  connect,
  count,
  last,
  openSnapshot,
  quantile,
  type TimeRange,
} from "../../../src/index.js";
import { fillSample } from "../../../src/sample/fill.js";
import { type SnapshotMeasurements } from "../../../src/sources/snapshot/snapshot.js";
import { embeddedDatabase } from "../../support/embedded-database.js";
import { newDatabase, ownDatabase } from "../../support/own-database.js";
import { KINDS, makeRows } from "./rows.js";

const own = ownDatabase();
const kept = embeddedDatabase();
const range = between("2026-05-02", "2026-05-05");
const by = { range, every: "day", by: "probe_cc" } as const;

beforeAll(() => makeRows(own.writer, KINDS[0]!));

/** How many pieces of whole days have been read so far. */
async function piecesOf(name: string): Promise<number> {
  const rows = await kept.writer.rows<{ n: number }>(
    `SELECT count() AS n FROM snapshot_${name}_pieces`,
  );
  return Number(rows[0]?.n);
}

const into = () => `embedded:${kept.directory.path}`;

describe("lab.snapshot", () => {
  it("is asked as the table, says what it is of and how old it is, and offline too", async () => {
    await using lab = await own.open();
    const snapshot = await lab.snapshot({ range, into: into() });
    const [wanted, found] = [
      await lab.measurements.counts(by),
      await snapshot.measurements.counts(by),
    ];
    expect(found.rows()).toEqual(wanted.rows());
    expect(found.origin.notes[0]).toMatch(
      /^Snapshot measurements of fastpath, taken \d+ \w+ \d{4} \d\d:\d\d UTC, \d+ s old: whole as of then\.$/,
    );
    expect(found.origin.source).toBe(into());
    expect(found.origin.rowsRead).toBeLessThan(wanted.origin.rowsRead);
    expect(JSON.stringify(chart.line(found).spec)).toContain("Snapshot measurements of fastpath");
    expect(snapshot.dimensions).toEqual([
      ...["software_name", "software_version", "probe_cc", "probe_asn", "test_name"],
    ]);
    await using offline = await openSnapshot("measurements", { into: into() });
    const again = await offline.runs.ask({ ...by, measures: { p: quantile(0.5, "duration") } });
    const runs = await lab.runs.ask({ ...by, measures: { p: quantile(0.5, "duration") } });
    expect(again.rows()).toEqual(runs.rows());
    expect(offline.range).toEqual(snapshot.range);
    expect(offline.now).toEqual(range.end);
  });

  it("reads only the days that the table counts otherwise: new, late and deleted rows, however old", async () => {
    await using table = await newDatabase();
    await makeRows(table.writer, KINDS[0]!);
    await using lab = await table.open();
    const days = (from: number, to: number) => between(`2026-05-0${from}`, `2026-05-0${to}`);
    const options = { name: "late", into: into() };
    const counted = async (room: SnapshotMeasurements, range: TimeRange) =>
      (await room.counts({ range, every: "hour" })).rows();
    const first = await lab.snapshot({ ...options, range: days(2, 4) });
    const before = await counted(first.measurements, days(2, 4));
    await table.writer.command(
      "INSERT INTO fastpath SELECT * FROM fastpath WHERE n % 3 = 0 AND toDate(measurement_start_time) = '2026-05-02'",
    );
    await table.writer.command(
      "DELETE FROM fastpath WHERE n % 5 = 0 AND toDate(measurement_start_time) = '2026-05-03'",
    );
    const second = await lab.snapshot({ ...options, range: days(2, 5) });
    expect(await counted(second.measurements, days(2, 5))).toEqual(
      await counted(lab.measurements, days(2, 5)),
    );
    expect(+second.takenAt).toBeGreaterThan(+first.takenAt);
    // A snapshot that is open stays as it was.
    expect(await counted(first.measurements, days(2, 4))).toEqual(before);
    // Where no day differs, nothing is read or made anew, and what is held is whole as of now.
    const tables = () =>
      kept.writer.rows("SELECT name FROM system.tables WHERE name LIKE 'snapshot_late_%'");
    const made = await tables();
    const third = await lab.snapshot({ ...options, range: days(2, 4) });
    expect(await tables()).toEqual(made);
    expect(third.range).toEqual(days(2, 5));
    expect(+third.takenAt).toBeGreaterThan(+second.takenAt);
    await expect(
      lab.snapshot({ ...options, range: between("2026-04-01", "2026-04-02") }),
    ).rejects.toThrow(/a gap would be between/);
  });

  it.each([
    [
      "MergeTree",
      "ALTER TABLE fastpath UPDATE probe_cc = 'GE' WHERE toDate(measurement_start_time) = '2026-05-02' SETTINGS mutations_sync = 2",
    ],
    [
      "ReplacingMergeTree(revision)",
      "INSERT INTO fastpath SELECT * REPLACE ('GE' AS probe_cc, toUInt32(2) AS revision) FROM fastpath WHERE toDate(measurement_start_time) = '2026-05-02'",
    ],
  ])(
    "reads days anew whose rows a %s corrected, though they are as many",
    async (engine, correct) => {
      await using table = await newDatabase();
      await table.writer.command(
        `CREATE TABLE fastpath ENGINE = ${engine} ORDER BY (measurement_start_time, report_id) AS
       SELECT toDateTime('2026-05-02 00:00:00', 'UTC') + number * 60 AS measurement_start_time, 'probe-cli' AS software_name,
         '3.9.0' AS software_version, 'ndt' AS test_name, toString(intDiv(number, 9)) AS report_id, 'IT' AS probe_cc,
         toUInt32(1) AS probe_asn, toUInt32(1) AS revision FROM numbers(4000)`,
      );
      await using lab = await table.open();
      const options = { name: "corrected", into: `${into()}-${engine.slice(0, 3)}`, range };
      const asked = { range, every: "day", by: "probe_cc" } as const;
      await lab.snapshot(options);
      await table.writer.command(correct);
      const again = await lab.snapshot(options);
      const wanted = await lab.measurements.counts(asked);
      expect(wanted.column("probe_cc")).toContain("GE");
      expect((await again.measurements.counts(asked)).rows()).toEqual(wanted.rows());
    },
  );

  it("goes on where an interrupt stopped it, and what was there before can be asked meanwhile", async () => {
    await using lab = await own.open();
    const stop = new AbortController();
    const wide = between("2026-05-01", "2026-05-08");
    const taking = lab.snapshot({
      name: "stopped",
      range: wide,
      into: into(),
      signal: stop.signal,
    });
    const watched = (async () => {
      while ((await piecesOf("stopped").catch(() => 0)) < 1) await new Promise(setImmediate);
      stop.abort();
    })();
    await expect(taking).rejects.toThrow("Stopped: take a snapshot.");
    await watched;
    await expect(openSnapshot("stopped", { into: into() })).rejects.toThrow(
      "Can't open the snapshot stopped: its taking never ended.",
    );
    // A taking that was killed within a day leaves rows of it that nobody counts.
    await kept.writer.command(
      "INSERT INTO snapshot_stopped_staged SELECT * FROM snapshot_stopped_pieces",
    );
    const snapshot = await lab.snapshot({ name: "stopped", range: wide, into: into() });
    const asked = { range: wide, every: "day", by: "test_name" } as const;
    expect((await snapshot.runs.counts(asked)).rows()).toEqual(
      (await lab.runs.counts(asked)).rows(),
    );
    expect((await snapshot.measurements.counts(asked)).rows()).toEqual(
      (await lab.measurements.counts(asked)).rows(),
    );
  });

  it("refuses what it can't tell exactly, with the reason", async () => {
    await using lab = await own.open();
    const where = { test_name: "web" } as const;
    const options = { name: "web", range, where, into: into(), dimensions: ["probe_cc"] };
    const { measurements, runs } = await lab.snapshot(options);
    const refused = async (asked: Promise<unknown>, why: string | RegExp) =>
      expect(asked).rejects.toThrow(why);
    await refused(
      measurements.counts({ range, by: "software_version" }),
      "Can't use software_version: the snapshot web holds probe_cc.",
    );
    await refused(measurements.counts({ range, where: { input: "x" } }), "Can't use input");
    await refused(measurements.counts({ range, every: "15 minutes" }), "holds hours");
    await refused(measurements.counts({ range, every: "90 minutes" }), "holds hours");
    await refused(
      measurements.counts({ range: between("2026-05-01", "2026-05-03") }),
      "the snapshot web holds 2026-05-02",
    );
    await refused(
      measurements.counts({ range: between("2026-05-02 00:30", "2026-05-03") }),
      "holds whole hours",
    );
    const kolkata = between("2026-05-02 12:30", "2026-05-03 12:30", { timeZone: "Asia/Kolkata" });
    await refused(measurements.counts({ range: kolkata }), "clocks of Asia/Kolkata");
    await refused(measurements.counts({ range, dedupe: true }), "dedupe: true");
    await refused(
      measurements.ask({ range, measures: { q: quantile(0.5, "probe_cc") } }),
      /a column of numbers/,
    );
    await refused(lab.snapshot({ ...options, where: {} }), "there is one of another where");
    await refused(lab.snapshot({ range, name: "No!" }), 'Can\'t name a snapshot "No!"');
    await refused(lab.snapshot({ range, into: "http://localhost:1/x" }), "embedded databases only");
    await refused(openSnapshot("none", { into: into() }), "has none");
    // Runs have a start to the second: any zone and any bucket.
    const minutes = { range: kolkata, every: "15 minutes", measures: { n: count() } } as const;
    expect((await runs.ask(minutes)).rows()).toEqual(
      (await lab.runs.ask({ ...minutes, where })).rows(),
    );
  });

  it("is taken inside the embedded database that holds the measurements", async () => {
    await fillSample(kept.writer, { rows: 20_000, end: new Date("2026-05-01T00:00:00Z") });
    await using lab = await connect({ measurements: into() });
    const quarter = last("3 months", { now: lab.now });
    const snapshot = await lab.snapshot({ range: quarter, name: "local" });
    expect((await snapshot.runs.summary({ range: quarter })).rows()).toEqual(
      (await lab.runs.summary({ range: quarter })).rows(),
    );
  });

  it("is taken by one at a time: another taker of the name is refused, and rows of two don't mix", async () => {
    const filters = ["web", "dns"].map((test_name) => ({ test_name }));
    const labs = await Promise.all([own.open(), own.open()]);
    const takings = await Promise.allSettled(
      labs.map((lab, at) =>
        lab.snapshot({ name: "both", range, where: filters[at]!, into: into() }),
      ),
    );
    const states = takings.map(({ status }) => status).sort();
    expect(states).toEqual(["fulfilled", "rejected"]);
    for (const [at, taking] of takings.entries()) {
      if (taking.status === "rejected") {
        expect(String(taking.reason)).toMatch(
          /it is being taken already\. Wait until|another where/,
        );
        continue;
      }
      const wanted = await labs[at]!.measurements.counts({ ...by, where: filters[at]! });
      expect((await taking.value.measurements.counts(by)).rows()).toEqual(wanted.rows());
    }
    for (const lab of labs) await lab[Symbol.asyncDispose]();
  });
});
