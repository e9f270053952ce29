import type { LoadedFile } from "./load-file.js";
import { LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";
import type { LoadProgress } from "./watch-load.js";

/** A loaded file in words: rows, runs and time span (UTC), and the columns that did not match. */
export function loadSummary(table: LoadableTable, loaded: LoadedFile): string {
  const { span, runs } = loaded;
  const inRuns = runs === null ? "" : ` in ${counted(runs, ["run", "runs"])}`;
  const when = span === null ? "" : `, ${utc(span.first)} to ${utc(span.last)} UTC`;
  const lines = [
    `${loaded.file}: ${counted(loaded.rows, LOADABLE_TABLES[table].nouns)}${inRuns}${when}`,
  ];
  if (loaded.defaulted.length > 0) {
    lines.push(`  not in the file, left at their defaults: ${loaded.defaulted.join(", ")}`);
  }
  if (loaded.ignored.length > 0) {
    lines.push(`  not in ${table}, ignored: ${loaded.ignored.join(", ")}`);
  }
  if (loaded.unchecked) {
    lines.push(
      "  the zstd archive has no checksums, so damage to it could not be noticed: pack with zstd --check",
    );
  }
  return lines.join("\n");
}

/** How far a file has come, in words. */
export function progressText({ file, bytes, totalBytes, rows }: LoadProgress): string {
  const percent = Math.floor((100 * bytes) / Math.max(1, totalBytes));
  return `${file}: ${percent} % of ${megabytes(totalBytes)} MB read, ${count(rows)} rows`;
}

/** A number with its noun: `1 row`, `1,200 rows`. */
export function counted(number: number, [one, several]: readonly [string, string]): string {
  return `${count(number)} ${number === 1 ? one : several}`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
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
