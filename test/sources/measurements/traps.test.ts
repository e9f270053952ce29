import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { between, type Bucket, connect, count, type Lab, prefix } from "../../../src/index.js";
import { embeddedDatabase } from "../../support/embedded-database.js";

const own = embeddedDatabase();
let lab: Lab;

/** A table of `[time, report_id, version]` rows, probe-cli's; then a lab on it. */
async function given(rows: readonly (readonly [string, string, string])[], engine = "MergeTree") {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String,
      software_name String DEFAULT 'probe-cli', software_version LowCardinality(String),
      test_name String DEFAULT 'web_connectivity', probe_cc String DEFAULT 'IT', probe_asn UInt32 DEFAULT 1)
      ENGINE = ${engine} ORDER BY (measurement_start_time, report_id) SETTINGS min_bytes_for_wide_part = 0`,
  );
  await own.writer.command("SYSTEM STOP MERGES fastpath");
  for (const row of rows) {
    const [time, report, version] = row;
    await own.writer.command(
      `INSERT INTO fastpath (measurement_start_time, report_id, software_version) VALUES ('${time}', '${report}', '${version}')`,
    );
  }
  lab = await own.open();
}

beforeEach(async () => {
  await lab?.close();
});

afterAll(async () => {
  await lab?.close();
});

describe("runDurations", () => {
  it("reads runs whole over the range's edges, up to a day beyond them", async () => {
    await given([
      ["2026-05-03 23:00:00", "began before", "3.9"],
      ["2026-05-04 01:00:00", "began before", "3.9"],
      ["2026-05-10 23:00:00", "ends after", "3.9"],
      ["2026-05-11 01:00:00", "ends after", "3.9"],
    ]);
    const range = between("2026-05-04", "2026-05-11");
    const whole = await lab.measurements.runDurations({ range, every: "all", quantiles: [0.5] });
    expect(whole.rows()).toEqual([{ runs: 1, measurements: 2, single_share: 0, q50: 7200 }]);
    expect(whole.origin.notes[0]).toMatch(/24 hours beyond it/);
  });

  it("are of runs where the table has columns called as theirs", async () => {
    await given([
      ["2026-05-05 10:00:00", "r", "3.9"],
      ["2026-05-05 10:01:00", "r", "3.9"],
    ]);
    await own.writer.command(
      "ALTER TABLE fastpath ADD COLUMN measurements String DEFAULT 'x', ADD COLUMN duration String DEFAULT 'y'",
    );
    await lab.close();
    lab = await own.open();
    const range = between("2026-05-05", "2026-05-06");
    const runs = await lab.measurements.runDurations({ range, every: "all", quantiles: [0.5] });
    expect(runs.rows()).toEqual([{ runs: 1, measurements: 2, single_share: 0, q50: 60 }]);
  });

  it("takes an id that measurements share over more than a day for none, and counts them", async () => {
    const days = Array.from({ length: 9 }, (_, at) => `2026-05-0${at + 1} 10:00:00`);
    await given([
      ...days.map((time) => [time, "none", "3.9"] as const),
      ["2026-05-05 10:00:00", "r", "3.9"],
      ["2026-05-05 10:01:00", "r", "3.9"],
    ]);
    for (const [start, end, shared] of [
      ["2026-05-01", "2026-05-10", 9],
      ["2026-05-04", "2026-05-07", 3],
    ] as const) {
      const range = between(start, end);
      const runs = await lab.measurements.runDurations({ range, every: "all", quantiles: [0.5] });
      expect(runs.rows()).toEqual([{ runs: 1, measurements: 2, single_share: 0, q50: 60 }]);
      expect(runs.origin.notes).toContain(
        `${shared} measurements share a report_id with others over more than 24 hours: they belong to no run and are left out.`,
      );
    }
  });

  it("refuses quantiles outside 0 to 1 or given twice", async () => {
    await given([]);
    const range = between("2026-05-04", "2026-05-05");
    for (const quantiles of [[1.5], [-0.1], [NaN], [0.5, 0.5]]) {
      await expect(lab.measurements.runDurations({ range, quantiles })).rejects.toThrow(
        /Can't give the quantile .*quantiles: \[0\.1, 0\.5, 0\.9\]/,
      );
    }
  });
});

describe("counts", () => {
  it.each(["MergeTree", "ReplacingMergeTree"])(
    "counts a row that a %s holds twice once, on request or where the engine merges such rows",
    async (engine) => {
      const row = ["2026-05-04 10:00:00", "r", "3.9"] as const;
      await given([row, row, ["2026-05-04 10:00:01", "r", "3.9"]], engine);
      const range = between("2026-05-04", "2026-05-05");
      const asked = { range, every: "all" } as const;
      const twice = await lab.measurements.counts({ ...asked, dedupe: false });
      expect(twice.column("measurements")).toEqual([3]);
      const once = await lab.measurements.counts({ ...asked, dedupe: true });
      expect(once.column("measurements")).toEqual([2]);
      expect(once.origin.notes).toContain(
        "Measurements that the table holds twice are counted once.",
      );
      const runs = await lab.runs.counts({ ...asked, dedupe: true, quantiles: [0.5] });
      expect(runs.column("q50")).toEqual([2]);
      // By default a merging engine's rows are counted as it will merge them, whenever that is.
      const merges = engine !== "MergeTree";
      const plain = await lab.measurements.counts(asked);
      expect(plain.column("measurements")).toEqual([merges ? 2 : 3]);
      expect(plain.origin.notes).toEqual(
        merges
          ? [
              "fastpath is a ReplacingMergeTree: its rows are counted as it merges them (dedupe: false counts each that it still holds).",
            ]
          : [],
      );
      expect(twice.origin.notes.join()).toMatch(
        merges ? /the numbers may fall by themselves/ : /^$/,
      );
    },
  );

  it("takes binary ids for what they are, also those that begin with a zero byte", async () => {
    await own.writer.command(
      `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id FixedString(16), software_version String, probe_cc String)
       ENGINE = MergeTree ORDER BY measurement_start_time AS
       SELECT toDateTime('2026-05-04 00:00:00', 'UTC') + number AS measurement_start_time,
         if(number >= 8000, toFixedString('', 16), sipHash128(intDiv(number, 4))) AS report_id, '1' AS software_version, 'IT' AS probe_cc FROM numbers(8004)`,
    );
    await using lab = await own.open();
    const range = between("2026-05-04", "2026-05-05");
    const runs = await lab.runs.ask({ range, every: "all", measures: { runs: count() } });
    expect(runs.rows()).toEqual([{ runs: 2_000 }]);
    expect(runs.origin.notes.join(" ")).toContain("4 measurements have no report_id");
  });

  it("explains an empty answer: the nearest values that the range holds", async () => {
    await given([["2026-05-04 10:00:00", "r", "3.9"]]);
    const range = between("2026-05-04", "2026-05-05");
    const empty = await lab.measurements.counts({
      range,
      every: "all",
      where: { software_name: "probe-clie" },
    });
    expect(empty.numRows()).toBe(0);
    expect(empty.origin.notes).toEqual([
      'No measurement of 4 May 2026 has software_name probe-clie; the range holds "probe-cli".',
    ]);
    const both = { software_name: "probe-cli", software_version: "3.8" };
    const second = await lab.measurements.counts({ range, every: "day", where: both });
    expect(second.origin.notes[0]).toMatch(/has software_version 3.8; the range holds "3.9"/);
    const short = await lab.runs.counts({ range, every: "all", where: { duration: { gt: 60 } } });
    expect(short.origin.notes[0]).toBe(
      "No run of 4 May 2026 matches the question, though the range holds measurements.",
    );
    const none = await lab.measurements.counts({
      range: between("2025-05-04", "2025-05-05"),
      every: "all",
    });
    expect(none.origin.notes).toEqual([
      'fastpath holds no measurement of 4 May 2025; its newest is of 4 May 2026 10:00, so last("…", { now: lab.now }) finds some.',
    ]);
  });

  it("picks the finest bucket under 5,000 rows where every is left out, and says so", async () => {
    await given([["2026-05-04 10:00:00", "r", "3.9"]]);
    const range = between("2026-05-01", "2026-08-01");
    const counts = await lab.measurements.counts({ range });
    expect(counts.origin.columns.time?.every).toBe("hour");
    expect(counts.numRows()).toBe(92 * 24);
    expect(counts.origin.notes[0]).toMatch(/Grouped by hour, the finest bucket .*under 5,000/);
    const grouped = await lab.runs.counts({ range, by: "software_version" });
    expect(grouped.origin.columns.time?.every).toBe("6 hours");
    expect(grouped.numRows()).toBeLessThan(5000);
    const long = between("2000-01-01", "2026-08-01");
    await expect(
      lab.measurements.counts({ range: long, by: "probe_cc", top: Infinity }),
    ).rejects.toThrow(/Can't fit 50 series .* not even by month: ask for fewer series \(top\)/);
  });

  it("names the values of a list that nothing matches, since they only make the number smaller", async () => {
    await given([
      ["2026-05-04 10:00:00", "r", "3.9.1"],
      ["2026-05-04 10:00:00", "s", "3.10"],
    ]);
    const options = { range: between("2026-05-04", "2026-05-05"), every: "all" } as const;
    const where = { software_version: ["3.9", "3.10"], probe_cc: ["it", "IT"] };
    const counts = await lab.measurements.counts({ ...options, where });
    expect(counts.column("measurements")).toEqual([1]);
    expect(counts.origin.notes).toEqual([
      'No measurement of 4 May 2026 has software_version 3.9; the range holds "3.9.1", "3.10" (prefix("3.9") matches them).',
      'No measurement of 4 May 2026 has probe_cc it; the range holds "IT".',
    ]);
    const whole = { software_version: [prefix("3.9"), "3.10"] };
    const none = await lab.measurements.counts({ ...options, where: whole });
    expect(none.origin.notes).toEqual([]);
  });

  it("says which buckets of several units are incomplete, and refuses more than an answer may have rows", async () => {
    await given([["2026-03-01 10:05:00", "r", "3.9"]]);
    const notes = async (every: Bucket, from: string, to: string) =>
      (await lab.measurements.counts({ range: between(from, to), every })).origin.notes;
    expect(await notes("2 weeks", "2026-03-01", "2026-04-01")).toContain(
      "The 2-week buckets of 16 Feb 2026 and 30 Mar 2026 are covered only in part by the range.",
    );
    expect(await notes("15 minutes", "2026-03-01 10:05", "2026-03-01 12:00")).toContain(
      "The 15-minute bucket of 1 Mar 2026 10:00 is covered only in part by the range.",
    );
    await expect(notes("second", "2026-01-01", "2026-03-01")).rejects.toThrow(
      'Can\'t group 2026-01-01 to 2026-03-01 UTC by second: 5,097,600 buckets are too many. Take a coarser bucket ("auto" picks one in a question) or a shorter range.',
    );
  });

  it("reads only the range's part of the table", async () => {
    await given([]);
    await own.writer.command(
      "INSERT INTO fastpath (measurement_start_time, report_id, software_version) SELECT toDateTime('2026-01-01') + number * 60, toString(number), '3.9' FROM numbers(200000)",
    );
    const counts = await lab.measurements.counts({
      range: between("2026-02-01", "2026-02-02"),
      every: "all",
    });
    expect(counts.column("measurements")).toEqual([1440]);
    expect(counts.origin.rowsRead).toBeLessThan(20_000);
  });
});

describe("a question on measurements", () => {
  it("names what it can't use", async () => {
    await given([]);
    const range = between("2026-05-04", "2026-05-05");
    const refused = [
      [{ by: "softwareversion" }, /"softwareversion" in fastpath: did you mean software_version\?/],
      [{ by: ["probe_cc", "probe_cc"] }, /group by probe_cc twice/],
      [{ where: { nope: 1 } }, /"nope" in fastpath/],
      [{ where: { probe_asn: "AS1" } }, /probe_asn, a UInt32, with "AS1": pass a whole number/],
      [{ where: { probe_asn: 1.5 } }, /with 1.5: pass a whole number/],
      [{ where: { probe_asn: -1 } }, /with -1/],
      [{ where: { probe_cc: 5 } }, /probe_cc, a String, with 5: pass text/],
      [
        { where: { software_version: 3.9 } },
        /software_version, a String, with 3.9: pass text, such as "3.9", or prefix\("3.9"\)/,
      ],
      [{ where: { probe_cc: [] } }, /probe_cc by an empty list/],
      [{ where: { probe_asn: prefix("1") } }, /probe_asn by prefix\("1"\)/],
      [{ every: "fortnight" }, /"fortnight"/],
      [{ top: 0 }, /top 0 values/],
      [{ top: 1.5 }, /top 1.5 values/],
    ] as const;
    for (const [options, message] of refused) {
      const question = { range, ...options } as Parameters<Lab["measurements"]["counts"]>[0];
      await expect(lab.measurements.counts(question)).rejects.toThrow(message);
    }
    const none = {} as Parameters<Lab["measurements"]["counts"]>[0];
    await expect(lab.measurements.counts(none)).rejects.toThrow(
      /Can't count measurements without a time range/,
    );
    await expect((lab.measurements.counts as () => Promise<never>)()).rejects.toThrow(
      /without a time range/,
    );
    await expect(connect({ measurement: "http://other" } as never)).rejects.toThrow(
      /did you mean measurements\?/,
    );
  });
});
