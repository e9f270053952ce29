import { inspect } from "node:util";
import { cleanText } from "../../base/text.js";
import { tableHtml, tableMarkdown } from "../../chart/table-outputs.js";
import type { TableModel } from "../../chart/table-model.js";
import { REVIEW_NAMES, type BrokenRule, type Findings, type Review } from "./check.js";
import { nameText, pathText } from "./graph.js";
import type { Reclassified } from "./reclassify.js";
import { TIER_RULES, type TierRule } from "./rules.js";

/** Lines of a section on a console, and rows of a table. */
const MOST_LINES = 60;
const MOST_ROWS = 200;

/** What `check` finds. */
export class TierReport implements Findings {
  /** The file's name. */
  readonly source: string;
  /** By rule, then by component. */
  readonly broken: readonly BrokenRule[];
  /** The components whose tier number the policy lowers, by name. */
  readonly reclassify: readonly Reclassified[];
  /** What 1.4 asks of each component by the tier that results, by name. */
  readonly reviews: readonly Review[];
  /** Rules with something that the data can't show. */
  readonly unchecked: readonly TierRule[];

  constructor(source: string, { broken, reclassify, reviews }: Findings) {
    this.source = source;
    this.broken = broken;
    this.reclassify = reclassify;
    this.reviews = reviews;
    this.unchecked = TIER_RULES.filter(({ unchecked }) => unchecked !== "");
  }

  /** Tables with a caption each. */
  get html(): string {
    return reportTables(this).map(tableHtml).join("\n");
  }

  get markdown(): string {
    return reportTables(this).map(tableMarkdown).join("\n");
  }

  /** Text for a console. */
  toString(): string {
    return reportText(this);
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** What a notebook shows. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    return {
      "text/html": this.html,
      "text/markdown": this.markdown,
      "text/plain": this.toString(),
    };
  }
}

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
function reportText(report: TierReport): string {
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
function uncheckedText({ unchecked }: TierReport): string {
  const numbers = unchecked.map(({ number }) => String(number));
  return `Not seen in a file: parts of rules ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1) ?? ""}; tiers.rules tells which.`;
}

/** `api: tier 3 → 2 because of api → database (rule 6)`. */
function reclassifiedText({ component, from, to, because, rules }: Reclassified): string {
  return `${nameText(component)}: tier ${from} → ${to} because of ${pathText(because)} (rule ${rules.join(" and ")})`;
}

/** `yes`, `yes +` where the reclassification brings it, `no`, `–` where 1.4 has no rule. */
function reviewWord(review: Review, name: (typeof REVIEW_NAMES)[number]): string {
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

function amount(count: number, thing: string): string {
  return `${count === 0 ? "no" : count.toLocaleString("en-US")} ${thing}${count === 1 ? "" : "s"}`;
}

/** The report as tables: what is broken, what is reclassified, what is reviewed. */
function reportTables(report: TierReport): TableModel[] {
  const { broken, reclassify, reviews } = report;
  return [
    table(
      `Tiers of ${nameText(report.source)}: ${summary(report)}`,
      ["Rule", "Path", "What is wrong", "What to do"],
      broken.map(({ rule, name, path, message, remedy }) => [
        `${rule}, ${name}`,
        pathText(path),
        message,
        remedy,
      ]),
      [
        ...(broken.length === 0 ? ["No rule that the data shows is broken."] : []),
        uncheckedText(report),
      ],
    ),
    ...(reclassify.length === 0
      ? []
      : [
          table(
            "Reclassify at once",
            ["Component", "Tier", "Because of", "Rule"],
            reclassify.map(({ component, from, to, because, rules }) => [
              nameText(component),
              `${from} → ${to}`,
              pathText(because),
              rules.join(", "),
            ]),
          ),
        ]),
    table(
      "Reviews (1.4)",
      [
        "Component",
        "Tier",
        "Architecture review",
        "Code review",
        "Third-party security review",
        "Change management",
      ],
      reviews.map((review) => [
        nameText(review.component),
        String(review.tier),
        ...REVIEW_NAMES.map((name) => reviewWord(review, name)),
      ]),
      [
        ...(reviews.some(({ added }) => added.length > 0)
          ? ["+ comes with the reclassification."]
          : []),
        ...(reviews.some(({ tier }) => tier > 4)
          ? ["The policy names no reviews for tier 5 and up."]
          : []),
      ],
    ),
  ];
}

function table(
  caption: string,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  notes: readonly string[] = [],
): TableModel {
  const more = rows.length - MOST_ROWS;
  return {
    caption,
    columns: titles.map((title) => ({ title, number: false })),
    heads: 1,
    rows: rows.slice(0, MOST_ROWS).map((cells) => cells.map((text) => ({ text: cleanText(text) }))),
    notes: [
      ...notes,
      ...(more > 0 ? [`${more.toLocaleString("en-US")} more rows not shown.`] : []),
    ],
  };
}
