import { describe, expect, test } from "vitest";
import { severity, type IncidentRecord } from "../../src/index.js";

// The policy's tables, as they stand in sections 1.1 and 1.2.
const MEANINGS = `
| 1 | Serious security breach or data loss; serious loss of privacy for users or team members; legal risk. |
| 2 | Downtime affecting usability for a significant fraction of users (for example probes unable to submit measurements); serious security vulnerability. |
| 3 | Downtime or poor performance of secondary services; anything that becomes a severity 2 event if not handled within 24 hours; outages of monitoring infrastructure. |
| 4 | Any other event that needs attention within 7 days. |`;
const WORKFLOW = `
| 1 | 2 h | yes | yes | yes | yes |
| 2 | 8 h | yes | no | yes | yes |
| 3 | 24 h | no | no | no | yes |
| 4 | 7 d | no | no | no | no |`;

test("severity.all is the policy's table, severity(n) a row of it", () => {
  const yes = (value: boolean): string => (value ? "yes" : "no");
  const meanings = severity.all.map(({ number, meaning }) => `\n| ${number} | ${meaning} |`);
  const rows = severity.all.map((each) => {
    const demands = [each.conferenceCall, each.callLeader, each.postmortem, each.sterile];
    return `\n| ${[each.number, each.responseTimeText, ...demands.map(yes)].join(" | ")} |`;
  });
  expect(meanings.join("")).toBe(MEANINGS);
  expect(rows.join("")).toBe(WORKFLOW);
  expect(severity.all.map(({ responseTime }) => responseTime)).toEqual([2, 8, 24, 168]);
  expect([1, 2, 3, 4].map((number) => severity(number as 1))).toEqual(severity.all);
  expect(severity.all.every((each) => Object.isFrozen(each))).toBe(true);
});

test.each([0, 5, 1.5, NaN, "2", "high", undefined, {}, null])(
  "severity(%j) is refused",
  (value) => {
    expect(() => severity(value as 1)).toThrow(
      /^Can't use .* as a severity: pass the number 1, 2, 3 or 4; 1 is the highest\.$/,
    );
  },
);

describe("severity.checklist(incident, { now })", () => {
  const HOUR = 3_600_000;
  const detectedAt = "2026-05-01T12:00:00Z";
  const at = (hours: number, milliseconds = 0): Date =>
    new Date(Date.parse(detectedAt) + hours * HOUR + milliseconds);
  const check = (incident: Omit<IncidentRecord, "detectedAt">, now: Date) =>
    severity.checklist({ detectedAt, ...incident }, { now });
  const states = (incident: Omit<IncidentRecord, "detectedAt">, now: Date): string =>
    check(incident, now)
      .demands.map(
        ({ state }) => ({ missing: "-", "not demanded": "." })[state as "missing"] ?? state,
      )
      .join(" ");

  test("lists what each severity demands and what is there", () => {
    expect(states({ severity: 1 }, at(1))).toBe("- - - - -");
    expect(states({ severity: 2 }, at(1))).toBe("- - . - -");
    expect(states({ severity: 3 }, at(1))).toBe("- . . . -");
    expect(states({ severity: 4 }, at(1))).toBe("- . . . .");
    const proofs = { respondedAt: at(1), call: true, leader: "Ada", postmortem: "x.md" };
    expect(states({ severity: 1, ...proofs, sterile: true }, at(3))).toBe(
      "done done done done done",
    );
    for (const none of [null, undefined, false]) {
      const nothing = { call: none, leader: none, postmortem: none, sterile: none };
      expect(states({ severity: 1, ...nothing, respondedAt: null }, at(1))).toBe("- - - - -");
    }
    expect(states({ severity: 1, leader: " ", postmortem: "" }, at(1))).toBe("- - - - -");
  });

  test("what is dated after now isn't there yet", () => {
    const later = { severity: 1, respondedAt: at(9), call: "2026-05-01 21:00" } as const;
    expect(states(later, at(3))).toBe("overdue - - - -");
    expect(states(later, at(9))).toBe("late done - - -");
  });

  test("the response is in time at the very deadline, and overdue a millisecond later", () => {
    const response = (now: Date, respondedAt?: Date) =>
      check({ severity: 1, respondedAt }, now).demands[0];
    const base = { demand: "response", deadline: at(2) };
    expect(response(at(0))).toEqual({ ...base, state: "missing", left: 2 * HOUR });
    expect(response(at(2))).toMatchObject({ state: "missing", left: 0 });
    expect(response(at(2, 1))).toMatchObject({ state: "overdue", overBy: 1 });
    expect(response(at(9), at(2))).toEqual({ ...base, state: "done" });
    expect(response(at(9), at(2, 1))).toMatchObject({ state: "late", overBy: 1 });
    expect(
      [1, 2, 3, 4].map((number) => check({ severity: number as 1 }, at(0)).demands[0]),
    ).toEqual(
      [2, 8, 24, 168].map((hours) => ({
        demand: "response",
        state: "missing",
        deadline: at(hours),
        left: hours * HOUR,
      })),
    );
  });

  test("times without an offset are UTC, and hours elapse over a change of clocks", () => {
    // The tests run in New York's zone.
    const due = (time: string) =>
      severity.checklist({ severity: 1, detectedAt: time }, { now: "2026-06-01" }).demands[0]
        ?.deadline;
    expect(due("2026-03-08 01:30")).toEqual(new Date("2026-03-08T03:30Z"));
    expect(due("2026-03-08T01:30:00-05:00")).toEqual(new Date("2026-03-08T08:30Z"));
  });

  test.each([
    [at(3.5), "overdue by 1 h 30 min, due 2026-05-01 14:00 UTC"],
    [at(28), "overdue by 1 d 2 h, due 2026-05-01 14:00 UTC"],
    [at(1.75, 40_000), "not recorded, due 2026-05-01 14:00 UTC, 14 min 20 s left"],
  ])("prints each demand with its state", (now, response) => {
    const [, first, call, leader] = check({ severity: 1, call: true }, now).toString().split("\n");
    expect(first).toBe(`  response               ${response}`);
    expect([call, leader]).toEqual([
      "  conference call        done",
      "  call leader            not recorded",
    ]);
  });

  test.each([
    [{ severity: 5 }, {}, /^Can't use 5 as a severity/],
    [{ detectedAt: "yesterday" }, {}, /^Can't read "yesterday" as the time of detection: pass/],
    [{ detectedAt: undefined }, {}, /^Can't read undefined as the time of detection/],
    [{ respondedAt: "soon" }, {}, /^Can't read "soon" as the time of the response/],
    [
      { respondedAt: "2026-05-01T11:59:59Z" },
      {},
      /^Can't use 2026-05-01 11:59:59 UTC as the time of the response: it is before the detection at 2026-05-01 12:00 UTC; correct one of the two\.$/,
    ],
    [{ call: "2020-01-01" }, {}, /^Can't use 2020-01-01 UTC as the time of the conference call/],
    [{ call: "https://call.example.org" }, {}, /^Can't read "https:.*" as the time of the conf/],
    [{}, { now: "2026-05-01T11:00:00Z" }, /^Can't use 2026-05-01 11:00 UTC as the time now/],
    [{}, { now: "later" }, /^Can't read "later" as the time now/],
    [{ responedAt: "x" }, {}, /the option "responedAt": did you mean respondedAt\?/],
    [{ sterile: "yes" }, {}, /^Can't check an incident with sterile: "yes": pass true or false\.$/],
    [{ leader: at(1) }, {}, /^Can't check an incident with leader: 2026-.*: pass a name or true/],
    [{ postmortem: {} }, {}, /with postmortem: \{\}: pass a path, a link or true/],
    [{}, null, /^Can't check an incident with null: pass an object of options/],
  ])("refuses %j %j", (change, options, message) => {
    const incident = { severity: 1, detectedAt, ...change } as IncidentRecord;
    expect(() => severity.checklist(incident, options as object)).toThrow(message);
  });
});
