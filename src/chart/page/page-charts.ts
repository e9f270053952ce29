import { ProbelabError } from "../../error.js";
import { isPromise, shownValue } from "../check-options.js";
import { Chart } from "../chart-value.js";
import { Result } from "../../result/result.js";
import { Table } from "../table.js";

const SUCH = "chart.page([chart.line(result)])";

/** The charts of a page, of one chart or a list. @throws ProbelabError for none, or anything else. */
export function pageCharts(given: unknown): readonly Chart[] {
  const charts: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (charts.length === 0 || given === undefined || given === null) {
    throw new ProbelabError(`Can't make a page of no charts: pass at least one, ${SUCH}.`);
  }
  for (const chart of charts) checkChart(chart);
  return charts as readonly Chart[];
}

function checkChart(value: unknown): void {
  if (value instanceof Chart || isChart(value)) return;
  if (isPromise(value)) {
    throw new ProbelabError(
      "Can't put a Promise on a page: write await before the question, chart.page([chart.line(await lab.measurements.counts({ range }))]).",
    );
  }
  if (value instanceof Table) {
    throw new ProbelabError(
      `Can't put a table on a page, which holds charts: pass charts, ${SUCH}, and show the table beside it, or add both to a postmortem.`,
    );
  }
  const what = value instanceof Result ? "a Result" : shownValue(value);
  throw new ProbelabError(`Can't put ${what} on a page: pass charts, ${SUCH}.`);
}

/** Of another copy of this library. */
function isChart(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { spec, svg, png } = value as Partial<Chart>;
  return typeof spec === "object" && typeof svg === "function" && typeof png === "function";
}
