import { Command, InvalidArgumentError } from "commander";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { findSource } from "../database/settings.js";
import { openWriter, type Writer } from "../database/writer.js";
import { fillSample } from "../sample/fill.js";
import { isLoaded, listTables, type SampleInfo } from "../sample/tables.js";
import { formatRange } from "../time/time-range.js";
import { progressEverySecond, userInterrupt, wholeNumber } from "./terminal.js";

interface Flags {
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
  .action(async ({ into, replace, ...options }: Flags) => {
    const began = performance.now();
    using interrupt = userInterrupt();
    const { signal } = interrupt;
    const source = findSource("measurements", into === undefined ? {} : { measurements: into });
    await using writer = await openWriter(source);
    if (replace !== true) await refuseLoaded(writer);
    try {
      const made = await fillSample(writer, {
        ...options,
        signal,
        onProgress: progressEverySecond(),
      });
      console.log(await summary(writer, made, (performance.now() - began) / 1000));
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw new ProbelabError(
        "Can't finish the sample, it was interrupted: what was there before is unchanged, run npx probelab sample again.",
        { cause },
      );
    }
  });

async function refuseLoaded(writer: Writer): Promise<void> {
  const tables = (await listTables(writer)).filter(isLoaded).map(({ name }) => name);
  if (tables.length === 0) return;
  throw new ProbelabError(
    `Can't make a sample in ${writer.source}: ${tables.join(", ")} there ${tables.length === 1 ? "holds" : "hold"} rows that are not a sample's. Take another directory (--into embedded:DIR), or add --replace to drop them.`,
  );
}

async function summary(writer: Writer, made: SampleInfo, seconds: number): Promise<string> {
  const tables = await listTables(writer);
  const rows = (table: string) => tables.find(({ name }) => name === table)?.rows ?? 0;
  const bytes = tables.reduce((sum, table) => sum + (table.isSample ? table.bytes : 0), 0);
  const [found] = await writer.rows<{ runs: number }>(
    "SELECT uniqExact(report_id) AS runs FROM fastpath",
  );
  return [
    `Made a sample in ${writer.source}, ${formatRange({ ...made, timeZone: "UTC" })}, seed ${made.seed}, in ${seconds.toFixed(1)} s:`,
    `  ${counted(rows("fastpath"), "measurement")} of ${counted(Number(found?.runs), "run")}, ${counted(rows("logs"), "log line")}, ${rows("test_helper_instances")} test helpers;`,
    `  ${counted(Math.round(bytes / 1e6), "MB", "MB")} on disk`,
    "  the table sample_truth says what is planted in it",
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
