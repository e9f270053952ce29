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
  const ended = { queries: 0, rows: 0, seconds: 0, stopped: 0 };
  let shown = "";

  return (progress) => {
    if (progress.state === "running") running.set(progress.id, progress);
    else {
      running.delete(progress.id);
      ended.queries++;
      ended.rows += progress.rowsRead;
      ended.seconds += progress.seconds;
      if (progress.state === "stopped") ended.stopped++;
    }
    const lines = onlySummary ? [] : [...running.values()].map(runningText);
    if (ended.queries > 0) lines.unshift(summaryText(ended));
    const text = lines.join("\n");
    if (text === "" || text === shown) return;
    const bundle = { data: { "text/plain": text }, metadata: {} };
    sink({ type: "display", bundle, displayId, update: shown !== "" });
    shown = text;
  };
}

function runningText({ rowsRead, rowsInAll, seconds, part }: QueryProgress): string {
  const reading = part === undefined ? "Reading" : `Part ${part.at} of ${part.of}, reading`;
  const rate = `${countText(rowsRead / seconds)} rows/s, ${seconds.toFixed(1)} s`;
  if (rowsInAll === undefined || rowsInAll < rowsRead) {
    return `${reading}: ${countText(rowsRead)} rows, ${rate}`;
  }
  const percent = Math.floor((100 * rowsRead) / Math.max(1, rowsInAll));
  return `${reading}: ${countText(rowsRead)} of ${countText(rowsInAll)} rows (${percent} %), ${rate}`;
}

function summaryText(ended: {
  queries: number;
  rows: number;
  seconds: number;
  stopped: number;
}): string {
  const what = ended.queries === 1 ? "1 query" : `${ended.queries} queries`;
  const stopped = ended.stopped === 0 ? "" : `, ${ended.stopped} stopped before the end`;
  return `${what}, ${countText(ended.rows)} ${ended.rows === 1 ? "row" : "rows"} read in ${ended.seconds.toFixed(1)} s${stopped}`;
}

/** A count in three digits: 950, 1.23K, 45.6M. */
function countText(count: number): string {
  return new Intl.NumberFormat("en", {
    notation: "compact",
    maximumSignificantDigits: 3,
  }).format(count);
}
