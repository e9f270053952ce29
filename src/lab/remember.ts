import { question } from "../result/question.js";
import { Result } from "../result/result.js";

/** A function of the lab. */
type Ask = (...given: never[]) => unknown;

/**
 * The function, whose Results remember what was asked, so that it can be asked again. What is no
 * Result passes as it is.
 */
export function remember<F extends Ask>(name: string, ask: F): F {
  return ((...given: Parameters<F>) => {
    const answer = ask(...given);
    if (!(answer instanceof Promise)) return answer;
    return answer.then((result: unknown) => {
      // One that says itself how it is asked again fixed what was left to "now".
      if (!(result instanceof Result) || result.origin.question !== undefined) return result;
      const asked = question(name, given);
      return asked === undefined ? result : result.with(result.table, { question: asked });
    });
  }) as F;
}

/** All functions of a room of the lab. */
export function rememberAll<T extends object>(room: string, questions: T): T {
  return Object.fromEntries(
    Object.entries(questions).map(([name, ask]) => [name, remember(`${room}.${name}`, ask as Ask)]),
  ) as T;
}
