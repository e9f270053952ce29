import { inspect } from "node:util";
import { cleanText, counted } from "../base/text.js";
import { tableHtml, tableMarkdown } from "../render/table-outputs.js";
import type { TableModel } from "../render/table-outputs.js";
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
  readonly unchecked: readonly TierRule[] = TIER_RULES.filter(({ unchecked }) => unchecked !== "");

  constructor(source: string, { broken, reclassify, reviews }: Findings) {
    this.source = source;
    this.broken = broken;
    this.reclassify = reclassify;
    this.reviews = reviews;
  }

  /** Tables with a caption each. */
  get html(): string {
    return this.#tables().map(tableHtml).join("\n");
  }

  get markdown(): string {
    return this.#tables().map(tableMarkdown).join("\n");
  }

  /** Text for a console. */
  toString(): string {
    const width = Math.max(9, ...this.reviews.map(({ component }) => nameText(component).length));
    const widths = [width, 4, 12, 4, 8, 0];
    const line = (cells: readonly string[]): string =>
      `  ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd();
    return [
      `Tiers of ${nameText(this.source)}: ${summary(this)}`,
      ...section(
        "Broken",
        this.broken.map(
          ({ rule, name, path, message, remedy }) =>
            `  Rule ${rule}, ${name}: ${pathText(path)}\n    ${message}\n    ${remedy}`,
        ),
      ),
      ...section(
        "Reclassify at once",
        this.reclassify.map(
          ({ component, from, to, because, rules }) =>
            `  ${nameText(component)}: tier ${from} → ${to} because of ${pathText(because)} (rule ${rules.join(" and ")})`,
        ),
      ),
      ...section("Reviews (1.4)", [
        line(["Component", "Tier", "Architecture", "Code", "Security", "Change management"]),
        ...this.reviews.map((review) => line(reviewCells(review))),
      ]),
      ...(this.#isAdded ? ["  + comes with the reclassification"] : []),
      this.#unseen,
    ].join("\n");
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

  get #isAdded(): boolean {
    return this.reviews.some(({ added }) => added.length > 0);
  }

  /** What no file can show, so that nobody takes silence for it. */
  get #unseen(): string {
    const numbers = this.unchecked.map(({ number }) => String(number));
    return `Not seen in a file: parts of rules ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}; tiers.rules tells which.`;
  }

  #tables(): TableModel[] {
    const { source, broken, reclassify, reviews } = this;
    const rules = table(
      `Tiers of ${nameText(source)}: ${summary(this)}`,
      ["Rule", "Path", "What is wrong", "What to do"],
      broken.map((each) => [
        `${each.rule}, ${each.name}`,
        pathText(each.path),
        each.message,
        each.remedy,
      ]),
      [...(broken.length === 0 ? ["No rule that the data shows is broken."] : []), this.#unseen],
    );
    const lowered = table(
      "Reclassify at once",
      ["Component", "Tier", "Because of", "Rule"],
      reclassify.map(({ component, from, to, because, rules }) => [
        nameText(component),
        `${from} → ${to}`,
        pathText(because),
        rules.join(", "),
      ]),
    );
    const reviewed = table(
      "Reviews (1.4)",
      [
        "Component",
        "Tier",
        "Architecture review",
        "Code review",
        "Third-party security review",
        "Change management",
      ],
      reviews.map(reviewCells),
      [
        ...(this.#isAdded ? ["+ comes with the reclassification."] : []),
        ...(reviews.some(({ tier }) => tier > 4)
          ? ["The policy names no reviews for tier 5 and up."]
          : []),
      ],
    );
    return [rules, ...(reclassify.length > 0 ? [lowered] : []), reviewed];
  }
}

/** `18 components, 2 rules broken in 3 places, 1 of them still when all is reclassified, …`. */
export function summary({ broken, reclassify, reviews }: TierReport): string {
  const left = broken.filter(({ resulting }) => resulting).length;
  const rules = new Set(broken.map(({ rule }) => rule)).size;
  return [
    counted(reviews.length, "component"),
    rules === 0
      ? "no rules broken"
      : `${counted(rules, "rule")} broken in ${counted(broken.length, "place")}`,
    ...(left < broken.length ? [`${left} of them still when all is reclassified`] : []),
    `${reclassify.length === 0 ? "none" : reclassify.length.toLocaleString("en-US")} to reclassify`,
  ].join(", ");
}

/** Name, tier, and `yes`, `yes +` where the reclassification brings it, `no`, `–` without a rule. */
function reviewCells(review: Review): string[] {
  const asked = REVIEW_NAMES.map((name) => {
    if (review[name] === null) return "–";
    return !review[name] ? "no" : review.added.includes(name) ? "yes +" : "yes";
  });
  return [nameText(review.component), String(review.tier), ...asked];
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
