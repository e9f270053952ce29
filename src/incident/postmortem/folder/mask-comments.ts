import { sqlParts } from "../../../database/sql-text.js";
import type { Origin } from "../../../result/origin.js";
import type { Result } from "../../../result/result.js";
import type { Change } from "../secrets.js";

/** The Result with the comments of its SQL changed, also in the question: what it asks stays. */
export function maskComments(result: Result, change: Change): Result {
  const { sql, question } = result.origin;
  const asked = question && maskQuestion(question, change);
  const masked = changedComments(sql, change);
  if (masked === sql && JSON.stringify(asked) === JSON.stringify(question)) return result;
  return result.with(result.table, { sql: masked, ...(asked && { question: asked }) });
}

function maskQuestion(
  question: NonNullable<Origin["question"]>,
  change: Change,
): NonNullable<Origin["question"]> {
  const [sql, ...others] = question.arguments;
  if (question.ask !== "query" || typeof sql !== "string") return question;
  return { ...question, arguments: [changedComments(sql, change), ...others] };
}

/** SQL whose comments are changed between their marks, and nothing else. */
function changedComments(sql: string, change: Change): string {
  return sqlParts(sql)
    .map(({ code, text }) =>
      code
        ? text
        : text.replace(
            /^(--|#[ !]|\/\*)([^]*?)(\*\/)?$/,
            (_, begin: string, said: string, end = "") => `${begin}${change(said)}${end}`,
          ),
    )
    .join("");
}
