import { zoneOf, type Origin } from "../../../result/origin.js";
import { questionArguments, type Question } from "../../../result/question.js";
import { CHANGED } from "../../../result/changed.js";
import { askAgain, derivedQuestion } from "../../../lab/ask-again.js";
import type { Lab } from "../../../lab/connect.js";
import { compareResults, type Differences } from "../../../result/compare-results.js";
import { addressMask } from "../../../mask/addresses.js";
import { MASKED, maskResult } from "../../../mask/mask-result.js";
import { versionsOf } from "../../../mask/versions.js";
import { messageOf, openFolder, readFolder } from "../folder/manifest.js";
import { readResultFile } from "../folder/result-file.js";

/** What the database answers now to the question of a figure. */
export interface AnswerNow {
  readonly figure: string;
  /** The zone in which its times are told: that of its range. */
  readonly timeZone?: string;
  /** Missing where it was not asked. */
  readonly differences?: Differences;
  /** Why it was not asked, or what the server said. */
  readonly reason?: string;
  /** True where asking it failed: it should have been answered. */
  readonly failed?: true;
  /** Another database than the one that is asked now, where the first answer came from one. */
  readonly source?: string;
}

/** SQL out of a folder that would run: whoever wrote the folder chose it. */
export interface ToRun {
  readonly figure: string;
  readonly sql: string;
  /** Its range and parameters, as JSON. */
  readonly values: string;
}

/**
 * Asks the questions of a postmortem's figures again, of the databases as they are now, and compares
 * the numbers. What a postmortem masks is masked in the new answers too.
 *
 * @param mayRun whether SQL of the folder may run, shown before; without it none does.
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function rerunPostmortem(
  directory: string,
  lab: Lab,
  mayRun: (sql: ToRun) => Promise<boolean> | boolean = () => false,
): Promise<AnswerNow[]> {
  const { folder, manifest } = await openFolder(directory);
  const { record, data } = await readFolder(folder, manifest);
  const answers: AnswerNow[] = [];
  for (const { name, kind } of record?.figures ?? []) {
    if (kind === "picture") {
      answers.push({ figure: name, reason: "it is a picture that was saved" });
      continue;
    }
    try {
      const before = await readResultFile(data.get(name) ?? new Uint8Array());
      const { question, source } = before.origin;
      if (question === undefined) {
        const reason = whyNot(before.origin);
        answers.push({ figure: name, reason });
        continue;
      }
      const own = ownSql(name, question);
      if (own !== undefined && !(await mayRun(own))) {
        answers.push({
          figure: name,
          reason: "its SQL was not allowed to run; say yes at the terminal, or pass --yes",
        });
        continue;
      }
      const fresh = await askAgain(lab, question);
      const mask = addressMask(versionsOf([fresh]), new Map());
      const now = record?.masked ? maskResult(fresh, mask) : fresh;
      answers.push({
        figure: name,
        timeZone: zoneOf(before.origin),
        differences: compareResults(before, now),
        ...(source !== fresh.origin.source && { source }),
      });
    } catch (error) {
      answers.push({ figure: name, reason: messageOf(error), failed: true });
    }
  }
  return answers;
}

/** The SQL of a question that is free SQL: the texts of others are values, bound and never run. */
function ownSql(figure: string, question: Question): ToRun | undefined {
  const derived = derivedQuestion(question);
  if (derived !== undefined) return ownSql(figure, derived);
  if (question.ask !== "query") return undefined;
  const [sql, ...values] = questionArguments(question);
  return { figure, sql: String(sql), values: JSON.stringify(values) };
}

function whyNot({ sql, notes }: Origin): string {
  if (sql === "") return "its rows come from no database";
  if (notes.some((note) => note.startsWith(CHANGED)))
    return "its rows were changed after the answer";
  return notes.some((note) => note.startsWith(MASKED))
    ? "its question held an address, which is masked"
    : "it was asked of the present, or with a function or an object of the notebook, which no file can hold";
}
