import { ProbelabError } from "../base/error.js";
import { isArqueroTable } from "../result/arquero-table.js";
import { resultOfRows, resultOfTable } from "../result/own-rows.js";
import { isResult, type Result } from "../result/result.js";
import { isPromise, shownValue } from "../base/text.js";

const QUESTION = "await lab.measurements.counts({ range })";

/**
 * What was passed as a Result: one as it is, an Arquero table and plain objects with an origin that
 * says no more of them than is known.
 *
 * @param call what was called, `chart.line` or `table`.
 * @throws ProbelabError for anything else, as plain JavaScript and `any` allow, with what to pass.
 */
export function resultOf(value: unknown, call: string): Result {
  if (isResult(value)) return value;
  if (isArqueroTable(value)) return resultOfTable(value);
  if (Array.isArray(value)) return resultOfRows(checkRows(value, call));
  const can = cant(call);
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
  throw new ProbelabError(
    `${can(described(value))}: pass a Result, as lab's questions give it, ${call}(${QUESTION}), or rows of your own, ${call}([{ t: new Date("2026-05-04"), runs: 12 }]).`,
  );
}

/** A list of plain objects, each a row. */
function checkRows(list: readonly unknown[], call: string): readonly object[] {
  const bad = list.find((row) => !isRow(row));
  if (bad === undefined && list.every(isRow)) return list;
  const what = isResult(bad) ? "a Result (one chart draws one)" : described(bad);
  throw new ProbelabError(
    `${cant(call)(`a list that holds ${what}`)}: pass rows, ${call}([{ t: new Date("2026-05-04"), runs: 12 }]).`,
  );
}

function isRow(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // A cell may have its own Object.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function cant(call: string): (what: string) => string {
  return (what) => (call === "table" ? `Can't show ${what} as a table` : `Can't draw ${what}`);
}

/** A chart is called a Chart rather than shown with its thousand rows. */
function described(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  const maker =
    typeof value === "object" && value !== null
      ? (value as { constructor?: { name?: unknown } }).constructor?.name
      : undefined;
  return typeof maker === "string" && /^[A-Z]\w*$/.test(maker) && maker !== "Object"
    ? `a ${maker}`
    : shownValue(value);
}
