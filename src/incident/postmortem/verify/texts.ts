import { cleanText, counted, textOf } from "../../../base/text.js";
import type { Value } from "../../../result/result.js";
import { formatInstant } from "../../../time/time-zone.js";
import type { Differences } from "../../../result/compare-results.js";
import type { AnswerNow } from "./rerun.js";
import type { RedrawnFile, Verification } from "./verify.js";

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
  const isChart = ({ path }: RedrawnFile) => path.endsWith(".png");
  const same = redrawn.filter(({ state }) => state === "same" || state === "same picture");
  const [charts, others] = [same.filter(isChart), same.filter((file) => !isChart(file))];
  const rounded = charts.reduce((sum, { pixels = 0 }) => sum + pixels, 0);
  const rounding = rounded === 0 ? "" : ` but for ${counted(rounded, "pixel")} of rounding`;
  const skipped = redrawn.filter(({ state }) => state === "other version");
  const unless = <T>(list: readonly T[], line: () => string): string[] =>
    list.length === 0 ? [] : [line()];
  const lines = [
    `${cleaned(title)}, saved at ${formatInstant(new Date(savedAt), "UTC")} UTC by probelab ${cleaned(versions["probelab"] ?? "")}`,
    stateLine("ok", `${counted(kept, "file has", "files have")} the bytes that were saved`),
    ...wrong.map(({ path, state }) => stateLine(state.toUpperCase(), path)),
    ...added.map(({ path }) => stateLine("added", `${path} (not part of the postmortem)`)),
    ...(undrawn === undefined ? [] : [stateLine("UNDRAWN", cleaned(undrawn))]),
    ...unless(charts, () =>
      stateLine(
        "ok",
        `${counted(charts.length, "chart")} drawn again from data/: the same pictures${rounding}`,
      ),
    ),
    ...unless(others, () =>
      stateLine("ok", `${counted(others.length, "other file")} written again from data/: the same`),
    ),
    ...redrawn
      .filter(({ state }) => state === "differs" || state === "missing")
      .map(({ path, state, pixels }) => {
        if (state === "missing") return stateLine("MISSING", path);
        const by =
          pixels === undefined ? "" : ` (${counted(pixels, "pixel differs", "pixels differ")})`;
        return stateLine("DIFFERS", `${path} is not what the data gives${by}`);
      }),
    ...unless(skipped, () =>
      stateLine(
        "skipped",
        `${counted(skipped.length, "file")} that other versions of probelab or Node, or other fonts, write with other bytes: ${skipped.map(({ path }) => path).join(", ")}`,
      ),
    ),
  ];
  const but = added.length > 0 ? `, but for ${counted(added.length, "added file")}` : "";
  const told =
    skipped.length > 0
      ? `, as far as this version and its fonts can tell: ${counted(skipped.length, "file was", "files were")} compared by hash alone`
      : "";
  const verdict = intact
    ? `The postmortem is as it was saved${but}${told}.`
    : "The postmortem is not as it was saved.";
  return `${[...lines, verdict].join("\n")}\n`;
}

function cleaned(text: string): string {
  return cleanText(text, 200);
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
  const asked = answers.filter(({ differences }) => differences !== undefined);
  const changed = asked.filter(
    ({ differences }) => differences && !isUnchanged(differences),
  ).length;
  const failed = answers.filter((each) => each.failed === true).length;
  const rest = answers.length - asked.length - failed;
  const elsewhere = [...new Set(asked.flatMap(({ source }) => source ?? []))];
  const all = counted(asked.length, "figure");
  const told = [
    ...(changed > 0 ? [`The database gives other numbers for ${changed} of ${all}.`] : []),
    ...(changed === 0 && asked.length > 0
      ? [`The database gives the same numbers for ${all}.`]
      : []),
    ...(failed > 0 ? [`${counted(failed, "figure")} could not be asked again.`] : []),
    ...(rest > 0 ? [`${counted(rest, "figure was", "figures were")} not asked again.`] : []),
    ...(elsewhere.length > 0
      ? [`The saved numbers came from ${elsewhere.map(cleaned).join(", ")}.`]
      : []),
  ];
  return `${[...answers.flatMap(answerLines), told.join(" ")].join("\n")}\n`;
}

function answerLines({ figure, differences, reason, failed, timeZone }: AnswerNow): string[] {
  if (differences === undefined) {
    const said = `${figure}: ${cleanText(reason ?? "", 1_000)}`;
    return [stateLine(failed ? "FAILED" : "not asked", said)];
  }
  const { rows, keys, changed, gone, come, columns } = differences;
  const again = `${figure}: asked again`;
  if (isUnchanged(differences)) {
    return [stateLine("ok", `${again}, ${counted(rows, "row")}, every number as it was`)];
  }
  const shown = (value: Value) => shownCell(value, timeZone ?? "UTC");
  const named = (row: readonly Value[]) =>
    row.length === 0 ? "" : `${row.map(shown).join(", ")}: `;
  const told = [
    ...columns.map((name) => `column ${cleaned(name)} is in only one of the answers`),
    ...changed.map(
      ({ row, column, before, now }) =>
        `${named(row)}${cleaned(column)} ${shown(before)} → ${shown(now)}`,
    ),
    ...gone.map((row) => `${named(row)}is no more`),
    ...come.map((row) => `${named(row)}is new`),
  ];
  const hidden = told.length - MOST_DIFFERENCES;
  // A row that nothing names and that changed is one that is no more and one that is new.
  const headline =
    keys.length === 0 && gone.length + come.length > 0
      ? `of ${counted(rows, "row")} that nothing names ${counted(gone.length, "is", "are")} no more, ${counted(come.length, "is", "are")} new`
      : `${counted(told.length, "difference")} in ${counted(rows, "row")}`;
  return [
    stateLine("CHANGED", `${again}, ${headline}`),
    ...told.slice(0, MOST_DIFFERENCES).map((line) => `           ${line}`),
    ...(hidden > 0 ? [`           … and ${hidden.toLocaleString("en-US")} more`] : []),
  ];
}

function isUnchanged({ changed, gone, come, columns }: Differences): boolean {
  return changed.length + gone.length + come.length + columns.length === 0;
}

function shownCell(value: Value, timeZone: string): string {
  if (value === null || value === undefined) return "(none)";
  if (value instanceof Date) {
    return `${formatInstant(value, timeZone)}${timeZone === "UTC" ? "" : ` ${timeZone}`}`;
  }
  return typeof value === "number"
    ? value.toLocaleString("en-US", { maximumSignificantDigits: 12 })
    : cleaned(textOf(value));
}
