import type { ProgressListener, QueryProgress } from "../progress/query-progress.js";
import { randomUUID } from "node:crypto";
import type { OutputSink } from "./outputs.js";

/**
 * Shows the progress of a cell's queries in one display that is updated in place: a line for all that have
 * ended and a line for each that runs.
 *
 * @param onlySummary omits running queries, for a headless notebook
 */
export function progressLine(sink: OutputSink, onlySummary: boolean): ProgressListener {
  const displayId = randomUUID();
  const running = new Map<string, QueryProgress>();
  let [queries, rows, seconds, stopped] = [0, 0, 0, 0];
  let shown = "";

  return (progress) => {
    if (progress.state === "running") running.set(progress.id, progress);
    else {
      running.delete(progress.id);
      queries++;
      rows += progress.rowsRead;
      seconds += progress.seconds;
      if (progress.state === "stopped") stopped++;
    }
    const lines = onlySummary ? [] : [...running.values()].map(runningText);
    if (queries > 0) lines.unshift(summaryText(queries, rows, seconds, stopped));
    const text = lines.join("\n");
    if (text === "" || text === shown) return;
    const bundle = { data: { "text/plain": text }, metadata: {} };
    sink({ type: "display", bundle, displayId, update: shown !== "" });
    shown = text;
  };
}

function runningText({ rowsRead, rowsInAll = 0, seconds, part }: QueryProgress): string {
  const reading = part === undefined ? "Reading" : `Part ${part.at} of ${part.of}, reading`;
  const percent = Math.floor((100 * rowsRead) / Math.max(1, rowsInAll));
  const isUnknown = rowsInAll === 0 || rowsInAll < rowsRead;
  const of = isUnknown ? "rows" : `of ${countText(rowsInAll)} rows (${percent} %)`;
  const rate = `${countText(rowsRead / seconds)} rows/s, ${seconds.toFixed(1)} s`;
  return `${reading}: ${countText(rowsRead)} ${of}, ${rate}`;
}

function summaryText(queries: number, rows: number, seconds: number, stopped: number): string {
  const what = queries === 1 ? "1 query" : `${queries} queries`;
  const rowsText = `${countText(rows)} ${rows === 1 ? "row" : "rows"}`;
  const stoppedText = stopped === 0 ? "" : `, ${stopped} stopped before the end`;
  return `${what}, ${rowsText} read in ${seconds.toFixed(1)} s${stoppedText}`;
}

const compact = new Intl.NumberFormat("en", {
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** A count in three digits: 950, 1.23K, 45.6M. */
const countText = (count: number) => compact.format(count);
