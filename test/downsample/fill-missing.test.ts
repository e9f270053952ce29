import { expect, it } from "vitest";
import { fillMissing } from "../../src/downsample/reduce-line-chart.js";
import { buckets, type Bucket } from "../../src/time/bucket.js";
import { between } from "../../src/time/time-range.js";

it.each([
  ["Australia/Lord_Howe", "2026-10-03", "2026-10-06", "hour"],
  ["Antarctica/Troll", "2026-03-28", "2026-03-31", "3 hours"],
  ["Antarctica/Troll", "2026-10-24", "2026-10-27", "3 hours"],
  ["Europe/Rome", "2026-03-28", "2026-03-31", "day"],
  ["UTC", "2026-01-01", "2026-07-01", "month"],
  ["Europe/Rome", "2026-03-28", "2026-03-31", "90 minutes"],
  ["Asia/Kathmandu", "2026-03-28", "2026-03-29", "7 minutes"],
  ["Europe/Rome", "2026-01-01", "2026-12-31", "2 weeks"],
  ["America/Havana", "2020-01-01", "2026-12-31", "5 months"],
  ["UTC", "2000-01-01", "2026-12-31", "year"],
] as const)(
  "fillMissing draws a gap for each bucket without a row, and for no other: %s %s to %s by %s",
  (timeZone, from, to, every: Bucket) => {
    const range = between(from, to, { timeZone });
    const starts = buckets(range, every).map(({ start }) => start.getTime());
    for (let missing = 0; missing < starts.length; missing++) {
      const x = Float64Array.from(starts.filter((_, i) => i !== missing));
      const series = { key: null, x, y: x.map(() => 1), rows: Int32Array.from(x.keys()) };
      const time = { name: "t", every, incomplete: [] };
      const filled = fillMissing(series, time, "gap", range);
      const inside = missing > 0 && missing < starts.length - 1;
      expect([...filled.x].filter((_, i) => filled.rows[i] === -1)).toEqual(
        inside ? [starts[missing]] : [],
      );
    }
  },
);
