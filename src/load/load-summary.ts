import type { LoadedFile, LoadProgress } from "./load-file.js";
import { counted, countRows, type LoadableTable } from "./loadable-table.js";

/** A loaded file in words: rows, runs and time span (UTC), and the columns that did not match. */
export function loadSummary(table: LoadableTable, loaded: LoadedFile): string {
  const { span, runs } = loaded;
  const inRuns = runs === null ? "" : ` in ${counted(runs, ["run", "runs"])}`;
  const when = span === null ? "" : `, ${utc(span.first)} to ${utc(span.last)} UTC`;
  const lines = [`${loaded.file}: ${countRows(table, loaded.rows)}${inRuns}${when}`];
  if (loaded.defaulted.length > 0) {
    lines.push(`  not in the file, left at their defaults: ${loaded.defaulted.join(", ")}`);
  }
  if (loaded.ignored.length > 0) {
    lines.push(`  not in ${table}, ignored: ${loaded.ignored.join(", ")}`);
  }
  return lines.join("\n");
}

/** How far a file has come, in words. */
export function progressText({ file, bytes, totalBytes, rows }: LoadProgress): string {
  const percent = Math.floor((100 * bytes) / Math.max(1, totalBytes));
  return `${file}: ${percent} % of ${megabytes(totalBytes)} MB read, ${rows.toLocaleString("en-US")} rows`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}

function utc(instant: Date): string {
  return instant
    .toISOString()
    .replace("T", " ")
    .replace(/\.000Z$|Z$/, "");
}
