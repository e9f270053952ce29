import { expect, it } from "vitest";
import type { Bucket } from "../../src/index.js";
import { bucketStart, nextBucket } from "../../src/time/bucket.js";
import { ODD_CHANGES } from "../support/odd-changes.js";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** What the clocks show at each step of [from, to), as clocks in UTC that show it: by Intl. */
function shown(from: number, to: number, step: number, timeZone: string): number[] {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return Array.from({ length: (to - from) / step }, (_, i) => {
    const parts = format.formatToParts(from + i * step);
    const { year, month, day, hour, minute, second } = Object.fromEntries(
      parts.map(({ type, value }) => [type, Number(value)] as const),
    );
    return Date.UTC(year!, month! - 1, day, hour, minute, second);
  });
}

/** Steps that begin where the clocks show them, and how many of each began up to a time shown. */
const MINUTES = { minute: 1, "15 minutes": 15, hour: 60 };
const PARTS_OF_DAY = { "90 minutes": 90, "3 hours": 180, day: 1440 };
const month = (wall: number): number =>
  new Date(wall).getUTCFullYear() * 12 + new Date(wall).getUTCMonth();
const PLACES: [Bucket, (wall: number) => number][] = [
  ...Object.entries({ ...MINUTES, ...PARTS_OF_DAY }).map(
    ([every, minutes]) =>
      [every as Bucket, (wall) => Math.floor(wall / minutes / MINUTE)] as [
        Bucket,
        (wall: number) => number,
      ],
  ),
  ["2 days", (wall) => Math.floor(wall / DAY / 2)],
  ["week", (wall) => Math.floor((wall - Date.UTC(1970, 0, 5)) / DAY / 7)],
  ["month", month],
  ["3 months", (wall) => Math.floor(month(wall) / 3)],
  ["year", (wall) => new Date(wall).getUTCFullYear()],
];

/** Which of these times shown begin a bucket, after the first. */
function startsByWalking(
  walls: readonly number[],
  every: Bucket,
  place: (wall: number) => number,
): number[] {
  const minutes = (MINUTES as Record<string, number>)[every];
  const again = minutes !== undefined;
  const starts: number[] = [];
  let last = place(walls[0]!);
  let highest = last;
  walls.forEach((wall, i) => {
    if (i === 0) return;
    const now = place(wall);
    const changed = wall - walls[i - 1]! !== walls[1]! - walls[0]!;
    const repeated = again && (changed || wall % (minutes * MINUTE) === 0);
    if (repeated || now > (again ? last : highest)) starts.push(i);
    highest = Math.max(highest, now);
    last = now;
  });
  return starts;
}

it.each(ODD_CHANGES)(
  "nextBucket and bucketStart give the starts that the clocks of %s show around %s",
  (timeZone, change) => {
    const from = new Date(change).getTime() - 26 * HOUR;
    const to = from + 58 * HOUR;
    // One zone stood off UTC by half a minute.
    const step = from % MINUTE === 0 ? MINUTE : MINUTE / 2;
    const walls = shown(from, to, step, timeZone);
    for (const [every, place] of PLACES) {
      const starts = startsByWalking(walls, every, place).map((i) => from + i * step);
      const found: number[] = [];
      let at = nextBucket(bucketStart(new Date(from), every, timeZone), every, timeZone);
      for (; at.getTime() < to; at = nextBucket(at, every, timeZone)) found.push(at.getTime());
      expect(found, every).toEqual(starts);
      starts.forEach((start, i) => {
        const last = (starts[i + 1] ?? to) - 1;
        for (const ms of [start, Math.floor((start + last) / 2), last]) {
          expect(bucketStart(new Date(ms), every, timeZone).getTime()).toBe(start);
        }
      });
    }
  },
  20_000,
);
