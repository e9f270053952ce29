import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { between } from "../../src/time/time-range.js";
import { decodePng, type Image } from "./support/png-image.js";
import {
  generator,
  makeResult,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "./support/sample-results.js";

const directory = new URL("snapshots/", import.meta.url);
// The same library draws the same pixels; what remains is rounding of blended edges between kinds
// of processor: a channel may differ by 8 of 255, and one pixel in a thousand by more.
const SAME_COLOUR = 8;
const OTHER_PIXELS = 0.001;

const small = { width: 420, height: 130 };
const marks = [
  chart.mark("2026-03-18T09:00:00Z", "3.11.0 released"),
  chart.mark("2026-03-24", "alarm"),
];
const rome = between("2026-03-28", "2026-03-31", { timeZone: "Europe/Rome" });

const PICTURES = {
  "area-light": chart.area(weeklyCounts(), small),
  "area-dark": chart.area(weeklyCounts(), { ...small, theme: "dark" }),
  "area-total": chart.area(weeklyCounts(), { ...small, colour: null }),
  "area-rome": chart.area(weeklyCounts({ range: rome, every: "hour" }), small),
  "line-light": chart.line(weeklyDurations(), { ...small, y: "q50", marks }),
  "line-dark": chart.line(weeklyDurations(), { ...small, y: "q50", marks, theme: "dark" }),
  "line-log": chart.line(weeklyDurations(), { ...small, y: "q90", yScale: "log" }),
  "line-dense": chart.line(dense(), { ...small, title: "Load by host" }),
  "bar-light": chart.bar(weeklyCounts(), small),
  "bar-dark": chart.bar(weeklyCounts(), { ...small, theme: "dark" }),
  "bar-category": chart.bar(versionSummary(), { height: 170 }),
  "line-empty": chart.line(empty(), small),
  "points-light": chart.points(weeklyDurations(), { ...small, y: "q10" }),
};

describe("pictures look as they did (make them anew with UPDATE_PICTURES=1, then look at them)", () => {
  test.each(Object.entries(PICTURES))("%s", async (name, drawn) => {
    const png = await drawn.png({ scale: 1 });
    const file = fileURLToPath(new URL(`${name}.png`, directory));
    if (process.env.UPDATE_PICTURES) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(file, png);
    }
    expect(existsSync(file), `${file} is missing`).toBe(true);
    const [seen, kept] = [decodePng(png), decodePng(readFileSync(file))];
    expect([seen.width, seen.height]).toEqual([kept.width, kept.height]);
    expect(difference(seen, kept)).toBeLessThan(OTHER_PIXELS);
  });

  test("another colour, another title and a shifted point are seen", async () => {
    const seen = decodePng(await PICTURES["line-light"].png({ scale: 1 }));
    const others = [
      chart.line(weeklyDurations(), { ...small, y: "q50", marks, theme: "dark" }),
      chart.line(weeklyDurations(), { ...small, y: "q50" }),
    ];
    for (const other of others) {
      const image = decodePng(await other.png({ scale: 1 }));
      if (image.height === seen.height)
        expect(difference(seen, image)).toBeGreaterThan(OTHER_PIXELS);
      else expect(image.height).not.toBe(seen.height);
    }
  });
});

/** Share of the pixels that differ visibly. */
function difference(one: Image, two: Image): number {
  let different = 0;
  for (let at = 0; at < one.pixels.length; at += 4) {
    const channels = [0, 1, 2, 3].map((channel) =>
      Math.abs((one.pixels[at + channel] ?? 0) - (two.pixels[at + channel] ?? 0)),
    );
    if (Math.max(...channels) > SAME_COLOUR) different++;
  }
  return different / (one.width * one.height);
}

function empty() {
  const counts = weeklyCounts();
  return counts.with(counts.table.slice(0, 0), {
    notes: [
      'No measurement of the range has probe_cc: "XX"; those that occur most are "IT", "DE" and "US", and nothing was measured before 2026-01-26.',
    ],
  });
}

function dense() {
  const random = generator(3);
  const levels = [30, 35, 40, 45];
  const rows = Array.from({ length: 3_600 }, (_, index) => {
    const host = index % 4;
    levels[host] = (levels[host] ?? 0) + random() - 0.5;
    const known = host !== 2 || index < 1_000 || index > 1_600;
    return {
      at: new Date(Date.UTC(2026, 1, 1) + Math.floor(index / 4) * 72e5),
      host,
      load: known ? levels[host] : null,
    };
  });
  return makeResult({
    at: rows.map(({ at }) => at),
    host: rows.map(({ host }) => `host-${host}`),
    load: rows.map(({ load }) => load),
  });
}
