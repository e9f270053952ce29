import { count } from "../../../chart/draw-rows.js";
import { cleanText, textOf } from "../../../chart/label.js";
import type { Value } from "../../../result/result.js";
import { formatInstant } from "../../../time/time-zone.js";
import type { Differences } from "./compare-results.js";
import type { AnswerNow } from "./rerun.js";
import { stateLine } from "./state-line.js";

const SHOWN = 12;

/** True where the database gives every number as it was, of all the figures that were asked again. */
export function sameAnswers(answers: readonly AnswerNow[]): boolean {
  return answers.every(
    ({ differences, failed }) =>
      failed !== true && (differences === undefined || isSame(differences)),
  );
}

/** The answers for a console: which numbers changed. */
export function answersText(answers: readonly AnswerNow[]): string {
  return `${[...answers.flatMap(answerLines), answersLine(answers)].join("\n")}\n`;
}

function answerLines({ figure, differences, reason, failed }: AnswerNow): string[] {
  if (differences === undefined)
    return [
      stateLine(failed ? "FAILED" : "not asked", `${figure}: ${cleanText(reason ?? "", 1_000)}`),
    ];
  const { rows, changed, gone, come, columns } = differences;
  if (isSame(differences)) {
    return [
      stateLine(
        "ok",
        `${figure}: asked again, ${count(rows, "row", "rows")}, every number as it was`,
      ),
    ];
  }
  const told = [
    ...columns.map((name) => `column ${clean(name)} is in only one of the answers`),
    ...changed.map(
      ({ row, column, before, now }) =>
        `${rowText(row, differences)}: ${clean(column)} ${valueText(before)} → ${valueText(now)}`,
    ),
    ...gone.map((row) => `${rowText(row, differences)}: is no more`),
    ...come.map((row) => `${rowText(row, differences)}: is new`),
  ];
  const hidden = told.length - SHOWN;
  return [
    stateLine(
      "CHANGED",
      `${figure}: asked again, ${count(told.length, "difference", "differences")} in ${count(rows, "row", "rows")}`,
    ),
    ...told.slice(0, SHOWN).map((line) => `           ${line}`),
    ...(hidden > 0 ? [`           … and ${hidden.toLocaleString("en-US")} more`] : []),
  ];
}

function answersLine(answers: readonly AnswerNow[]): string {
  const asked = answers.filter(({ differences }) => differences !== undefined);
  const changed = asked.filter(({ differences }) => differences && !isSame(differences));
  const failed = answers.filter((each) => each.failed === true).length;
  const rest = answers.length - asked.length - failed;
  const elsewhere = [...new Set(asked.flatMap(({ source }) => source ?? []))];
  return [
    ...(changed.length > 0
      ? [
          `The database gives other numbers for ${changed.length} of ${count(asked.length, "figure", "figures")}.`,
        ]
      : asked.length > 0
        ? [`The database gives the same numbers for ${count(asked.length, "figure", "figures")}.`]
        : []),
    ...(failed > 0 ? [`${count(failed, "figure", "figures")} could not be asked again.`] : []),
    ...(rest > 0 ? [`${count(rest, "figure was", "figures were")} not asked again.`] : []),
    ...(elsewhere.length > 0
      ? [`The saved numbers came from ${elsewhere.map((each) => cleanText(each, 200)).join(", ")}.`]
      : []),
  ].join(" ");
}

function isSame({ changed, gone, come, columns }: Differences): boolean {
  return changed.length + gone.length + come.length + columns.length === 0;
}

function rowText(row: readonly Value[], { keys }: Differences): string {
  return keys.length === 0 ? `row ${textOf(row[0])}` : row.map(valueText).join(", ");
}

function valueText(value: Value): string {
  if (value === null || value === undefined) return "(none)";
  if (value instanceof Date) return `${formatInstant(value, "UTC")}`;
  if (typeof value === "number")
    return value.toLocaleString("en-US", { maximumSignificantDigits: 12 });
  return clean(textOf(value));
}

function clean(text: string): string {
  return cleanText(text, 200);
}
