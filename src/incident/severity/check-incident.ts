import { checkOptions, type Rule, type Rules } from "../../base/check-options.js";
import { isPromise, shownValue } from "../../base/text.js";
import { ProbelabError } from "../../base/error.js";
import type { ChecklistOptions, IncidentRecord } from "./checklist.js";

// What reads it tells what is wrong with it.
const checkedLater: Rule = { fits: () => true, pass: "" };

/** A rule for what may be missing: null is as good as leaving it out. */
const rule = (pass: string, fits: (value: unknown) => boolean): Rule => ({
  fits: (value) => value === null || fits(value),
  pass,
});
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isFlagOrText = (value: unknown): boolean => isFlag(value) || typeof value === "string";
const isEvidence = (value: unknown): boolean => isFlagOrText(value) || value instanceof Date;

const INCIDENT = {
  severity: checkedLater,
  detectedAt: checkedLater,
  respondedAt: checkedLater,
  call: rule("true, a link, or when it was held", isEvidence),
  leader: rule("true or a name", isFlagOrText),
  postmortem: rule("true, its path or link, or when it was finished", isEvidence),
  sterile: rule("true or false", isFlag),
} satisfies Rules<IncidentRecord>;

const OPTIONS = { now: checkedLater } satisfies Rules<ChecklistOptions>;

/** @throws ProbelabError for a field or an option that isn't known, or a value that it doesn't take. */
export function checkIncident(incident: IncidentRecord, options: ChecklistOptions): void {
  const given: unknown = incident;
  if (typeof given !== "object" || given === null || Array.isArray(given) || isPromise(given)) {
    throw new ProbelabError(
      `Can't check ${shownValue(given)} as an incident: pass an object, { severity: 2, detectedAt: "2026-05-01T12:00:00Z" }.`,
    );
  }
  checkOptions(incident, INCIDENT, "check an incident");
  checkOptions(options, OPTIONS, "check an incident");
}
