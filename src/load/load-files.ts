import { counted } from "../base/text.js";
import { ProbelabError } from "../base/error.js";
import type { Writer } from "../database/writer.js";
import { type LoadedFile, loadFile, type LoadOptions, type LoadProgress } from "./load-file.js";
import { countRows, LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";

/** Some files could not be loaded; the others are. */
export class LoadError extends ProbelabError {
  constructor(
    /** The files that were loaded. */
    readonly loaded: readonly LoadedFile[],
    /** Why each of the others was not. */
    readonly refused: readonly ProbelabError[],
  ) {
    super(refused.map(({ message }) => message).join("\n"), {
      cause: refused[0],
      ...(refused[0]?.code !== undefined && { code: refused[0].code }),
    });
    this.name = "LoadError";
  }
}

/**
 * Loads files into a table of the embedded database, one after the other: of each file all rows or
 * none. A file that is refused does not keep the later ones from being loaded.
 *
 * Formats: JSONL, CSV and TSV with a header, Parquet, each also packed with gzip or zstd. Columns
 * are matched by name; times without a zone are UTC.
 *
 * @param table `fastpath`, `logs` or `test_helper_instances`; made where it is missing.
 * @returns what was loaded, a file an entry.
 * @throws LoadError when a file was refused, after all were tried; ProbelabError for another table,
 *   for no files, and (code `ABORTED`) when the signal stopped it.
 * @example
 * await using writer = await openWriter(source);
 * const [loaded] = await loadFiles(writer, "fastpath", ["week.jsonl.gz"]);
 * console.log(loaded.rows, loaded.ignored);
 */
export async function loadFiles(
  writer: Writer,
  table: LoadableTable,
  files: readonly string[],
  options: LoadOptions & {
    readonly onLoaded?: (file: LoadedFile) => void;
    readonly onRefused?: (error: ProbelabError) => void;
  } = {},
): Promise<LoadedFile[]> {
  if (!Object.hasOwn(LOADABLE_TABLES, table)) {
    throw new ProbelabError(
      `Can't load into ${JSON.stringify(table)}: load into ${Object.keys(LOADABLE_TABLES).join(", ")}.`,
    );
  }
  if (files.length === 0) throw new ProbelabError("Can't load no files: name at least one.");
  const loaded: LoadedFile[] = [];
  const refused: ProbelabError[] = [];
  for (const path of files) {
    try {
      const file = await loadFile(writer, table, path, options);
      loaded.push(file);
      options.onLoaded?.(file);
    } catch (error) {
      if (options.signal?.aborted) throw stopped(path, loaded.length, files.length, error);
      if (!(error instanceof ProbelabError)) throw error;
      refused.push(error);
      options.onRefused?.(error);
    }
  }
  if (refused.length > 0) throw new LoadError(loaded, refused);
  return loaded;
}

function stopped(path: string, loaded: number, files: number, cause: unknown): ProbelabError {
  return new ProbelabError(
    `Stopped loading ${path}: nothing of it was kept, ${loaded} of ${files} files are loaded. Load it again to go on.`,
    { cause, code: "ABORTED" },
  );
}

/** A loaded file in words: rows, runs and time span (UTC), and the columns that did not match. */
export function loadSummary(table: LoadableTable, loaded: LoadedFile): string {
  const { span, runs } = loaded;
  const inRuns = runs === null ? "" : ` in ${counted(runs, "run")}`;
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
