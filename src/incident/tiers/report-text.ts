import { shown } from "../shown.js";
import { pathText } from "./path-text.js";
import type { Reclassified } from "./reclassify.js";
import type { TierReport } from "./report.js";
import { REVIEW_NAMES, type Review } from "./reviews.js";

const MOST_LINES = 60;
const LONGEST_NAME = 40;

/** `18 components, 2 rules broken in 3 places, 1 of them still when all is reclassified, …`. */
export function summary({ broken, reclassify, reviews }: TierReport): string {
  const left = broken.filter(({ resulting }) => resulting).length;
  const rules = amount(new Set(broken.map(({ rule }) => rule)).size, "rule");
  const places = broken.length === 0 ? "" : ` in ${amount(broken.length, "place")}`;
  const healed = left < broken.length ? `, ${left} of them still when all is reclassified` : "";
  const lower = reclassify.length === 0 ? "none" : reclassify.length.toLocaleString("en-US");
  return `${amount(reviews.length, "component")}, ${rules} broken${places}${healed}, ${lower} to reclassify`;
}

/** The report for a console. */
export function reportText(report: TierReport): string {
  const { source, broken, reclassify, reviews } = report;
  const width = Math.max(9, ...reviews.map(({ component }) => nameText(component).length));
  return [
    `Tiers of ${nameText(source)}: ${summary(report)}`,
    ...section(
      "Broken",
      broken.map(
        ({ rule, name, path, message, remedy }) =>
          `  Rule ${rule}, ${name}: ${pathText(path)}\n    ${message}\n    ${remedy}`,
      ),
    ),
    ...section(
      "Reclassify at once",
      reclassify.map((each) => `  ${reclassifiedText(each)}`),
    ),
    ...section("Reviews (1.4)", [
      `  ${"Component".padEnd(width)}  Tier  Architecture  Code  Security  Change management`,
      ...reviews.map((each) => `  ${reviewText(each, width)}`.trimEnd()),
    ]),
    ...(reviews.some(({ added }) => added.length > 0)
      ? ["  + comes with the reclassification"]
      : []),
    uncheckedText(report),
  ].join("\n");
}

/** What no file can show, so that nobody takes silence for it. */
export function uncheckedText({ unchecked }: TierReport): string {
  const numbers = unchecked.map(({ number }) => String(number));
  return `Not seen in a file: parts of rules ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1) ?? ""}; tiers.rules tells which.`;
}

/** `api: tier 3 → 2 because of api → database (rule 6)`. */
function reclassifiedText({ component, from, to, because, rules }: Reclassified): string {
  return `${nameText(component)}: tier ${from} → ${to} because of ${pathText(because)} (rule ${rules.join(" and ")})`;
}

/** `yes`, `yes +` where the reclassification brings it, `no`, `–` where 1.4 has no rule. */
export function reviewWord(review: Review, name: (typeof REVIEW_NAMES)[number]): string {
  if (review[name] === null) return "–";
  if (review[name] === false) return "no";
  return review.added.includes(name) ? "yes +" : "yes";
}

function reviewText(review: Review, width: number): string {
  const [architecture = "", code = "", security = "", change = ""] = REVIEW_NAMES.map((name) =>
    reviewWord(review, name),
  );
  return `${nameText(review.component).padEnd(width)}  ${String(review.tier).padEnd(4)}  ${architecture.padEnd(12)}  ${code.padEnd(5)} ${security.padEnd(8)}  ${change}`;
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length - MOST_LINES;
  return [
    title,
    ...lines.slice(0, MOST_LINES),
    ...(more > 0 ? [`  … ${more.toLocaleString("en-US")} more`] : []),
  ];
}

/** A name on one line, short, as it is. */
export function nameText(name: string): string {
  return shown(name, LONGEST_NAME).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
}

function amount(count: number, thing: string): string {
  return `${count === 0 ? "no" : count.toLocaleString("en-US")} ${thing}${count === 1 ? "" : "s"}`;
}
