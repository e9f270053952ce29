import { expect, test } from "vitest";
import { severity } from "../../../src/incident/severities/severity.js";

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

test("severity.all is the policy's table, the highest first", () => {
  const yes = (value: boolean): string => (value ? "yes" : "no");
  const meanings = severity.all.map(({ number, meaning }) => `\n| ${number} | ${meaning} |`);
  const rows = severity.all.map((each) => {
    const demands = [each.conferenceCall, each.callLeader, each.postmortem, each.sterile];
    return `\n| ${[each.number, each.responseTimeText, ...demands.map(yes)].join(" | ")} |`;
  });
  expect(meanings.join("")).toBe(MEANINGS);
  expect(rows.join("")).toBe(WORKFLOW);
  expect(severity.all.map(({ responseTime }) => responseTime)).toEqual([2, 8, 24, 168]);
});

test("severity.all can't be changed", () => {
  expect(Object.isFrozen(severity.all)).toBe(true);
  expect(severity.all.every((each) => Object.isFrozen(each))).toBe(true);
});

test("severity.of(number) is that of the table", () => {
  for (const number of [1, 2, 3, 4] as const) {
    expect(severity.of(number)).toBe(severity.all[number - 1]);
  }
});

test.each([
  [0, "Can't use 0 as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
  [5, "Can't use 5 as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
  [1.5, "Can't use 1.5 as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
  [NaN, "Can't use NaN as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
  ["2", `Can't use "2" as a severity: pass the number 2.`],
  ["high", `Can't use "high" as a severity: pass 1, 2, 3 or 4; 1 is the highest.`],
  [undefined, "Can't use undefined as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
  [{}, "Can't use {} as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
  [null, "Can't use null as a severity: pass 1, 2, 3 or 4; 1 is the highest."],
])("severity.of(%j) is refused", (value, message) => {
  expect(() => severity.of(value as 1)).toThrow(message);
});
