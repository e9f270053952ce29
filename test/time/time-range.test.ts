import { describe, expect, it } from "vitest";
import { between, last } from "../../src/index.js";
import { checkRange, formatRange, rangeText } from "../../src/time/time-range.js";

const iso = (range: { start: Date; end: Date }) =>
  [range.start, range.end].map((d) => d.toISOString());

describe("last(duration)", () => {
  const now = new Date("2026-03-31T12:30:00Z");

  it("steps back by calendar months and stops at a month's last day", () => {
    expect(iso(last("1 month", { now }))).toEqual([
      "2026-02-28T12:30:00.000Z",
      "2026-03-31T12:30:00.000Z",
    ]);
    expect(last("3 months", { now }).start.toISOString()).toBe("2025-12-31T12:30:00.000Z");
  });

  it.each([
    ["90d", "90 days"],
    ["36h", "36 hours"],
    ["2w", "2 weeks"],
    ["45min", "45 minutes"],
    ["45 Min", "45 minutes"],
    ["30s", "30 seconds"],
    ["6mo", "6 months"],
    ["1y", "year"],
    ["2 yrs", "2 years"],
  ])("reads %j as %j", (short, long) => {
    expect(last(short, { now })).toEqual(last(long, { now }));
  });

  it.each(["3m", "3 M", "m"])("refuses %j, which may be minutes or months", (text) => {
    expect(() => last(text, { now })).toThrow(
      /m may be minutes or months: write "3?min" .* "3?mo"/,
    );
  });

  it.each([
    "",
    "3",
    "months 3",
    "-3 days",
    "0 days",
    "1.5 hours",
    "3 fortnights",
    "5ms",
    "1000000 years",
  ])("refuses %j and shows how to write a duration", (text) => {
    expect(() => last(text, { now })).toThrow(/Can't read the duration .*last\("3 months"\)/);
  });

  it("refuses an unknown time zone by its name", () => {
    expect(() => last("1 day", { timeZone: "Mars/Olympus" })).toThrow(/"Mars\/Olympus".*IANA/);
    expect(() => last("1 day", { timeZone: "+02:00" })).toThrow(/"\+02:00"/);
  });
});

describe("between(start, end)", () => {
  it("reads a text without an offset in UTC, whatever the process's zone", () => {
    expect(iso(between("2026-05-01", "2026-05-08 12:00"))).toEqual([
      "2026-05-01T00:00:00.000Z",
      "2026-05-08T12:00:00.000Z",
    ]);
  });

  it("reads it in the named zone, and one with an offset as it is", () => {
    const range = between("2026-05-01", "2026-05-02T00:00:00Z", { timeZone: "Europe/Rome" });
    expect(iso(range)).toEqual(["2026-04-30T22:00:00.000Z", "2026-05-02T00:00:00.000Z"]);
  });

  it("refuses an end that is not after the start, naming both", () => {
    expect(() => between("2026-05-08", "2026-05-01")).toThrow(/2026-05-01.*2026-05-08.*swap/);
    expect(() => between("2026-05-01", "2026-05-01")).toThrow(/swap/);
  });

  it.each(["1 May", "2026-13-01", "2026-02-30", "", "yesterday"])("refuses %j", (text) => {
    expect(() => between(text, "2026-12-01")).toThrow(/Can't read .* as the start/);
  });

  it("refuses an invalid Date and bounds that DateTime can't hold", () => {
    expect(() => between(new Date(NaN), new Date())).toThrow(/an invalid Date as the start/);
    expect(() => between("1969-12-31", "2026-01-01")).toThrow(/1970-01-01 to 2106-02-07/);
    expect(() => between("2026-01-01", "2107-01-01")).toThrow(/1970-01-01 to 2106-02-07/);
  });
});

describe("formatRange(range)", () => {
  it("tells a range of one millisecond as its instant", () => {
    const instant = between("2026-05-01 12:00", "2026-05-01T12:00:00.001Z");
    expect(formatRange(instant)).toBe("2026-05-01 12:00 UTC");
    const longer = between("2026-05-01 12:00", "2026-05-01T12:00:00.002Z");
    expect(formatRange(longer)).toBe("2026-05-01 12:00 to 2026-05-01 12:00:00.002 UTC");
  });

  it("gives dates at midnight of the zone, else the time of day as exact as it is", () => {
    expect(formatRange(between("2026-05-01", "2026-05-08"))).toBe("2026-05-01 to 2026-05-08 UTC");
    const rome = between("2026-05-01", "2026-05-01 12:30:05.250", { timeZone: "Europe/Rome" });
    expect(formatRange(rome)).toBe("2026-05-01 to 2026-05-01 12:30:05.250 Europe/Rome");
  });
});

describe("rangeText(range)", () => {
  it.each([
    ["2026-05-01", "2026-05-08", "1–7 May 2026"],
    ["2026-05-01", "2026-05-02", "1 May 2026"],
    ["2026-04-27", "2026-05-04", "27 Apr–3 May 2026"],
    ["2025-12-29", "2026-01-05", "29 Dec 2025–4 Jan 2026"],
    ["2026-05-01 06:00", "2026-05-01 14:30", "1 May 2026 06:00–14:30 UTC"],
    ["2026-05-01 06:00", "2026-05-02", "1 May 2026 06:00–24:00 UTC"],
    ["2026-05-01 22:00", "2026-05-02 04:00", "1 May 22:00 – 2 May 2026 04:00 UTC"],
    ["2025-12-31 22:00", "2026-01-01 04:00", "31 Dec 2025 22:00 – 1 Jan 2026 04:00 UTC"],
    ["2026-05-01T12:00:00.000Z", "2026-05-01T12:00:00.001Z", "1 May 2026 12:00 UTC"],
    ["2026-05-01T00:00:00.000Z", "2026-05-01T00:00:00.001Z", "1 May 2026 00:00 UTC"],
    ["2026-05-01", "2026-05-01T12:30:05.250Z", "1 May 2026 00:00–12:30 UTC"],
  ])("writes %s to %s as %s: the year once, the last day of whole days", (start, end, text) => {
    expect(rangeText(between(start, end))).toBe(text);
  });

  it("names another zone, whose days may have 23 or 25 hours", () => {
    const rome = between("2026-10-25", "2026-10-26", { timeZone: "Europe/Rome" });
    expect(rangeText(rome)).toBe("25 Oct 2026 Europe/Rome");
  });
});

describe("checkRange(value)", () => {
  it("refuses a question without a range and shows how to give one", () => {
    for (const value of [undefined, null, {}, { start: "2026-05-01", end: "2026-05-02" }]) {
      expect(() => checkRange(value, "count")).toThrow(
        /Can't count without a time range: pass \{ range: last/,
      );
    }
  });
});
