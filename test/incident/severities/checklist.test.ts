import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IncidentRecord } from "../../../src/incident/severities/checklist.js";
import { formatDuration } from "../../../src/incident/severities/checklist.js";
import { severity } from "../../../src/incident/severities/severity.js";

const HOUR = 3_600_000;
const detectedAt = "2026-05-01T12:00:00Z";
const at = (hours: number, milliseconds = 0): Date =>
  new Date(Date.parse(detectedAt) + hours * HOUR + milliseconds);

describe("severity.deadline", () => {
  test.each([
    [1, "2026-05-01T14:00:00.000Z"],
    [2, "2026-05-01T20:00:00.000Z"],
    [3, "2026-05-02T12:00:00.000Z"],
    [4, "2026-05-08T12:00:00.000Z"],
  ] as const)("of severity %i", (number, expected) => {
    expect(severity.deadline(number, detectedAt).toISOString()).toBe(expected);
    expect(severity.deadline(number, new Date(detectedAt)).toISOString()).toBe(expected);
  });

  test("a text without an offset is read in UTC, one with an offset as it says", () => {
    // The tests run in New York's zone.
    for (const text of ["2026-03-08 01:30", "2026-03-08T01:30:00Z", "2026-03-07T20:30:00-05:00"]) {
      expect(severity.deadline(1, text).toISOString()).toBe("2026-03-08T03:30:00.000Z");
    }
  });

  test("hours elapse over a change of clocks", () => {
    expect(severity.deadline(3, "2026-03-08T00:00:00-05:00").toISOString()).toBe(
      "2026-03-09T05:00:00.000Z",
    );
  });

  test.each([
    ["yesterday", /^Can't read "yesterday" as the time of detection: pass a Date or a text/],
    [new Date(NaN), /^Can't read an invalid Date as the time of detection/],
    [1_777_000_000, /^Can't read 1777000000 as the time of detection/],
    [undefined, /^Can't read undefined as the time of detection/],
    ["2026-02-30", /^Can't read "2026-02-30" as/],
  ])("refuses the time %s", (time, message) => {
    expect(() => severity.deadline(1, time as string)).toThrow(message);
  });
});

describe("severity.checklist", () => {
  const states = (incident: Omit<IncidentRecord, "detectedAt">, now: Date): string =>
    severity
      .checklist({ detectedAt, ...incident }, { now })
      .demands.map(({ state }) => state)
      .join(", ");

  test("names what each severity demands", () => {
    expect(states({ severity: 1 }, at(1))).toBe("missing, missing, missing, missing, missing");
    expect(states({ severity: 2 }, at(1))).toBe("missing, missing, not demanded, missing, missing");
    expect(states({ severity: 3 }, at(1))).toBe(
      "missing, not demanded, not demanded, not demanded, missing",
    );
    expect(states({ severity: 4 }, at(1))).toBe(
      "missing, not demanded, not demanded, not demanded, not demanded",
    );
  });

  test("what is there is done", () => {
    const there = {
      respondedAt: at(1),
      call: true,
      leader: "Ada",
      postmortem: "out/postmortem",
      sterile: true,
    };
    expect(states({ severity: 1, ...there }, at(3))).toBe("done, done, done, done, done");
    expect(states({ severity: 4, ...there }, at(3))).toBe(
      "done, not demanded, not demanded, not demanded, not demanded",
    );
  });

  test("false and an empty text are missing, and so is what is dated after now", () => {
    const not = { call: false, leader: " ", postmortem: at(9), sterile: false };
    const none = { respondedAt: null, call: null, leader: null, postmortem: null, sterile: null };
    expect(states({ severity: 1, ...none }, at(1))).toBe(
      "missing, missing, missing, missing, missing",
    );
    expect(states({ severity: 1, respondedAt: at(9), ...not }, at(1))).toBe(
      "missing, missing, missing, missing, missing",
    );
  });

  test("a text that looks like a time is one: what is dated after now isn't there yet", () => {
    const later = { call: "2026-06-01T12:00Z", postmortem: "2027-01-01" };
    expect(states({ severity: 1, ...later }, at(3))).toBe(
      "overdue, missing, missing, missing, missing",
    );
    const dates = { call: new Date(later.call), postmortem: new Date(later.postmortem) };
    expect(states({ severity: 1, ...dates }, at(3))).toBe(states({ severity: 1, ...later }, at(3)));
    const zoned = { call: "2026-05-01T14:00[Europe/Berlin]", postmortem: " 2026-05-01 14:59 " };
    expect(states({ severity: 1, ...zoned }, at(3))).toBe("overdue, done, missing, done, missing");
    expect(states({ severity: 1, ...zoned }, at(2.5))).toBe(
      "overdue, done, missing, missing, missing",
    );
  });

  test.each([
    "postmortems/2026-05-04",
    "2027-05-04-outage.md",
    "2027-05-04T0840-api",
    "2027-05-04-01",
    "2027-05-04 12 hosts down.md",
    "2027/05/04",
    "20270504",
    "https://example.org/2027-05-04",
  ])("the text %s is a path or a link, and there", (postmortem) => {
    expect(states({ severity: 2, postmortem }, at(1))).toBe(
      "missing, missing, not demanded, done, missing",
    );
  });

  test("a name that looks like a time is a name", () => {
    expect(states({ severity: 1, leader: "2027-01-01" }, at(1))).toBe(
      "missing, missing, done, missing, missing",
    );
  });

  test("a text that looks like a time is there where the Date is, at every minute", () => {
    const minutes = fc.integer({ min: 0, max: 50_000 });
    fc.assert(
      fc.property(minutes, minutes, fc.constantFrom("Z", "+05:30", "-03:00"), (now, held, zone) => {
        const call = at(0, held * 60_000);
        const local = new Date(
          call.getTime() + { Z: 0, "+05:30": 5.5 * HOUR, "-03:00": -3 * HOUR }[zone],
        );
        const text = `${local.toISOString().slice(0, 16)}${zone}`;
        const expected = held <= now ? "done" : "missing";
        for (const each of [call, text]) {
          const [, demand] = severity.checklist(
            { severity: 1, detectedAt, call: each },
            { now: at(0, now * 60_000) },
          ).demands;
          expect(demand?.state).toBe(expected);
        }
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  test("the response is in time at the very deadline, and overdue a millisecond later", () => {
    const response = (now: Date, respondedAt?: Date) =>
      severity.checklist({ severity: 1, detectedAt, respondedAt }, { now }).demands[0];
    const deadline = at(2);
    expect(response(at(0))).toEqual({
      demand: "response",
      state: "missing",
      deadline,
      left: 2 * HOUR,
    });
    expect(response(at(2))).toMatchObject({ state: "missing", left: 0 });
    expect(response(at(2, 1))).toMatchObject({ state: "overdue", deadline, overBy: 1 });
    expect(response(at(9), at(2))).toEqual({ demand: "response", state: "done", deadline });
    expect(response(at(9), at(2, 1))).toMatchObject({ state: "late", overBy: 1 });
    expect(response(at(5), at(6))).toMatchObject({ state: "overdue", overBy: 3 * HOUR });
  });

  test("only the response has a deadline", () => {
    const { demands } = severity.checklist({ severity: 1, detectedAt }, { now: at(500) });
    expect(demands.filter(({ deadline }) => deadline !== undefined)).toHaveLength(1);
    expect(demands.slice(1).every(({ state }) => state === "missing")).toBe(true);
  });

  test("now is the present by default", () => {
    const now = new Date();
    const incident = { severity: 1, detectedAt: new Date(now.getTime() - 3 * HOUR) } as const;
    const [response] = severity.checklist(incident).demands;
    expect(response?.state).toBe("overdue");
    expect(response?.overBy).toBeGreaterThanOrEqual(HOUR);
  });

  test("prints each demand with its state", () => {
    const incident = { severity: 1, detectedAt, call: true } as const;
    const text = severity.checklist(incident, { now: at(3.5) }).toString();
    expect(text).toBe(`Severity 1, detected 2026-05-01 12:00 UTC, as of 2026-05-01 15:30 UTC
  response         overdue by 1 h 30 min, due 2026-05-01 14:00 UTC
  conference call  done
  call leader      missing
  postmortem       missing
  sterile          missing`);
  });

  test.each([
    [{ severity: 5 }, {}, /^Can't use 5 as a severity/],
    [{ severity: "1" }, {}, /^Can't use "1" as a severity: pass the number 1/],
    [{ respondedAt: "soon" }, {}, /^Can't read "soon" as the time of the response/],
    [
      { respondedAt: "2026-05-01T11:59:59Z" },
      {},
      /^Can't use a response at 2026-05-01 11:59:59 UTC, before the detection at 2026-05-01 12:00 UTC/,
    ],
    [{ call: new Date(NaN) }, {}, /^Can't read an invalid Date as the time of the conference call/],
    [
      {},
      { now: "2026-05-01T11:00:00Z" },
      /^Can't check an incident at 2026-05-01 11:00 UTC, before/,
    ],
    [{}, { now: "later" }, /^Can't read "later" as the time now/],
    [
      { call: "2020-01-01" },
      {},
      /^Can't use a conference call at 2020-01-01 UTC, before the detection at 2026-05-01 12:00 UTC: correct call or detectedAt; a date alone is its midnight\.$/,
    ],
    [
      { severity: 4, postmortem: new Date("2026-05-01T11:59Z") },
      {},
      /^Can't use a postmortem at 2026-05-01 11:59 UTC, before the detection .*: correct postmortem or/,
    ],
    [{ call: "2026-05-02 25:00" }, {}, /^Can't read "2026-05-02 25:00" as the time of the conf/],
    [{ call: "2026-05-02 12:00 CET" }, {}, /^Can't read "2026-05-02 12:00 CET" as the time of/],
    [{ call: "2026-5-2" }, {}, /^Can't read "2026-5-2" as the time of the conference call: pass/],
    [{ postmortem: "2026-13-01" }, {}, /^Can't read "2026-13-01" as the time of the postmortem/],
    [
      { responedAt: "2026-05-01 13:00" },
      {},
      /^Can't check an incident with the option "responedAt": did you mean respondedAt\? The options are severity, detectedAt, respondedAt, call, leader, postmortem, sterile\.$/,
    ],
    [
      { owner: "Ada" },
      {},
      /^Can't check an incident with the option "owner": The options are severity, detectedAt, resp/,
    ],
    [{ sterile: "yes" }, {}, /^Can't check an incident with sterile: "yes": pass true or false\.$/],
    [{ call: 1 }, {}, /^Can't check an incident with call: 1: pass true, a link, or when it was/],
    [{ leader: at(1) }, {}, /^Can't check an incident with leader: 2026-05-01T.*: pass true or a/],
    [{ severity: 4, postmortem: {} }, {}, /with postmortem: \{\}: pass true, its path or link, or/],
    [
      {},
      null,
      /^Can't check an incident with null: pass an object of options, such as \{ now: … \}/,
    ],
    [
      {},
      { Now: at(1) },
      /^Can't check an incident with the option "Now": did you mean now\? The options are now\.$/,
    ],
  ])("refuses %j %j", (change, options, message) => {
    const incident = { severity: 1, detectedAt, ...change } as IncidentRecord;
    for (const act of ["checklist", "overdue"] as const) {
      expect(() => severity[act](incident, options as object)).toThrow(message);
    }
  });

  test.each([undefined, null, "2026-05-01", 2, [], Promise.resolve()])(
    "refuses %s instead of an incident",
    (incident) => {
      for (const act of ["checklist", "overdue"] as const) {
        expect(() => severity[act](incident as never)).toThrow(
          /^Can't check .* as an incident: pass an object, \{ severity: 2, detectedAt: "2026-05-01T12:00:00Z" \}/,
        );
      }
    },
  );

  test("null and undefined are missing in every field that may be missing", () => {
    for (const none of [null, undefined]) {
      const nothing = { call: none, leader: none, postmortem: none, sterile: none };
      expect(states({ severity: 1, respondedAt: none, ...nothing }, at(1))).toBe(
        "missing, missing, missing, missing, missing",
      );
    }
  });
});

test("severity.overdue: the response after its deadline, then what is missing without one", () => {
  const incident = { severity: 2, detectedAt, sterile: true } as const;
  const names = (now: Date) =>
    severity.overdue(incident, { now }).map(({ demand, state }) => `${demand} ${state}`);
  expect(names(at(8))).toEqual(["conference call missing", "postmortem missing"]);
  expect(names(at(8, 1))).toEqual([
    "response overdue",
    "conference call missing",
    "postmortem missing",
  ]);
  expect(severity.overdue({ severity: 4, detectedAt }, { now: at(24 * 7) })).toEqual([]);
});

test("severity.checklist: the response's state is that of three comparisons", () => {
  const minutes = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(
      fc.constantFrom(1, 2, 3, 4 as const),
      minutes,
      fc.option(minutes, { nil: undefined }),
      (number, nowMinute, responseMinute) => {
        const time = (minute: number) => at(0, minute * 60_000);
        const limit = { 1: 120, 2: 480, 3: 1440, 4: 10_080 }[number] ?? 0;
        const answered = responseMinute !== undefined && responseMinute <= nowMinute;
        const late = (answered ? responseMinute : nowMinute) > limit;
        const expected = answered ? (late ? "late" : "done") : late ? "overdue" : "missing";
        const respondedAt = responseMinute === undefined ? undefined : time(responseMinute);
        const [response] = severity.checklist(
          { severity: number, detectedAt, respondedAt },
          { now: time(nowMinute) },
        ).demands;
        expect(response?.state).toBe(expected);
      },
    ),
    { seed: 6, numRuns: 500 },
  );
});

test.each([
  [0, "0 s"],
  [1, "less than 1 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [5_400_000, "1 h 30 min"],
  [86_400_000, "1 d"],
  [86_400_000 * 3 + 3_600_000 * 4 + 60_000, "3 d 4 h"],
  [86_400_000 + 60_000, "1 d"],
])("formatDuration(%i) is %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});
