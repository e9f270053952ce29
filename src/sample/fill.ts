import { availableParallelism } from "node:os";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { inAside, type Aside } from "./aside.js";
import {
  lostReportLogsInsert,
  otherLogsInsert,
  PIPELINE_FAULT,
  pipelineErrorLogsInsert,
  rotationLogsInsert,
  runLogsInsert,
} from "./logs.js";
import {
  FAULT,
  makeRuns,
  measurementsInsert,
  runsTable,
  SAMPLE_DAYS,
  type SamplePlan,
} from "./runs.js";
import { HELPER_FAULTS, PROBES, releasedAt, testHelpersInsert } from "./service.js";
import { GENERATOR, SAMPLE_COMMENT, sampleInfo, SCHEMAS, type SampleInfo } from "./tables.js";
import { REPLACED_URLS } from "./test-lists.js";
import { DAY } from "../time/span.js";

/** Options of `fillSample`. */
interface SampleOptions {
  /** Measurements, exactly. @default 5,000,000 */
  readonly rows?: number;
  /** Another seed gives another sample of the same service. @default 1 */
  readonly seed?: number;
  /** The first instant after the sample. @default the last midnight UTC */
  readonly end?: Date;
  /** Called with each step. */
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** Rows that one INSERT makes, about: an interrupt has to wait for the end of one. */
const SLICE_ROWS = 1_000_000;
const THREADS = Math.min(availableParallelism(), 4);

/**
 * Fills the database with the sample service: 26 weeks of `fastpath`, `logs` and
 * `test_helper_instances`, with faults planted as `sample_truth` says and `sample_info`, which
 * says which sample it is. Tables of these names are replaced, once all of it is made.
 *
 * The same rows, seed and end give the same rows (`sample_info.made_at` aside) on every machine.
 * A larger sample holds the runs of a smaller one.
 *
 * @returns the sample that is there now.
 * @throws ProbelabError for an option that can't be used.
 * @example
 * await fillSample(writer, { rows: 100_000, end: new Date("2026-05-01T00:00:00Z") });
 */
export async function fillSample(writer: Writer, options: SampleOptions = {}): Promise<SampleInfo> {
  const plan = checkPlan(options);
  const { onProgress = () => undefined, signal } = options;
  return inAside(writer, async (aside) => {
    const { table, settings } = aside;
    const insert: WriteOptions = { settings, ...(signal && { signal }) };
    await makeTables(writer, aside);
    onProgress("Drawing runs");
    const [runs, fastpath, logs] = [table("runs"), table("fastpath"), table("logs")];
    const helpers = table("test_helper_instances");
    const made = await makeRuns(writer, runs, plan, insert);
    const slices = Math.max(1, Math.ceil(plan.rows / SLICE_ROWS));
    const bound = (slice: number) =>
      plan.start + Math.round(((plan.end - plan.start) * slice) / slices);
    for (let slice = 0; slice < slices; slice += 1) {
      onProgress(`Making measurements, ${Math.round((slice / slices) * 100)} %`);
      const span = { from: bound(slice), to: bound(slice + 1) };
      const sliced = {
        ...insert,
        parameters: { ...made, seed: plan.seed, end: plan.end, ...span },
        settings: {
          ...settings,
          max_threads: THREADS,
          max_insert_threads: THREADS,
          min_insert_block_size_rows: 524_288,
          min_insert_block_size_bytes: 0,
        },
      };
      await writer.command(measurementsInsert(fastpath, runs), sliced);
      await writer.command(runLogsInsert(logs, runs), sliced);
    }
    onProgress("Making the rest of the logs and the test helpers");
    const lines = Math.min(Math.max(Math.round(plan.rows / 50), 2_000), 500_000);
    const parameters = { ...plan, lines, generator: GENERATOR };
    for (const statement of [
      testHelpersInsert(helpers),
      otherLogsInsert(logs),
      rotationLogsInsert(logs, helpers),
      pipelineErrorLogsInsert(logs),
      lostReportLogsInsert(logs),
      truthInsert(table("sample_truth"), plan.end),
      `INSERT INTO ${table("sample_info")} SELECT {rows:UInt64}, {seed:UInt64}, {start:UInt32}, {end:UInt32}, now(), {generator:UInt32}`,
    ]) {
      await writer.command(statement, { ...insert, parameters });
    }
    signal?.throwIfAborted();
    await putInPlace(writer, aside);
    return (await sampleInfo(writer))!;
  });
}

async function makeTables(writer: Writer, aside: Aside): Promise<void> {
  await writer.command(runsTable(aside.table("runs")));
  for (const [table, schema] of Object.entries(SCHEMAS)) {
    await writer.command(
      `CREATE TABLE ${aside.table(table)} ${schema} COMMENT '${SAMPLE_COMMENT}'`,
    );
  }
}

/**
 * Puts the tables in place, each by one atomic exchange. The row of the old `sample_info` goes first
 * and the new one comes last: a reader who finds a row there finds all of its sample.
 */
async function putInPlace(writer: Writer, aside: Aside): Promise<void> {
  await writer.command("TRUNCATE TABLE IF EXISTS sample_info SYNC");
  for (const [table, schema] of Object.entries(SCHEMAS)) {
    // An exchange needs both; an empty table is what a reader would have found anyway.
    await writer.command(
      `CREATE TABLE IF NOT EXISTS ${table} ${schema} COMMENT '${SAMPLE_COMMENT}'`,
    );
    await writer.command(`EXCHANGE TABLES ${table} AND ${aside.table(table)}`);
  }
}

/** What is planted, as a row of \`sample_truth\`. */
interface Fault {
  readonly name: string;
  readonly description: string;
  /** The software that it concerns, if any: name and version. */
  readonly software?: readonly [string, string];
  /** SQL for seconds since 1970. */
  readonly since: string | number;
  readonly changes: string;
  /** Of measurements per run and of their duration. */
  readonly factor?: number;
}

/** SQL that writes what is planted. */
function truthInsert(table: string, end: number): string {
  const probe = PROBES[FAULT.probe]!;
  const release = probe.releases[FAULT.release]!;
  const { country, poll, urls } = REPLACED_URLS;
  const faults: Fault[] = [
    {
      name: "unattended-runs-end-early",
      description:
        "Since a release, runs of the unattended Android probe end early: each holds fewer measurements and is over sooner, so that the weekly count drops. The tests themselves are as fast as before.",
      software: [probe.name, release.version],
      since: releasedAt(release, end),
      changes: "fewer measurements per run, shorter runs, the same seconds per measurement",
      factor: FAULT.lengthPercent / 100,
    },
    PIPELINE_FAULT,
    ...HELPER_FAULTS,
    {
      name: "test-list-replaced",
      description: "At one poll much of the test list of a country is replaced.",
      since: 0,
      changes: `${urls} of the first 100 URLs of ${country} at poll ${poll}`,
    },
  ];
  const rows = faults.map(
    ({ name, description, since, changes, software = ["", ""], factor = 1 }) => {
      return `SELECT '${name}', '${description}', '${software[0]}', '${software[1]}', toDateTime(${since}, 'UTC'), '${changes}', ${factor}, ${factor}, 1`;
    },
  );
  return `INSERT INTO ${table} ${rows.join(" UNION ALL ")}`;
}

/** The options of a sample, checked. */
function checkPlan(options: SampleOptions): SamplePlan {
  const midnight = new Date(Math.floor(Date.now() / DAY) * DAY);
  const { rows = 5_000_000, seed = 1, end = midnight } = options;
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > 10_000_000_000) {
    throw new ProbelabError(
      `Can't make a sample of ${rows} rows: take a whole number from 1 to 10,000,000,000, such as 5000000.`,
    );
  }
  const seconds = Math.floor(end.getTime() / 1000);
  if (!(seconds >= Date.UTC(1973, 0, 1) / 1000 && seconds <= Date.UTC(2106, 0, 1) / 1000)) {
    throw new ProbelabError(
      `Can't end a sample at ${shownValue(end)}: take a day from 1973 to 2105, or leave it out for the last midnight UTC.`,
    );
  }
  return { rows, seed, start: seconds - SAMPLE_DAYS * 86_400, end: seconds };
}
