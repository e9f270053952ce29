import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { ProbelabError } from "../../src/index.js";
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
    ["2026-11-02T09:00+02:00[Europe/Berlin]", "+02:00", "Europe/Berlin"],
    ["2026-11-02T09:00+00:00[!Europe/Berlin]", "+00:00", "Europe/Berlin"],
    // Clocks skip it.
    ["2026-03-29T02:30+01:00[Europe/Berlin]", "+01:00", "Europe/Berlin"],
    ["2026-11-02T09:00+02:00[+05:30]", "+02:00", "+05:30"],
  ])("%s: the offset contradicts the zone", (text, offset, zone) => {
    expect(() => read(text)).toThrow(
      `Can't read ${JSON.stringify(text)} as the time of a test: clocks of ${zone} don't show that time with the offset ${offset}; leave out or correct one of the two.`,
    );
  });

  test.each([
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

  test.each([
    [undefined, "undefined"],
    [null, "null"],
    [5, "5"],
    [5n, "5"],
    [Symbol("s"), "Symbol(s)"],
    [new Date(NaN), "an invalid Date"],
    [{}, "an object"],
    [[], "a list"],
  ])("what is no time: %s", (value, shown) => {
    expect(() => read(value)).toThrow(`Can't read ${shown} as the time of a test: pass a Date`);
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

test("readInstant reads a wall time in the zone of its annotation, else in the one that is given", () => {
  fc.assert(
    fc.property(
      instants,
      fc.constantFrom(...ZONES),
      fc.constantFrom(...ZONES),
      (instant, zone, other) => {
        const wall = instant.toZonedDateTimeISO("UTC").toPlainDateTime();
        const expected = (of: string): string =>
          new Date(wall.toZonedDateTime(of).epochMilliseconds).toISOString();
        expect(read(`${wall.toString()}[${zone}]`, other)).toBe(expected(zone));
        expect(read(wall.toString(), other)).toBe(expected(other));
      },
    ),
    { seed: 22, numRuns: 300 },
  );
});

// Pieces that make a time, most of them in their place, some not.
const piece = (...texts: string[]) => fc.oneof(fc.constant(""), fc.constantFrom(...texts));
const texts = fc
  .tuple(
    fc.constantFrom("2026-11-02", "20261102", "+002026-11-02", "2026-11-2"),
    piece("T09:00", " 09:00:30", "t0900", "T09", "T09:00:30.5", "T09:00:30,25"),
    piece("Z", "z", "+02:00", "-0530", "+02", "+02:00:30", "-05:30:15.5", "+2", "-05:", " +02:00"),
    piece("[Europe/Berlin]", "[!Asia/Kolkata]", "[+02:00]", "[u-ca=gregory]", "[", "[]", "[x]"),
    piece("[u-ca=gregory]", "[!u-ca=iso8601]", "[x=y]", "[!x=y]", "[Europe/Rome]", "]", "Z", "-05"),
  )
  .map((parts) => parts.join(""));

test("readInstant never ignores an offset or a zone: the zone given counts only where there is none", () => {
  let [exact, local, refused] = [0, 0, 0];
  fc.assert(
    fc.property(texts, (text) => {
      let zones: string[];
      try {
        zones = ["UTC", "Asia/Tokyo"].map((zone) => read(text, zone));
      } catch (error) {
        expect(error).toBeInstanceOf(ProbelabError);
        refused++;
        return;
      }
      const time = /[t ](.*)/i.exec(text)?.[1] ?? "";
      const told = /[z+-]/i.test(time.replace(/\[.*/, "")) || /\[!?[^=\]]+\]/.test(text);
      expect(zones[0] === zones[1], text).toBe(told);
      if (!told) return void local++;
      exact++;
      // Temporal reads the same instant; by a zone only where there is no offset.
      const instant = /[z+-]/i.test(time.replace(/\[.*/, ""))
        ? Temporal.Instant.from(text)
        : Temporal.ZonedDateTime.from(text).toInstant();
      expect(zones[0], text).toBe(new Date(instant.epochMilliseconds).toISOString());
    }),
    { seed: 23, numRuns: 4_000 },
  );
  expect(Math.min(exact, local, refused)).toBeGreaterThan(100);
});
