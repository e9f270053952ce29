import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FACT_RULES, type FactName, type Facts } from "../../../src/incident/severities/suggest.js";
import { severity } from "../../../src/incident/severities/severity.js";

const { suggest } = severity;

// From the policy's meanings, written down a second time.
const EXPECTED: Record<FactName, 1 | 2 | 3 | 4> = {
  seriousSecurityBreach: 1,
  seriousDataLoss: 1,
  seriousPrivacyLoss: 1,
  legalRisk: 1,
  downtimeForManyUsers: 2,
  seriousVulnerability: 2,
  secondaryServiceDown: 3,
  secondaryServicePoor: 3,
  becomesSeverity2In24h: 3,
  monitoringOutage: 3,
  needsAttentionIn7d: 4,
};
const NAMES = Object.keys(EXPECTED) as FactName[];

test.each(Object.entries(EXPECTED))("severity.suggest: %s alone is severity %i", (fact, number) => {
  const suggestion = suggest({ [fact]: true });
  expect(suggestion).toMatchObject({ severity: number, certain: number, unsure: [] });
  expect(suggestion.reasons).toEqual([FACT_RULES.find((rule) => rule.fact === fact)]);
});

test("severity.suggest: every rule's words come from the policy's meaning of its severity", () => {
  for (const { severity: number, rule } of FACT_RULES) {
    const meaning = new Set(
      severity
        .of(number)
        .meaning.toLowerCase()
        .match(/[a-z0-9]+/g),
    );
    for (const word of rule.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
      // The policy says "becomes" after "anything that", and outages in the plural.
      expect(meaning.has(word) || meaning.has(`${word}s`), `${word} in ${rule}`).toBe(true);
    }
  }
});

describe("in doubt the higher severity is chosen", () => {
  test("an unknown fact counts, and the certain severity stands beside it", () => {
    const suggestion = suggest({ monitoringOutage: true, downtimeForManyUsers: "unknown" });
    expect(suggestion).toMatchObject({ severity: 2, certain: 3 });
    expect(suggestion.reasons.map(({ fact }) => fact)).toEqual(["monitoringOutage"]);
    expect(suggestion.unsure.map(({ fact }) => fact)).toEqual(["downtimeForManyUsers"]);
  });

  test("an unknown fact below a true one changes nothing", () => {
    const suggestion = suggest({ legalRisk: true, monitoringOutage: "unknown" });
    expect(suggestion).toMatchObject({ severity: 1, certain: 1 });
  });

  test("a fact that isn't mentioned, or is undefined, is no doubt, but is asked for", () => {
    const suggestion = suggest({ downtimeForManyUsers: true, legalRisk: undefined });
    expect(suggestion.severity).toBe(2);
    expect(suggestion.unasked.map(({ fact }) => fact)).toEqual(NAMES.slice(0, 4));
  });

  test("a fact that is false is neither counted nor asked for", () => {
    const suggestion = suggest({ downtimeForManyUsers: true, legalRisk: false });
    expect(suggestion.severity).toBe(2);
    expect(suggestion.unasked.map(({ fact }) => fact)).not.toContain("legalRisk");
  });
});

test("severity.suggest: nothing true or in doubt is no severity, and says so", () => {
  const all = Object.fromEntries(NAMES.map((fact) => [fact, false])) as Facts;
  expect(suggest(all)).toMatchObject({ severity: null, certain: null, reasons: [], unasked: [] });
  const none = suggest({});
  expect(none).toMatchObject({ severity: null, certain: null });
  expect(none.unasked.map(({ fact }) => fact)).toEqual(NAMES);
  expect(String(none)).toMatch(/^No severity: none of the facts told is true or in doubt\./);
});

test("severity.suggest agrees with the least number of true and unknown facts, whatever the order", () => {
  const known = fc.constantFrom<true | false | "unknown" | undefined>(
    true,
    false,
    "unknown",
    undefined,
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...NAMES), known),
      fc.integer({ min: 0, max: 10 }),
      (facts, turn) => {
        const entries = Object.entries(facts) as [FactName, unknown][];
        const numbers = (value: unknown) =>
          entries.filter((entry) => entry[1] === value).map(([fact]) => EXPECTED[fact]);
        const least = (list: number[]) => (list.length === 0 ? null : Math.min(...list));
        const turned = [...entries.slice(turn), ...entries.slice(0, turn)];
        const suggestion = suggest(Object.fromEntries(turned));
        expect(suggestion.certain).toBe(least(numbers(true)));
        expect(suggestion.severity).toBe(least([...numbers(true), ...numbers("unknown")]));
        expect(suggestion).toEqual(suggest(facts as Facts));
        const unasked = NAMES.filter(
          (fact) =>
            (facts[fact] ?? undefined) === undefined && EXPECTED[fact] < (suggestion.severity ?? 5),
        );
        expect(suggestion.unasked.map(({ fact }) => fact)).toEqual(unasked);
      },
    ),
    { seed: 5, numRuns: 500 },
  );
});

test("severity.suggest prints what follows from what", () => {
  const text = suggest({
    monitoringOutage: true,
    downtimeForManyUsers: "unknown",
    legalRisk: false,
  });
  expect(String(text)).toBe(
    `Severity 2 in doubt (severity 3 if every doubt turns out false)
  3  Outage of monitoring infrastructure (monitoringOutage)
  2  Downtime affecting usability for a significant fraction of users (downtimeForManyUsers): unknown, so it counts
Not told, and would be higher: seriousSecurityBreach, seriousDataLoss, seriousPrivacyLoss.`,
  );
});

test.each([
  [undefined, /^Can't suggest a severity from undefined: pass an object of facts/],
  [null, /^Can't suggest a severity from null: pass an object/],
  [["legalRisk"], /^Can't suggest a severity from \["legalRisk"\]: pass an object/],
  [{ dataLoss: true }, /^Can't suggest a severity from the fact "dataLoss": the facts are serious/],
  [{ constructor: true }, /from the fact "constructor"/],
  [JSON.parse(`{"__proto__": true}`), /from the fact "__proto__"/],
  [{ legalRisk: "yes" }, /^Can't suggest a severity from legalRisk: "yes": write true, false or/],
  [{ legalRisk: null }, /from legalRisk: null/],
  [{ legalRisk: 1 }, /from legalRisk: 1/],
])("severity.suggest(%j) is refused", (facts, message) => {
  expect(() => suggest(facts as Facts)).toThrow(message);
});
