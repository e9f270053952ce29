import type { TableModel } from "../../chart/table-model.js";
import { cleanText } from "../../chart/label.js";
import { pathText } from "./path-text.js";
import type { TierReport } from "./report.js";
import { nameText, reviewWord, summary, uncheckedText } from "./report-text.js";
import { REVIEW_NAMES } from "./reviews.js";

const MOST_ROWS = 200;

/** The report as tables: what is broken, what is reclassified, what is reviewed. */
export function reportTables(report: TierReport): TableModel[] {
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
