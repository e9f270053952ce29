import { availableParallelism } from "node:os";
import { ProbelabError } from "../base/error.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { SAMPLE_DAYS } from "./draw.js";
import { GENERATOR, sampleInfo, type SampleInfo } from "./info.js";
import {
  lostReportLogsInsert,
  otherLogsInsert,
  pipelineErrorLogsInsert,
  pipelineTruthInsert,
  rotationLogsInsert,
  runLogsInsert,
} from "./logs.js";
import { measurementsInsert } from "./measurements.js";
import { type MadeRuns, makeRuns, truthInsert, type SamplePlan } from "./runs.js";
import { type Aside, dropAside, makeAside, nameAside, putInPlace } from "./tables.js";
import { helperTruthInsert, testHelpersInsert } from "./test-helpers.js";
import { testListTruthInsert } from "./test-lists.js";

/** What sample to make, and whom to tell about it. */
interface SampleOptions {
  /** Measurements, exactly (default 5,000,000). */
  readonly rows?: number;
  /** Another seed gives another sample of the same service (default 1). */
  readonly seed?: number;
  /** The first instant after the sample (default: the last midnight UTC). */
  readonly end?: Date;
  /** Told about each step: what is being done, and the share that is done, 0 to 1. */
  readonly onProgress?: (message: string, done: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Fills the database with the sample service: 26 weeks of `fastpath`, `logs` and
 * `test_helper_instances`, with faults planted as `sample_truth` says and `sample_info` to tell
 * which sample it is. Tables of these names are replaced, once all of it is made.
 *
 * The same rows, seed and end give the same rows (`sample_info.made_at` aside) on every machine.
 * A larger sample holds the runs of a smaller one.
 *
 * @returns the sample that is there now.
 * @throws ProbelabError when an option can't be used.
 * @example
 * await fillSample(writer, { rows: 100_000, end: new Date("2026-05-01T00:00:00Z") });
 */
export async function fillSample(writer: Writer, options: SampleOptions = {}): Promise<SampleInfo> {
  const plan = checkPlan(options);
  const report = options.onProgress ?? (() => undefined);
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const aside = nameAside();
  try {
    await makeAside(writer, aside, signal);
    report("Drawing runs", 0);
    const runs = await makeRuns(writer, aside.runs, plan, signal);
    await makeMeasurements(writer, aside, plan, runs, report, signal);
    report("Making the rest of the logs and the test helpers", 0.97);
    await makeRest(writer, aside, plan, signal);
    signal.signal?.throwIfAborted();
    const made = await sampleInfo(writer, aside.sample_info);
    if (made === null) {
      throw new ProbelabError(
        `Can't find the sample just made in ${writer.source}: something else dropped it, make it again.`,
      );
    }
    await putInPlace(writer, aside);
    report("Done", 1);
    return made;
  } finally {
    await dropAside(writer, aside);
  }
}

/** Rows that one INSERT makes, about: an interrupt has to wait for the end of one. */
const SLICE_ROWS = 1_000_000;

async function makeMeasurements(
  writer: Writer,
  aside: Aside,
  plan: SamplePlan,
  runs: MadeRuns,
  report: (message: string, done: number) => void,
  signal: WriteOptions,
): Promise<void> {
  const slices = Math.max(1, Math.ceil(plan.rows / SLICE_ROWS));
  const bound = (slice: number): number =>
    plan.start + Math.round(((plan.end - plan.start) * slice) / slices);
  for (let slice = 0; slice < slices; slice += 1) {
    const percent = Math.round((slice / slices) * 100);
    report(`Making measurements, ${percent} %`, 0.05 + (0.9 * slice) / slices);
    const span = { from: bound(slice), to: bound(slice + 1) };
    const parameters = { ...runs, seed: plan.seed, end: plan.end, ...span };
    const options = { ...signal, parameters, settings: INSERT_SETTINGS };
    await writer.command(measurementsInsert(aside.fastpath, aside.runs), options);
    await writer.command(runLogsInsert(aside.logs, aside.runs), options);
  }
}

async function makeRest(
  writer: Writer,
  aside: Aside,
  plan: SamplePlan,
  signal: WriteOptions,
): Promise<void> {
  const lines = Math.min(Math.max(Math.round(plan.rows / 50), 2_000), 500_000);
  const options = { ...signal, parameters: { ...plan, lines, generator: GENERATOR } };
  await writer.command(testHelpersInsert(aside.test_helper_instances), options);
  await writer.command(otherLogsInsert(aside.logs), options);
  await writer.command(rotationLogsInsert(aside.logs, aside.test_helper_instances), options);
  await writer.command(pipelineErrorLogsInsert(aside.logs), options);
  await writer.command(lostReportLogsInsert(aside.logs), options);
  await writer.command(pipelineTruthInsert(aside.sample_truth), options);
  await writer.command(truthInsert(aside.sample_truth, new Date(plan.end * 1000)), signal);
  await writer.command(helperTruthInsert(aside.sample_truth), options);
  await writer.command(testListTruthInsert(aside.sample_truth), signal);
  await writer.command(
    `INSERT INTO ${aside.sample_info} SELECT {rows:UInt64}, {seed:UInt64}, {start:UInt32}, {end:UInt32}, now(), {generator:UInt32}`,
    options,
  );
}

/** Settings of the INSERTs that make many rows. */
const INSERT_SETTINGS = {
  max_threads: Math.min(availableParallelism(), 4),
  max_insert_threads: Math.min(availableParallelism(), 4),
  min_insert_block_size_rows: 524_288,
  min_insert_block_size_bytes: 0,
};

/**
 * The options of a sample, checked; defaults: 5,000,000 rows, seed 1, up to the last midnight UTC.
 *
 * @throws ProbelabError when one can't be used.
 */
function checkPlan(options: SampleOptions): SamplePlan {
  const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  const { rows = 5_000_000, seed = 1, end = midnight } = options;
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > 10_000_000_000) {
    throw new ProbelabError(
      `Can't make a sample of ${rows} rows: take a whole number from 1 to 10,000,000,000, such as 5000000.`,
    );
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new ProbelabError(
      `Can't use the seed ${seed}: take a whole number from 0 on, such as 1.`,
    );
  }
  const seconds = Math.floor(end.getTime() / 1000);
  if (!(seconds >= Date.UTC(1973, 0, 1) / 1000 && seconds <= Date.UTC(2106, 0, 1) / 1000)) {
    const shown = Number.isNaN(seconds) ? "an invalid Date" : end.toISOString();
    throw new ProbelabError(
      `Can't end a sample at ${shown}: take a Date from 1973 to 2105, or leave it out for the last midnight UTC.`,
    );
  }
  return { rows, seed, start: seconds - SAMPLE_DAYS * 86_400, end: seconds };
}
