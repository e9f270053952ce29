import type { Origin } from "../../../result/origin.js";
import { CHANGED } from "../../../result/changed.js";
import { askAgain } from "../../../lab/ask-again.js";
import type { Lab } from "../../../lab/connect.js";
import { compareResults, type Differences } from "./compare-results.js";
import { MASKED, maskResult, mayHoldAddresses } from "../folder/mask-figure.js";
import { messageOf, openFolder, readFolder } from "../folder/read-folder.js";
import { readResultFile } from "../folder/result-file.js";

/** What the database answers now to the question of a figure. */
export interface AnswerNow {
  readonly figure: string;
  /** Missing where it was not asked. */
  readonly differences?: Differences;
  /** Why it was not asked, or what the server said. */
  readonly reason?: string;
  /** True where asking it failed: it should have been answered. */
  readonly failed?: true;
  /** Another database than the one that is asked now, where the first answer came from one. */
  readonly source?: string;
}

/**
 * Asks the questions of a postmortem's figures again, of the databases as they are now, and compares
 * the numbers. What a postmortem masks is masked in the new answers too.
 *
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function rerunPostmortem(directory: string, lab: Lab): Promise<AnswerNow[]> {
  const { folder, manifest } = await openFolder(directory);
  const { record, data } = await readFolder(folder, manifest);
  const answers: AnswerNow[] = [];
  for (const { name } of record?.figures ?? []) {
    try {
      const before = await readResultFile(data.get(name) ?? new Uint8Array());
      const { question, source } = before.origin;
      if (question === undefined) {
        const reason = whyNot(before.origin);
        answers.push({ figure: name, reason });
        continue;
      }
      const fresh = await askAgain(lab, question);
      const now = record?.masked && mayHoldAddresses(fresh.origin) ? maskResult(fresh) : fresh;
      answers.push({
        figure: name,
        differences: compareResults(before, now),
        ...(source !== fresh.origin.source && { source }),
      });
    } catch (error) {
      answers.push({ figure: name, reason: messageOf(error), failed: true });
    }
  }
  return answers;
}

function whyNot({ sql, notes }: Origin): string {
  if (sql === "") return "its rows come from no database";
  if (notes.some((note) => note.startsWith(CHANGED)))
    return "its rows were changed after the answer";
  return notes.some((note) => note.startsWith(MASKED))
    ? "its question held an address, which is masked"
    : "a part of its question had to be left out";
}
