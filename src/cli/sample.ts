import { Command, InvalidArgumentError } from "commander";
import { openWriter } from "../database/writer.js";
import { findSource } from "../database/settings.js";
import type { Writer } from "../database/writer.js";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { formatRange } from "../time/time-range.js";
import { fillSample } from "../sample/fill.js";
import { loadedTables, plantedFaults, sampleFigures, type SampleInfo } from "../sample/info.js";
import { progressEverySecond, wholeNumber } from "./terminal.js";

interface Options {
  readonly rows: number;
  readonly seed: number;
  readonly end?: Date;
  readonly into?: string;
  readonly replace?: true;
}

/** `probelab sample`: fills the embedded database with the synthetic measurement service. */
export const sampleCommand = new Command("sample")
  .description("fill the embedded database with a synthetic measurement service")
  .option("--rows <n>", "measurements to make", wholeNumber, 5_000_000)
  .option("--seed <n>", "another seed makes another sample", wholeNumber, 1)
  .option("--end <date>", "first day after the sample, UTC (default: today)", day)
  .option("--into <source>", "embedded:DIR (default: the configured measurements)")
  .option("--replace", "replace tables that hold loaded rows")
  .action(run);

async function run(options: Options): Promise<void> {
  const began = performance.now();
  await using writer = await openWriter(
    findSource("measurements", options.into === undefined ? {} : { measurements: options.into }),
  );
  if (options.replace !== true) await refuseLoaded(writer);
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort(new ProbelabError(STOPPED));
  process.once("SIGINT", stop);
  try {
    const made = await fillSample(writer, {
      rows: options.rows,
      seed: options.seed,
      ...(options.end && { end: options.end }),
      onProgress: progressEverySecond(),
      signal: interrupt.signal,
    });
    console.log(await summary(writer, made, (performance.now() - began) / 1000));
  } finally {
    process.off("SIGINT", stop);
  }
}

const STOPPED =
  "Can't finish the sample, it was interrupted: what was there before is unchanged, run npx probelab sample again.";

async function refuseLoaded(writer: Writer): Promise<void> {
  const tables = await loadedTables(writer);
  if (tables.length === 0) return;
  throw new ProbelabError(
    `Can't make a sample in ${writer.source}: ${tables.join(", ")} there ${tables.length === 1 ? "holds" : "hold"} rows that are not a sample's. Take another directory (--into embedded:DIR), or add --replace to drop them.`,
  );
}

async function summary(writer: Writer, made: SampleInfo, seconds: number): Promise<string> {
  const figures = await sampleFigures(writer);
  return [
    `Made a sample in ${writer.source}, ${formatRange({ ...made, timeZone: "UTC" })}, seed ${made.seed}, in ${seconds.toFixed(1)} s:`,
    `  ${grouped(figures.measurements)} measurements of ${grouped(figures.runs)} runs, ${grouped(figures.logLines)} log lines, ${figures.testHelpers} test helpers; ${grouped(Math.round(figures.bytes / 1e6))} MB on disk`,
    "  planted (table sample_truth):",
    ...(await plantedFaults(writer)).map((fault) => `    ${fault}`),
  ].join("\n");
}

function day(text: string): Date {
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : NaN);
  // the calendar of Date is lenient: 2026-02-30 would be 2 March
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text)) {
    throw new InvalidArgumentError("Write a day, such as 2026-05-01.");
  }
  return date;
}
