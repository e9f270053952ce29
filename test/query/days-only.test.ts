import { expect, it } from "vitest";
import { between, count, hourOfDay, weekday } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-03-02", "2026-03-09");
const measures = { measurements: count() };

it("a table whose time column is a Date is asked by the day, and refuses hours", async () => {
  await own.writer.command(
    "CREATE TABLE fastpath (measurement_start_time Date, probe_cc String) ENGINE = MergeTree ORDER BY measurement_start_time",
  );
  await own.writer.command(
    "INSERT INTO fastpath SELECT toDate('2026-03-02') + number % 7, 'IT' FROM numbers(70)",
  );
  await using lab = await own.open();
  const ask = (how: object) => lab.measurements.ask({ range, measures, ...how });
  await expect(ask({ every: "all", by: [weekday(), hourOfDay()] })).rejects.toThrow(
    'Can\'t group by the hour of the day: measurement_start_time of fastpath is a Date, which has no hours. Group by weekday(), or ask with every: "day".',
  );
  await expect(ask({ every: "hour" })).rejects.toThrow(
    /Can't group by hour: measurement_start_time of fastpath is a Date, .* Take every: "day" or/,
  );
  const days = await ask({ every: "auto" });
  expect(days.origin.columns.time?.every).toBe("day");
  expect(days.column("measurements")).toEqual(Array(7).fill(10));
});
