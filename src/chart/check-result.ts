import { ProbelabError } from "../error.js";
import { Result } from "../result/result.js";
import { isPromise, shownValue } from "./check-options.js";

const QUESTION = "await lab.measurements.counts({ range })";

/**
 * Says what to pass where something else than a Result came, as plain JavaScript and `any` allow.
 *
 * @param call what was called, `chart.line` or `table`.
 * @throws ProbelabError for what is no Result.
 */
export function checkResult(value: unknown, call: string): asserts value is Result {
  if (value instanceof Result || isResult(value)) return;
  const can = (what: string): string =>
    call === "table" ? `Can't show ${what} as a table` : `Can't draw ${what}`;
  if (isPromise(value)) {
    throw new ProbelabError(
      `${can("a Promise")}: write await before the question, ${call}(${QUESTION}).`,
    );
  }
  const members = typeof value === "object" && value !== null ? value : {};
  if ("table" in members && "origin" in members) {
    throw new ProbelabError(
      `${can("a copy of a Result's members")}: pass the Result itself; with other rows it is ${call}(result.with(table)).`,
    );
  }
  const rows = "numRows" in members && typeof members.numRows === "function";
  if (rows || Array.isArray(value)) {
    const what = rows ? "an Arquero table" : "a list";
    throw new ProbelabError(
      `${can(what)}, which doesn't tell where its rows come from: pass a Result, as lab's questions give it; with your own rows as an Arquero table it is ${call}(result.with(table)).`,
    );
  }
  throw new ProbelabError(
    `${can(described(value))}: pass a Result, as lab's questions give it, ${call}(${QUESTION}).`,
  );
}

/** Of another copy of this library. */
function isResult(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { columnNames, column, origin } = value as Partial<Result>;
  return Array.isArray(columnNames) && typeof column === "function" && origin !== undefined;
}

/** A chart is called a Chart rather than shown with its thousand rows. */
function described(value: unknown): string {
  const maker =
    typeof value === "object" && value !== null
      ? (value as { constructor?: { name?: unknown } }).constructor?.name
      : undefined;
  return typeof maker === "string" && /^[A-Z]\w*$/.test(maker) && maker !== "Object"
    ? `a ${maker}`
    : shownValue(value);
}
