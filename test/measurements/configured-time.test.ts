import { afterAll, beforeAll, expect, test } from "vitest";
import { between, connect, count, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const database = ownDatabase();
const range = between("2026-03-01", "2026-03-03");
const noon = new Date("2026-03-02T12:00:00Z");
const labs: Lab[] = [];

// 48 measurements, one an hour, of which the last twelve begin at or after noon of the second day.
beforeAll(async () => {
  for (const [table, more, value] of [
    ["seen", "", ""],
    ["both", "measurement_start_time String,", "if(number < 5, 'early', 'late'),"],
  ]) {
    await database.writer.command(`CREATE TABLE ${table} (${more} started DateTime64(3, 'UTC'),
      report_id String, probe_cc String) ENGINE = MergeTree ORDER BY started`);
    await database.writer.command(
      `INSERT INTO ${table} SELECT ${value} toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number * 3600,
       concat('r', toString(intDiv(number, 4))), if(number < 40, 'IT', 'BR') FROM numbers(48)`,
    );
  }
});
afterAll(() => Promise.all(labs.map((lab) => lab.close())));

async function labOf(table: string): Promise<Lab> {
  const measurements = database.url;
  const lab = await connect({ measurements, tables: { measurements: { table, time: "started" } } });
  labs.push(lab);
  return lab;
}

test("the seed document's name of the time column stands for the configured one in every question", async () => {
  const lab = await labOf("seen");
  const all = { range, every: "all" } as const;
  for (const name of ["measurement_start_time", "started"]) {
    const where = { [name]: { gte: noon } };
    const asked = await lab.measurements.ask({ ...all, where, measures: { n: count({ where }) } });
    expect(asked.column("n"), name).toEqual([12]);
    const runs = await lab.runs.ask({ ...all, where, measures: { n: count() } });
    expect(runs.column("n"), name).toEqual([3]);
    const first = await lab.measurements.firstSeen({ range, by: "probe_cc", where });
    expect(first.rows(), name).toEqual([
      { probe_cc: "BR", first: new Date("2026-03-02T16:00:00Z"), measurements: 8 },
      { probe_cc: "IT", first: noon, measurements: 4 },
    ]);
    const by = await lab.measurements.counts({ ...all, by: name, top: 2, where });
    expect(by.origin.columns.dimensions[0]?.name).toBe(name);
    expect(by.numRows()).toBe(3);
  }
});

test("free SQL has the table's own names: {range} bounds the configured column", async () => {
  const lab = await labOf("seen");
  const day = between("2026-03-02", "2026-03-03");
  const found = await lab.query<{ n: number }>("SELECT count() AS n FROM seen WHERE {range}", {
    range: day,
  });
  expect(found.column("n")).toEqual([24]);
  await expect(
    lab.query("SELECT count() AS n FROM seen WHERE {range:seen.measurement_start_time}", {
      range: day,
    }),
  ).rejects.toThrow(/no such column\. Write \{range\} for started/);
});

test("a column of the table's own keeps its name beside a configured time column", async () => {
  const lab = await labOf("both");
  const early = await lab.measurements.counts({
    range,
    every: "all",
    by: "measurement_start_time",
    where: { measurement_start_time: ["early", "late"], started: { lt: noon } },
  });
  expect(early.rows()).toEqual([
    { measurement_start_time: "late", measurements: 31 },
    { measurement_start_time: "early", measurements: 5 },
  ]);
});
