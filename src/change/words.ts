import { amount, number, percent } from "../base/numbers.js";
import { cleanText, lowered } from "../base/text.js";
import { isVersionColumn } from "../result/origin.js";

/** The values that a cause's rows share, by dimension. */
export type CauseWhere = Readonly<Record<string, string | null>>;

/** "fell by 12,345 (23 %), from 53,000 to 41,000". */
export function changeText(before: number | null, after: number | null, unit: string): string {
  if (before === null || after === null) {
    return `went from ${amount(before, unit)} to ${amount(after, unit)}`;
  }
  const change = after - before;
  if (amount(before, unit) === amount(after, unit)) return `stayed at ${amount(after, unit)}`;
  const by =
    unit === "share"
      ? `${number(Number((Math.abs(change) * 100).toPrecision(2)))} percentage points`
      : amount(Math.abs(change), unit);
  const relative = before > 0 && unit !== "share" ? ` (${percent(Math.abs(change) / before)})` : "";
  return `${change < 0 ? "fell" : "rose"} by ${by}${relative}, from ${amount(before, unit)} to ${amount(after, unit)}`;
}

/** "probe_cc IT and test_name web"; a release as "probe-cli 3.10.0 in probe_cc IT"; "all rows alike" for none. */
export function elementText(where: CauseWhere): string {
  const entries = Object.entries(where);
  if (entries.length === 0) return "all rows alike";
  const version = entries.find(([name]) => isVersionColumn(name))?.[0] ?? "";
  const program = version.replace(/version$/i, "name");
  const list = (some: typeof entries) =>
    some.map(([name, value]) => `${name} ${valueText(value)}`).join(" and ");
  if (version === "" || !(program in where)) return list(entries);
  const place = entries.filter(([name]) => name !== version && name !== program);
  const release = `${valueText(where[program]!)} ${valueText(where[version]!)}`;
  return place.length === 0 ? release : `${release} in ${list(place)}`;
}

/** A value in a sentence. */
export function valueText(value: string | null): string {
  return value === null ? "(none)" : value === "" ? "(empty)" : cleanText(value, 60);
}

/** A measure's name as a sentence has it: "Median run duration" of "Run duration, median". */
export function spoken(label: string): string {
  const [, name, which] = /^(.+), (median|mean|\S+ percentile)$/.exec(label) ?? [];
  if (name === undefined || which === undefined) return label;
  return `${which.charAt(0).toUpperCase()}${which.slice(1)} ${lowered(name)}`;
}

/** Own words at the beginning of a text; what begins otherwise is a name, which keeps its letters. */
const OWN =
  /^(all|the|apart|too|stored|log lines|measurements|runs|messages|no|neither|users|its|it|they|this|these|that|of|an?|in|from|as|may|i) /i;

/** A text as a sentence, with a full stop. */
export function sentenceText(text: string): string {
  const head = OWN.test(text) ? text.charAt(0).toUpperCase() : text.charAt(0);
  return `${head}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
