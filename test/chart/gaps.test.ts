import { describe, expect, test } from "vitest";
import { between, chart } from "../../src/index.js";
import { DAY, HOUR } from "../../src/time/span.js";
import { layers, subtitle } from "./support/layers.js";
import { weeklyCounts, weeklyDurations } from "./support/sample-results.js";

const START = Date.UTC(2026, 4, 1);
const days = (...list: number[]) =>
  list.map((day) => ({ t: new Date(START + day * DAY), n: 10 + day }));
const HOLE = [0, 1, 2, 3, 4, 20, 21, 22, 23];

describe("incomplete buckets at the edges", () => {
  test("are left out of lines of counts, which would plunge to them, and the subtitle says so", () => {
    const drawn = chart.line(weeklyCounts());
    const times = [...new Set(drawn.data.rows.map(([t]) => Number(t)))];
    expect([times[0], times.at(-1)]).toEqual([Date.UTC(2026, 1, 2), Date.UTC(2026, 3, 20)]);
    expect(subtitle(drawn)).toContain("The first and last week are incomplete (not drawn).");
    expect(JSON.stringify(drawn.spec)).not.toContain("strokeDash");
    const panels = chart.line(weeklyCounts(), { facet: "software_version" });
    expect(subtitle(panels)).toContain("The first and last week are incomplete (not drawn).");
    const last = weeklyCounts({ range: between("2026-02-02", "2026-04-30") });
    expect(subtitle(chart.line(last))).toContain("The last week is incomplete (not drawn).");
  });

  test("are dashed where half a bucket is no half value, and drawn where there is no other", () => {
    const median = chart.line(weeklyDurations(), { y: "q50" });
    expect(subtitle(median)).toContain("are incomplete (dashed)");
    const only = chart.line(weeklyCounts({ range: between("2026-02-03", "2026-02-05") }));
    expect(only.data.rows.length).toBeGreaterThan(0);
    expect(subtitle(only)).toContain("The week is incomplete (dashed).");
  });
});

describe("days that rows of one's own don't have", () => {
  test("are gaps of a line and of an area", () => {
    for (const kind of ["line", "area"] as const) {
      const drawn = chart[kind](days(...HOLE));
      expect(subtitle(drawn)).toContain("Gaps: no row for more than 24 h.");
      const gap = drawn.data.rows.filter(([, n]) => n === null);
      expect(gap.map(([t]) => Number(t))).toEqual([START + 5 * DAY]);
    }
  });

  test("are gaps too beyond 5,000 rows, of each series, and across a change of clocks", () => {
    const hours = Array.from({ length: 9_000 }, (_, at) => at).filter(
      (at) => at < 3_000 || at > 4_000,
    );
    const rows = hours.flatMap((at) =>
      ["a", "b"].map((s) => ({ t: new Date(START + at * HOUR), s, n: Math.sin(at) })),
    );
    const drawn = chart.line(rows);
    for (const s of ["a", "b"]) {
      const own = drawn.data.rows.filter(([, series]) => series === s);
      const at = own.findIndex(([, , n]) => n === null);
      expect(Number(own[at - 1]![0])).toBeLessThanOrEqual(START + 2_999 * HOUR);
      expect(Number(own[at + 1]![0])).toBeGreaterThan(START + 4_000 * HOUR);
    }
    const summer = ["03-27", "03-28", "03-29", "03-30", "03-31"].map((day, at) => ({
      t: new Date(Date.parse(`2026-${day}T00:00:00Z`) - (at > 2 ? HOUR : 0)),
      n: at,
    }));
    expect(chart.line(summer).data.rows).toHaveLength(5);
  });

  test("aren't looked for where rows come at no regular times, or where all are there", () => {
    const irregular = [0, 0.2, 1, 1.1, 3, 7, 7.5, 12].map((day) => days(day)[0]!);
    expect(chart.line(irregular).data.rows).toHaveLength(8);
    expect(chart.line(days(0, 1, 2, 3, 4)).data.rows).toHaveLength(5);
    const months = Array.from({ length: 12 }, (_, at) => ({
      t: new Date(Date.UTC(2026, at)),
      n: 1,
    }));
    expect(chart.line(months).data.rows).toHaveLength(12);
  });

  test("are zero in a stack, which says so", () => {
    const rows = HOLE.flatMap((day) =>
      (day % 2 ? ["a"] : ["a", "b"]).map((s) => ({ ...days(day)[0]!, s })),
    );
    const drawn = chart.area(rows);
    expect(subtitle(drawn)).toContain("What has no row is zero.");
    const between = drawn.data.rows.filter(
      ([t]) => Number(t) > START + 4 * DAY && Number(t) < START + 20 * DAY,
    );
    expect(between.map(([, , n]) => n)).toEqual([0, 0, 0, 0]);
  });

  test("can't be stacked where each series has times of its own", () => {
    const rows = [0, 0.4, 1, 1.1, 3, 7, 7.5, 12].map((day, at) => ({
      ...days(day)[0]!,
      s: `s${at % 2}`,
    }));
    expect(() => chart.area(rows)).toThrow(
      `Can't stack "n": not every series has a row at each "t", and what is missing is not zero; group them by time, or draw it with chart.line.`,
    );
    expect(layers(chart.area(rows, { color: null }))).not.toHaveLength(0);
  });
});
