import { ProbelabError } from "../base/error.js";
import { isPromise, shownValue } from "../base/text.js";
import { isArqueroTable } from "../result/arquero-table.js";
import { resultOfRows, resultOfTable } from "../result/own-rows.js";
import { isResult, type Result } from "../result/result.js";

/** What was passed to `call`, as a Result. @throws ProbelabError with what to pass instead. */
export function resultOf(value: unknown, call: string): Result {
  if (isResult(value)) return value;
  if (isArqueroTable(value)) return resultOfTable(value);
  const refusal = (what: string, remedy: string): ProbelabError =>
    new ProbelabError(
      `Can't ${call === "table" ? `show ${what} as a table` : `draw ${what}`}: ${remedy}.`,
    );
  const question = `${call}(await lab.measurements.counts({ range }))`;
  const ownRows = `${call}([{ t: new Date("2026-05-04"), runs: 12 }])`;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const bad = list.find((row) => !isRow(row));
    if (list.every(isRow)) return resultOfRows(list);
    const what = isResult(bad) ? "a Result (one chart draws one)" : described(bad);
    throw refusal(`a list that holds ${what}`, `pass rows, ${ownRows}`);
  }
  if (isPromise(value)) {
    throw refusal("a Promise", `write await before the question, ${question}`);
  }
  throw refusal(
    described(value),
    `pass a Result, as lab's questions give it, ${question}, or rows of your own, ${ownRows}`,
  );
}

function isRow(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // A cell may have its own Object.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A chart is called a Chart rather than shown with its thousand rows. */
function described(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  const { name = "" } = (value as { constructor?: { name?: string } } | null)?.constructor ?? {};
  return typeof value === "object" && /^(?!Object$)[A-Z]\w*$/.test(name)
    ? `a ${name}`
    : shownValue(value);
}
