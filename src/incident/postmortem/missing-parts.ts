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

/**
 * What a postmortem still lacks, each as a clause: `not written yet: summary, trigger` (parts of the
 * usual template), `2 timeline entries without data` (each has to rest on a figure or an address).
 */
export function missingParts(record: Pick<PostmortemRecord, (typeof PARTS)[number][0]>): string[] {
  const unwritten = PARTS.filter(([name]) => record[name].length === 0).map(([, title]) => title);
  const bare = record.timeline.filter(({ evidence }) => evidence.length === 0).length;
  return [
    ...(unwritten.length > 0 ? [`not written yet: ${unwritten.join(", ")}`] : []),
    ...(bare > 0 ? [`${bare} timeline ${bare === 1 ? "entry" : "entries"} without data`] : []),
  ];
}
