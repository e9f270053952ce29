import type { PostmortemRecord } from "./record.js";

const PARTS = [
  ["summary", "summary"],
  ["impact", "impact"],
  ["rootCauses", "root causes"],
  ["trigger", "trigger"],
  ["detection", "detection"],
  ["resolution", "resolution"],
  ["timeline", "timeline"],
  ["actions", "action items"],
] as const;

/** The parts of the usual template that nobody has written yet. */
export function missingParts(record: Pick<PostmortemRecord, (typeof PARTS)[number][0]>): string[] {
  return PARTS.filter(([name]) => record[name].length === 0).map(([, title]) => title);
}
