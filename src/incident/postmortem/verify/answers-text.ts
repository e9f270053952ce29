import { counted } from "../../../base/text.js";
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

function answerLines({ figure, differences, reason, failed, timeZone }: AnswerNow): string[] {
  if (differences === undefined)
    return [
      stateLine(failed ? "FAILED" : "not asked", `${figure}: ${cleanText(reason ?? "", 1_000)}`),
    ];
  const { rows, changed, gone, come, columns } = differences;
  if (isSame(differences)) {
    return [
      stateLine(
        "ok",
        `${figure}: asked again, ${counted(rows, "row", "rows")}, every number as it was`,
      ),
    ];
  }
  const zone = timeZone ?? "UTC";
  const valueText = (value: Value) => valueWords(value, zone);
  const named = (row: readonly Value[]) =>
    row.length === 0 ? "" : `${row.map(valueText).join(", ")}: `;
  const told = [
    ...columns.map((name) => `column ${clean(name)} is in only one of the answers`),
    ...changed.map(
      ({ row, column, before, now }) =>
        `${named(row)}${clean(column)} ${valueText(before)} → ${valueText(now)}`,
    ),
    ...gone.map((row) => `${named(row)}is no more`),
    ...come.map((row) => `${named(row)}is new`),
  ];
  const hidden = told.length - SHOWN;
  return [
    stateLine("CHANGED", `${figure}: asked again, ${headline(differences)}`),
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
          `The database gives other numbers for ${changed.length} of ${counted(asked.length, "figure", "figures")}.`,
        ]
      : asked.length > 0
        ? [`The database gives the same numbers for ${counted(asked.length, "figure", "figures")}.`]
        : []),
    ...(failed > 0 ? [`${counted(failed, "figure", "figures")} could not be asked again.`] : []),
    ...(rest > 0 ? [`${counted(rest, "figure was", "figures were")} not asked again.`] : []),
    ...(elsewhere.length > 0
      ? [`The saved numbers came from ${elsewhere.map((each) => cleanText(each, 200)).join(", ")}.`]
      : []),
  ].join(" ");
}

function isSame({ changed, gone, come, columns }: Differences): boolean {
  return changed.length + gone.length + come.length + columns.length === 0;
}

function headline({ rows, keys, changed, gone, come, columns }: Differences): string {
  const all = changed.length + gone.length + come.length + columns.length;
  // A row that nothing names and that changed is one that is no more and one that is new.
  return keys.length === 0 && gone.length + come.length > 0
    ? `of ${counted(rows, "row", "rows")} that nothing names ${gone.length.toLocaleString("en-US")} ${gone.length === 1 ? "is" : "are"} no more, ${come.length.toLocaleString("en-US")} ${come.length === 1 ? "is" : "are"} new`
    : `${counted(all, "difference", "differences")} in ${counted(rows, "row", "rows")}`;
}

function valueWords(value: Value, timeZone: string): string {
  if (value === null || value === undefined) return "(none)";
  if (value instanceof Date)
    return `${formatInstant(value, timeZone)}${timeZone === "UTC" ? "" : ` ${timeZone}`}`;
  if (typeof value === "number")
    return value.toLocaleString("en-US", { maximumSignificantDigits: 12 });
  return clean(textOf(value));
}

function clean(text: string): string {
  return cleanText(text, 200);
}
