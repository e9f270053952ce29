import type { ColumnTable } from "arquero";
import { join } from "node:path";
import { cleanText, counted } from "../../../base/text.js";
import { mapTexts } from "../../../mask/mask-result.js";
import {
  answerText,
  differences,
  readAnswer,
  readQuestion,
  rowsOf,
  type Question,
} from "./answer-file.js";
import { messageOf, openFolder, readPlain, sha256 } from "./manifest.js";

/** The outcome of asking a figure's SQL again. */
export interface AnswerNow {
  readonly figure: string;
  /** `same` or `changed` where it was answered, `failed` where it should have been. */
  readonly state: "same" | "changed" | "not asked" | "failed";
  /** The cells that differ, or the reason. */
  readonly said: readonly string[];
}

/** SQL that would run. Whoever wrote the folder chose it. */
export interface ToRun extends Question {
  readonly figure: string;
}

/**
 * Asks the SQL of a postmortem's figures again and compares the rows with those of the folder.
 * New answers are masked as the folder is.
 *
 * @param ask asks a database. @param mayRun is shown all SQL first; without its yes none runs.
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function rerunPostmortem(
  directory: string,
  ask: (question: Question) => Promise<ColumnTable>,
  mayRun: (all: readonly ToRun[]) => Promise<boolean> | boolean,
): Promise<AnswerNow[]> {
  const { folder, manifest } = await openFolder(directory);
  const names = Object.keys(manifest.files).flatMap(
    (path) => /^queries\/([\w-]+)\.sql$/.exec(path)?.[1] ?? [],
  );
  const questions = new Map<string, Question & { readonly bytes: Buffer }>();
  const answers = new Map<string, AnswerNow>();
  const say = (figure: string, state: AnswerNow["state"], ...said: string[]) =>
    answers.set(figure, { figure, state, said });
  for (const figure of names) {
    const path = `queries/${figure}.parquet`;
    const listed = manifest.files[path];
    if (listed === undefined) {
      say(
        figure,
        "not asked",
        "its query is masked, or no single query of under 5,000 rows gave its rows",
      );
      continue;
    }
    try {
      const bytes = await readPlain(join(folder, path));
      if (sha256(bytes) !== listed.sha256) throw new Error(`${path} is not what was saved`);
      questions.set(figure, { ...readQuestion(bytes), bytes });
    } catch (error) {
      say(figure, "failed", messageOf(error));
    }
  }
  const all = [...questions].map(([figure, { sql, parameters, source }]) => {
    return { figure, sql, parameters, source };
  });
  const allowed = all.length > 0 && (await mayRun(all));
  for (const [figure, { bytes, ...question }] of questions) {
    if (!allowed) {
      say(
        figure,
        "not asked",
        "its SQL was not allowed to run: say yes at the terminal, or pass --yes",
      );
      continue;
    }
    try {
      const before = await readAnswer(bytes);
      const now = rowsOf(await ask(question));
      const rowsNow = mapTexts(now.rows, (text) => answerText(text, manifest.masked));
      const found = differences(before, { ...now, rows: rowsNow });
      const rows = counted(before.rows.length, "row");
      if (found.length === 0) say(figure, "same", `${rows}, every value as it was`);
      else say(figure, "changed", `${counted(found.length, "difference")} in ${rows}`, ...found);
    } catch (error) {
      say(figure, "failed", messageOf(error));
    }
  }
  return names.map((figure) => answers.get(figure)!);
}

const WORDS = { same: "ok", changed: "CHANGED", "not asked": "not asked", failed: "FAILED" };
const MOST_SHOWN = 12;

/** The answers for a console: the cells that differ. */
export function answersText(answers: readonly AnswerNow[]): string {
  const count = (...states: AnswerNow["state"][]) =>
    answers.filter(({ state }) => states.includes(state)).length;
  const lines = answers.flatMap(({ figure, state, said: [first = "", ...more] }) => [
    `${WORDS[state].padEnd(9)} ${figure}: ${cleanText(first, 1_000)}`,
    ...more.slice(0, MOST_SHOWN).map((text) => `           ${cleanText(text, 500)}`),
    ...(more.length > MOST_SHOWN
      ? [`           … and ${counted(more.length - MOST_SHOWN, "more", "more")}`]
      : []),
  ]);
  const [asked, changed] = [counted(count("same", "changed"), "figure"), count("changed")];
  const verdict = [
    ...(changed > 0 ? [`The database gives other values for ${changed} of ${asked}.`] : []),
    ...(changed === 0 && count("same") > 0
      ? [`The database gives the same values for ${asked}.`]
      : []),
    ...(count("failed") > 0 ? [`${counted(count("failed"), "figure")} could not be asked.`] : []),
    ...(count("not asked") > 0
      ? [`${counted(count("not asked"), "figure was", "figures were")} not asked.`]
      : []),
  ];
  return `${[...lines, verdict.join(" ")].join("\n")}\n`;
}
