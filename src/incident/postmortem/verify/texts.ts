import { cleanText, counted, textOf } from "../../../base/text.js";
import type { Value } from "../../../result/result.js";
import { formatInstant } from "../../../time/time-zone.js";
import type { Differences } from "./compare-results.js";
import type { AnswerNow } from "./rerun.js";
import type { RedrawnFile, Verification } from "./verify.js";

const MOST_FILES = 5;
const MOST_DIFFERENCES = 12;

/** A line of a report: how something stands, then what it is, which may be a stranger's name of a file. */
function stateLine(state: string, text: string): string {
  return `${state.padEnd(9)} ${cleanText(text, 2_000)}`;
}

/** A verification for a console: what is right in a line, what is wrong file by file. */
export function verificationText(verification: Verification): string {
  const { manifest, files, redrawn, undrawn, intact } = verification;
  const { title, savedAt, versions } = manifest;
  const wrong = files.filter(({ state }) => state === "changed" || state === "missing");
  const added = files.filter(({ state }) => state === "added");
  const kept = files.length - wrong.length - added.length;
  const lines = [
    `${cleaned(title)}, saved at ${formatInstant(new Date(savedAt), "UTC")} UTC by probelab ${cleaned(versions["probelab"] ?? "")}`,
    stateLine("ok", `${counted(kept, "file has", "files have")} the bytes that were saved`),
    ...wrong.map(({ path, state }) => stateLine(state.toUpperCase(), path)),
    ...added.map(({ path }) => stateLine("added", `${path} (not part of the postmortem)`)),
    ...(undrawn === undefined
      ? redrawnLines(verification)
      : [stateLine("UNDRAWN", cleaned(undrawn))]),
    verdict(intact, redrawn, added.length),
  ];
  return `${lines.join("\n")}\n`;
}

function verdict(intact: boolean, redrawn: readonly RedrawnFile[], added: number): string {
  if (!intact) return "The postmortem is not as it was saved.";
  const version = redrawn.filter(({ state }) => state === "other version").length;
  const fonts = redrawn.filter(({ state }) => state === "other fonts").length;
  const but = added > 0 ? `, but for ${counted(added, "added file", "added files")}` : "";
  if (version + fonts === 0) return `The postmortem is as it was saved${but}.`;
  const what = [...(version > 0 ? ["version"] : []), ...(fonts > 0 ? ["machine"] : [])];
  return `The postmortem is as it was saved${but}, as far as this ${what.join(" and ")} can tell: ${counted(version + fonts, "file was", "files were")} compared by hash alone.`;
}

function redrawnLines({ redrawn, fonts }: Verification): string[] {
  const isSame = ({ state }: RedrawnFile) => state === "same" || state === "same picture";
  const isChart = ({ path }: RedrawnFile) => path.endsWith(".png");
  const charts = redrawn.filter((file) => isChart(file) && isSame(file));
  const others = redrawn.filter((file) => !isChart(file) && isSame(file));
  const elsewhere = redrawn.filter(({ state }) => state === "other version");
  const otherFonts = redrawn.filter(({ state }) => state === "other fonts");
  return [
    ...(charts.length > 0
      ? [
          stateLine(
            "ok",
            `${counted(charts.length, "chart", "charts")} drawn again from data/: the same pictures${rounding(charts)}`,
          ),
        ]
      : []),
    ...(others.length > 0
      ? [
          stateLine(
            "ok",
            `${counted(others.length, "other file", "other files")} written again from data/: the same`,
          ),
        ]
      : []),
    ...redrawn
      .filter(({ state }) => state === "differs" || state === "missing")
      .map(({ path, state, pixels }) =>
        stateLine(
          state.toUpperCase(),
          state === "missing"
            ? path
            : `${path} is not what the data gives${pixels === undefined ? "" : ` (${counted(pixels, "pixel differs", "pixels differ")})`}`,
        ),
      ),
    ...(elsewhere.length > 0
      ? [
          stateLine(
            "skipped",
            `${counted(elsewhere.length, "file", "files")} that other versions of probelab or Node write with other bytes`,
          ),
        ]
      : []),
    ...(otherFonts.length > 0 ? [stateLine("skipped", fontsText(otherFonts, fonts))] : []),
  ];
}

function fontsText(files: readonly RedrawnFile[], fonts: Verification["fonts"]): string {
  const { then = [], now = [] } = fonts ?? {};
  const paths = files.slice(0, MOST_FILES).map(({ path }) => path);
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : "";
  const [was, is] = [cleaned(then.join(", ")) || "no known font", cleaned(now.join(", "))];
  const here =
    is === "" ? "none here has them" : was === is ? "here in another version" : `here with ${is}`;
  return `${paths.join(", ")}${more}: characters that the shipped font has not were drawn with ${was}, ${here}`;
}

function cleaned(text: string): string {
  return cleanText(text, 200);
}

function rounding(charts: readonly RedrawnFile[]): string {
  const pixels = charts.reduce((sum, chart) => sum + (chart.pixels ?? 0), 0);
  return pixels === 0 ? "" : ` but for ${counted(pixels, "pixel", "pixels")} of rounding`;
}

/** True where the database gives every number as it was, of all the figures that were asked again. */
export function sameAnswers(answers: readonly AnswerNow[]): boolean {
  return answers.every(
    ({ differences, failed }) =>
      failed !== true && (differences === undefined || isUnchanged(differences)),
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
  if (isUnchanged(differences)) {
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
    ...columns.map((name) => `column ${cleaned(name)} is in only one of the answers`),
    ...changed.map(
      ({ row, column, before, now }) =>
        `${named(row)}${cleaned(column)} ${valueText(before)} → ${valueText(now)}`,
    ),
    ...gone.map((row) => `${named(row)}is no more`),
    ...come.map((row) => `${named(row)}is new`),
  ];
  const hidden = told.length - MOST_DIFFERENCES;
  return [
    stateLine("CHANGED", `${figure}: asked again, ${headline(differences)}`),
    ...told.slice(0, MOST_DIFFERENCES).map((line) => `           ${line}`),
    ...(hidden > 0 ? [`           … and ${hidden.toLocaleString("en-US")} more`] : []),
  ];
}

function answersLine(answers: readonly AnswerNow[]): string {
  const asked = answers.filter(({ differences }) => differences !== undefined);
  const changed = asked.filter(({ differences }) => differences && !isUnchanged(differences));
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

function isUnchanged({ changed, gone, come, columns }: Differences): boolean {
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
  return cleaned(textOf(value));
}
