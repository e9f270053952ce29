import { ProbelabError } from "../base/error.js";
import { questionArguments, type Question } from "../result/question.js";
import { Result } from "../result/result.js";
import type { Lab } from "./connect.js";

const ROOMS = ["measurements", "runs", "logs", "testHelpers"] as const;

/**
 * Asks a Result's question again: the same call with the same range, on the databases as they are now.
 *
 * @throws ProbelabError for a call that the lab doesn't have (a file may name any), or as the call does.
 * @example
 * const now = await askAgain(lab, counts.origin.question);
 */
export async function askAgain(lab: Lab, question: Question): Promise<Result> {
  const [first = "", second, ...more] = question.ask.split(".");
  const room = ROOMS.find((name) => name === first);
  const holder: object | undefined =
    room !== undefined && second !== undefined && more.length === 0
      ? lab[room]
      : question.ask === "query" || question.ask === "values"
        ? lab
        : undefined;
  const name = second ?? first;
  const ask: unknown =
    holder !== undefined && Object.hasOwn(holder, name)
      ? (holder as Record<string, unknown>)[name]
      : undefined;
  const answer: unknown =
    typeof ask === "function"
      ? await (ask as (...given: unknown[]) => unknown)(...questionArguments(question))
      : undefined;
  if (answer instanceof Result) return answer;
  throw new ProbelabError(
    `Can't ask ${JSON.stringify(question.ask)} again: this probelab has no such question; use the version that wrote it.`,
  );
}
