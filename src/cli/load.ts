import { Argument, Command } from "commander";
import { openWriter } from "../database/open-writer.js";
import { findSource } from "../database/settings.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import type { LoadedFile, LoadOptions } from "../load/load-file.js";
import { LoadError, loadFiles, loadSummary, progressText } from "../load/load-files.js";
import { LOADABLE_TABLES, type LoadableTable } from "../load/loadable-table.js";
import { line, lines, userInterrupt } from "./terminal.js";

/** What `probelab load` is told by its options. */
export interface LoadFlags extends Omit<LoadOptions, "onProgress" | "signal"> {
  /** `embedded:DIR`; default: the embedded database of the project. */
  readonly into?: string;
}

/** Where a command writes to, and what stops it. */
export interface LoadOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `err` is a terminal, on which a line can be written over. */
  readonly terminal: boolean;
  readonly signal?: AbortSignal;
}

/** `probelab load TABLE FILE…` */
export const loadCommand = new Command("load")
  .description("load files of real rows into the embedded database, each whole or not at all")
  .addArgument(new Argument("<table>", "the table").choices(Object.keys(LOADABLE_TABLES)))
  .argument("<files...>", "JSONL, CSV or TSV with a header, or Parquet; also .gz or .zst")
  .option("--into <source>", "embedded:DIR to load into (default: the project's)")
  .option("--format <format>", "jsonl, csv, tsv or parquet, with .gz or .zst where packed")
  .option("--again", "load rows that are there already a second time")
  .option("--replace-sample", "let the files take the place of the sample service")
  .option("--allow-missing-newline", "take CSV and TSV without a line break at the end as whole")
  .action(async (table: LoadableTable, files: string[], flags: LoadFlags) => {
    using interrupt = userInterrupt();
    process.exitCode = await runLoad(table, files, flags, {
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
      terminal: process.stderr.isTTY,
      signal: interrupt.signal,
    });
  });

/**
 * Loads files and tells about each: summaries to `out`, progress and errors to `err`.
 *
 * @returns the exit code: 0, 1 when a file was refused, 130 when it was stopped.
 */
export async function runLoad(
  table: LoadableTable,
  files: readonly string[],
  { into, ...options }: LoadFlags,
  { out, err, terminal, signal }: LoadOutput,
): Promise<number> {
  const progress = progressLine(err, terminal);
  const source = findSource(
    table === "logs" ? "logs" : "measurements",
    into === undefined ? {} : { measurements: into, logs: into },
  );
  await using writer = await openWriter(source);
  try {
    const loaded = await loadFiles(writer, table, files, {
      ...options,
      ...(signal && { signal }),
      onProgress: (step) => progress.show(progressText(step)),
      onLoaded: (file) => {
        progress.clear();
        out(`${lines(loadSummary(table, file))}\n`);
      },
      onRefused: (error) => {
        progress.clear();
        err(`${line(error.message, Infinity)}\n`);
      },
    });
    out(`${total(loaded, files.length)} loaded into ${writer.source}.\n`);
    return 0;
  } catch (error) {
    progress.clear();
    if (error instanceof LoadError) {
      out(`${total(error.loaded, files.length)} loaded into ${writer.source}.\n`);
      return 1;
    }
    if (!(error instanceof ProbelabError) || error.code !== "ABORTED") throw error;
    err(`${error.message}\n`);
    return 130;
  }
}

function total(loaded: readonly LoadedFile[], files: number): string {
  const rows = loaded.reduce((sum, file) => sum + file.rows, 0);
  const of = loaded.length === files ? `${files}` : `${loaded.length} of ${files}`;
  return `${of} file${files === 1 ? "" : "s"}, ${counted(rows, "row")}`;
}

const QUIET_MS = 1_000;
const LOG_EVERY_MS = 10_000;

/** Progress of steps longer than a second: one line written over, or a line every ten seconds. */
function progressLine(err: (text: string) => void, terminal: boolean) {
  let due = Date.now() + QUIET_MS;
  let open = false;
  return {
    show(text: string) {
      if (Date.now() < due) return;
      err(terminal ? `\r\u001b[2K${text}` : `${text}\n`);
      open = terminal;
      due = terminal ? 0 : Date.now() + LOG_EVERY_MS;
    },
    /** Ends the progress of a file. */
    clear() {
      if (open) err("\r\u001b[2K");
      open = false;
      due = Date.now() + QUIET_MS;
    },
  };
}
