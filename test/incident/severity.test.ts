import { afterEach, describe, expect, test, vi } from "vitest";
import type { PostmortemFields } from "../../src/incident/record.js";
import { postmortem, severity } from "../../src/index.js";

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

describe("what an incident's severity demands", () => {
  afterEach(() => void vi.useRealTimers());
  const begun = { title: "T", detectedAt: "2026-05-01 12:00" } as const;

  /** The list of demands that a notebook shows at a time. */
  function demands(fields: Partial<PostmortemFields> & { severity: 1 | 2 | 3 | 4 }, now: string) {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(now) });
    const shown = String(postmortem({ ...begun, ...fields }));
    return [...shown.matchAll(/^- \[(x| )\] (.*)$/gm)].map(([, done, text]) => `${done} ${text}`);
  }
  const RESPONSE = "  Response: not recorded, due 1 May 2026";

  test.each<[1 | 2 | 3 | 4, string[]]>([
    [
      1,
      [
        `${RESPONSE} 14:00 UTC, 1 h 30 min left`,
        "  Conference call: not recorded",
        "  Call leader: not recorded",
        "  Postmortem: not complete",
        "  Sterile investigation: not recorded",
      ],
    ],
    [
      2,
      [
        `${RESPONSE} 20:00 UTC, 7 h 30 min left`,
        "  Conference call: not recorded",
        "  Postmortem: not complete",
        "  Sterile investigation: not recorded",
      ],
    ],
    [
      3,
      [
        "  Response: not recorded, due 2 May 2026 12:00 UTC, 23 h 30 min left",
        "  Sterile investigation: not recorded",
      ],
    ],
    [4, ["  Response: not recorded, due 8 May 2026 12:00 UTC, 6 days 23 h left"]],
  ])("severity %i", (number, wanted) => {
    expect(demands({ severity: number }, "2026-05-01T12:30Z")).toEqual(wanted);
  });

  test("what is recorded is done; what is dated after now isn't there yet", () => {
    const told = { severity: 1, call: "2026-05-01 13:00", leader: "Ada", sterile: true } as const;
    expect(demands({ ...told, respondedAt: "2026-05-01 14:00" }, "2026-05-01T15:00Z")).toEqual([
      "x Response: done, due 1 May 2026 14:00 UTC",
      "x Conference call: done",
      "x Call leader: done",
      "  Postmortem: not complete",
      "x Sterile investigation: done",
    ]);
    const early = demands({ ...told, respondedAt: "2026-05-01 14:00" }, "2026-05-01T12:59Z");
    expect(early.slice(0, 2)).toEqual([
      `${RESPONSE} 14:00 UTC, 1 h 1 min left`,
      "  Conference call: not recorded",
    ]);
  });

  test.each([
    ["2026-05-01T14:00:00.000Z", undefined, `${RESPONSE} 14:00 UTC, 0 s left`],
    ["2026-05-01T14:00:00.001Z", undefined, "  Response: overdue by less than 1 s, due 1 May 2026"],
    [
      "2026-05-02T16:00:00Z",
      undefined,
      "  Response: overdue by 1 day 2 h, due 1 May 2026 14:00 UTC",
    ],
    ["2026-06-02T16:00:00Z", undefined, "  Response: none recorded; due 1 May 2026"],
    ["2026-05-02T16:00:00Z", "2026-05-01T14:00:00Z", "x Response: done"],
    [
      "2026-05-02T16:00:00Z",
      "2026-05-01T14:00:01Z",
      "x Response: late: it began 1 s after it was due, 1 May 2026 14:00 UTC",
    ],
  ])("at %s the response of %s", (now, respondedAt, wanted) => {
    expect(demands({ severity: 1, respondedAt: respondedAt ?? null }, now)[0]).toContain(wanted);
  });

  test("times without an offset are UTC, and hours elapse over a change of clocks", () => {
    // The tests run in New York's zone.
    const detectedAt = "2026-03-08 01:30";
    const [first] = demands({ severity: 1, detectedAt }, "2026-03-08T02:30Z");
    expect(first).toBe("  Response: not recorded, due 8 Mar 2026 03:30 UTC, 1 h left");
  });
});
