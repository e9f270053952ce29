import { ProbelabError } from "../base/error.js";
import { isPromise, shownValue } from "../base/text.js";
import { isArqueroTable } from "../result/arquero-table.js";
import { resultOfRows, resultOfTable } from "../result/own-rows.js";
import { isResult, type Result } from "../result/result.js";

/** What was passed to `call`, as a Result. @throws ProbelabError with what to pass instead. */
export function resultOf(value: unknown, call: string): Result {
  if (isResult(value)) return value;
  if (isArqueroTable(value)) return resultOfTable(value);
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list?.every(isRow)) return resultOfRows(list);
  const question = `${call}(await lab.measurements.counts({ range }))`;
  const ownRows = `${call}([{ t: new Date("2026-05-04"), runs: 12 }])`;
  const bad = list?.find((row) => !isRow(row));
  const [what, remedy] = isPromise(value)
    ? ["a Promise", `write await before the question, ${question}`]
    : list
      ? [
          `a list that holds ${isResult(bad) ? "a Result (one chart draws one)" : described(bad)}`,
          `pass rows, ${ownRows}`,
        ]
      : [
          described(value),
          `pass a Result, as lab's questions give it, ${question}, or rows of your own, ${ownRows}`,
        ];
  const action = call === "table" ? `show ${what} as a table` : `draw ${what}`;
  throw new ProbelabError(`Can't ${action}: ${remedy}.`);
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
