import { ProbelabError } from "../../base/error.js";
import { isPromise, shownValue } from "../check-options.js";
import { Chart } from "../chart-value.js";
import { Result } from "../../result/result.js";
import { Table } from "../table.js";

const SUCH = "chart.page([chart.line(result)])";

/** The charts and tables of a page, of one or a list. @throws ProbelabError for none, or anything else. */
export function pageContents(given: unknown): readonly (Chart | Table)[] {
  const contents: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (contents.length === 0 || given === undefined || given === null) {
    throw new ProbelabError(`Can't make a page of no charts: pass at least one, ${SUCH}.`);
  }
  for (const each of contents) check(each);
  return contents as readonly (Chart | Table)[];
}

function check(value: unknown): void {
  if (value instanceof Chart || value instanceof Table || isChart(value) || isTable(value)) return;
  if (isPromise(value)) {
    throw new ProbelabError(
      "Can't put a Promise on a page: write await before the question, chart.page([chart.line(await lab.measurements.counts({ range }))]).",
    );
  }
  const what = value instanceof Result ? "a Result" : shownValue(value);
  throw new ProbelabError(`Can't put ${what} on a page: pass charts and tables, ${SUCH}.`);
}

// Of another copy of this library.

function isChart(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { spec, svg, png } = value as Partial<Chart>;
  return typeof spec === "object" && typeof svg === "function" && typeof png === "function";
}

function isTable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { html, model } = value as Partial<Table>;
  return typeof html === "string" && typeof model === "object";
}
