import { ProbelabError } from "../base/error.js";
import { alarm } from "../change/alarm.js";
import type { ChangeSource } from "../change/cells.js";
import { changePoints } from "../change/change-points.js";
import { compare, type CompareOptions } from "../change/compare.js";
import { explain, type ExplainOptions } from "../change/explain.js";
import type { Finding } from "../change/finding.js";
import { forecast } from "../change/forecast.js";
import type { FunnelOptions } from "../change/funnel.js";
import type { ReleaseOptions } from "../change/release-report.js";
import { cubeSource, cubeSourceOf } from "../query/cube.js";
import { question, type Question, questionArguments } from "../result/question.js";
import { Result } from "../result/result.js";

/** What of a lab asks questions: each property of the first four is a function that asks one. */
interface Asks {
  readonly measurements: object;
  readonly runs: object;
  readonly logs: object;
  readonly testHelpers: object;
  readonly query: unknown;
  readonly funnel: (options: FunnelOptions) => Promise<Finding>;
  readonly release: (version: string, options: ReleaseOptions) => Promise<Finding>;
}

/** What is told of the answer of another question. */
const SERIES: Readonly<Record<string, (series: Result, options: never) => Promise<Result>>> = {
  changePoints: async (series, options) => (await changePoints(series, options)).result,
  forecast: async (series, options) => (await forecast(series, options)).result,
  alarm: async (series, options) => (await alarm(series, options)).result,
  "alarm.buckets": async (series, options) => (await alarm(series, options)).buckets,
};

/** The question on whose answer this one is told; undefined where it is asked of the database itself. */
export function derivedQuestion(question: Question): Question | undefined {
  if (!Object.hasOwn(SERIES, question.ask)) return undefined;
  const [of] = questionArguments(question);
  return of as Question;
}

const ROOMS = ["measurements", "runs", "logs", "testHelpers"] as const;

/**
 * Asks a Result's question again: the same call with the same range, on the databases as they are now.
 *
 * @throws ProbelabError for a call that the lab doesn't have (a file may name any), or as the call does.
 * @example
 * const now = await askAgain(lab, counts.origin.question);
 */
export async function askAgain(lab: Asks, question: Question): Promise<Result> {
  // What it was called before it moved.
  const name = question.ask === "values" ? "measurements.values" : question.ask;
  const given = questionArguments(question);
  if (name === "explain" || name === "compare") {
    const [room, options] = given;
    const source = lab[ROOMS.find((one) => one === room) ?? "measurements"] as ChangeSource;
    const finding = await (name === "explain"
      ? explain(source, options as ExplainOptions)
      : compare(source, options as CompareOptions));
    return finding.result;
  }
  if (name === "funnel") return (await lab.funnel(given[0] as FunnelOptions)).result;
  if (name === "release") {
    return (await lab.release(given[0] as string, given[1] as ReleaseOptions)).result;
  }
  const derived = derivedQuestion(question);
  if (derived !== undefined) {
    const series = await askAgain(lab, derived);
    return SERIES[name]!(series, given[1] as never);
  }
  const [first = "", second, ...more] = name.split(".");
  const room = ROOMS.find((one) => one === first);
  const holder: object | undefined = room === undefined ? undefined : lab[room];
  const ask: unknown =
    name === "query"
      ? lab.query
      : holder !== undefined &&
          second !== undefined &&
          more.length === 0 &&
          Object.hasOwn(holder, second)
        ? (holder as Record<string, unknown>)[second]
        : undefined;
  const answer: unknown =
    typeof ask === "function"
      ? await (ask as (...given: unknown[]) => unknown)(...given)
      : undefined;
  if (answer instanceof Result) return answer;
  throw new ProbelabError(
    `Can't ask ${JSON.stringify(question.ask)} again: this probelab has no such question; use the version that wrote it.`,
  );
}

/** A function of the lab. */
type Ask = (...given: never[]) => unknown;

/**
 * The function, whose Results remember what was asked, so that it can be asked again. What is no
 * Result passes as it is.
 */
export function remember<F extends Ask>(name: string, ask: F): F {
  return ((...given: Parameters<F>) => {
    // Of what it needs a question without options says more than "undefined" does.
    const answer = ask(...((given.length === 0 ? [{}] : given) as Parameters<F>));
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
  const remembered = Object.fromEntries(
    Object.entries(questions).map(([name, ask]) => [name, remember(`${room}.${name}`, ask as Ask)]),
  ) as T;
  const source = cubeSourceOf(questions);
  return source === undefined ? remembered : cubeSource(remembered, { ...source, room });
}
