import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { readInstant } from "../../src/time/instant.js";

const read = (value: unknown, timeZone = "UTC"): string =>
  readInstant(value, timeZone, "time of a test").toISOString();

describe("readInstant reads", () => {
  test.each([
    ["2026-11-02", "2026-11-02T00:00:00.000Z"],
    ["2026-11-02 09:00", "2026-11-02T09:00:00.000Z"],
    ["20261102T0900", "2026-11-02T09:00:00.000Z"],
    [" 2026-11-02T09:00:00.25 ", "2026-11-02T09:00:00.250Z"],
    ["2026-11-02 09:00z", "2026-11-02T09:00:00.000Z"],
    ["2026-11-02T09:00-05", "2026-11-02T14:00:00.000Z"],
    ["2026-11-02T0900+0530", "2026-11-02T03:30:00.000Z"],
    ["2026-11-02T09+02", "2026-11-02T07:00:00.000Z"],
    ["2026-11-02T09:00+02:00:30", "2026-11-02T06:59:30.000Z"],
    ["2026-11-02T09:00+01:00[Europe/Berlin]", "2026-11-02T08:00:00.000Z"],
    ["2026-11-02T09:00+01:00[!Europe/Berlin]", "2026-11-02T08:00:00.000Z"],
    ["2026-11-02T09:00+01:00[Europe/Berlin][u-ca=gregory]", "2026-11-02T08:00:00.000Z"],
    ["2026-11-02T09:00+05:30[u-ca=gregory]", "2026-11-02T03:30:00.000Z"],
    ["2026-11-02T09:00[!u-ca=gregory]", "2026-11-02T09:00:00.000Z"],
    ["2026-11-02T09:00Z[Europe/Berlin]", "2026-11-02T09:00:00.000Z"],
    ["2026-11-02T09:00[Europe/Berlin]", "2026-11-02T08:00:00.000Z"],
    ["2026-11-02[Europe/Berlin]", "2026-11-01T23:00:00.000Z"],
    ["2026-11-02T09:00[+05:30]", "2026-11-02T03:30:00.000Z"],
    // The earlier of the two times that clocks show twice.
    ["2026-10-25T02:30[Europe/Berlin]", "2026-10-25T00:30:00.000Z"],
    ["2026-10-25T02:30+01:00[Europe/Berlin]", "2026-10-25T01:30:00.000Z"],
  ])("%s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test("a text without an offset and a zone in the zone that is given, no other text", () => {
    expect(read("2026-11-02 09:00", "Asia/Kolkata")).toBe("2026-11-02T03:30:00.000Z");
    expect(read("2026-11-02 09:00[u-ca=iso8601]", "Asia/Kolkata")).toBe("2026-11-02T03:30:00.000Z");
    expect(read("2026-11-02 09:00[Europe/Rome]", "Asia/Kolkata")).toBe("2026-11-02T08:00:00.000Z");
    expect(read("2026-11-02 09:00+00:00", "Asia/Kolkata")).toBe("2026-11-02T09:00:00.000Z");
  });

  test("a Date as it is", () => {
    const date = new Date(5);
    expect(readInstant(date, "UTC", "x")).toBe(date);
  });
});

describe("readInstant refuses", () => {
  test.each([
    // The offset contradicts the zone, or its clocks skip that time.
    "2026-11-02T09:00+02:00[Europe/Berlin]",
    "2026-11-02T09:00+00:00[!Europe/Berlin]",
    "2026-03-29T02:30+01:00[Europe/Berlin]",
    "2026-11-02T09:00+02:00[+05:30]",
    "yesterday",
    "",
    "2026-02-30",
    "2026-11-02Z",
    "2026-11-02+01:00",
    "2026-11-02T09:00+1",
    "2026-11-02T09:00 +01:00",
    "2026-11-02T09:00+01:00:3",
    "2026-11-02T09:00+25:00",
    "2026-11-02T09:00+01:00 CET",
    "2026-11-02T09:00\u221202:00",
    "2026-11-02T09:00Z+01:00",
    "2026-11-02T09:00+01:00[]",
    "2026-11-02T09:00[Nowhere/City]",
    "2026-11-02T09:00[Europe/Berlin][Europe/Rome]",
    "2026-11-02T09:00[u-ca=gregory][Europe/Berlin]",
    "2026-11-02T09:00[!x=y]",
    "2026-11-02T09:00[Europe/Berlin",
    "2026-11-02T09:00[Europe/Berlin]x",
    "[Europe/Berlin]",
  ])("%j", (text) => {
    expect(() => read(text)).toThrow(
      `Can't read ${JSON.stringify(text)} as the time of a test: pass a Date or a text such as`,
    );
  });
});

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"];
const instants = fc
  .date({ min: new Date("1975-01-01"), max: new Date("2060-01-01"), noInvalidDate: true })
  .map((date) => Temporal.Instant.fromEpochMilliseconds(date.getTime()));

test("readInstant reads back what Temporal writes, whatever is annotated and in whatever zone", () => {
  fc.assert(
    fc.property(
      instants,
      fc.constantFrom(...ZONES),
      fc.constantFrom(...ZONES),
      fc.record({
        timeZoneName: fc.constantFrom("auto", "never", "critical"),
        calendarName: fc.constantFrom("auto", "always", "critical"),
        smallestUnit: fc.constantFrom("millisecond", "nanosecond"),
      }),
      (instant, zone, other, how) => {
        const text = instant.toZonedDateTimeISO(zone).toString(how);
        expect(read(text, other)).toBe(new Date(instant.epochMilliseconds).toISOString());
        expect(read(instant.toString({ timeZone: zone }), other)).toBe(
          new Date(instant.epochMilliseconds).toISOString(),
        );
      },
    ),
    { seed: 21, numRuns: 500 },
  );
});
