import { join } from "node:path";
import { checkOptions, refuseUnknown, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { Database } from "../../database/database.js";
import { openWriter } from "../../database/writer.js";
import { findSource, projectRoot } from "../../database/settings.js";
import { withLock } from "../../base/files/with-lock.js";
import { parseAddress, type DatabaseAddress } from "../../database/address.js";
import { currentSignal } from "../../base/current-signal.js";
import {
  DIMENSIONS,
  measurementsAsked,
  runsAsked,
  type Measurements,
  type Runs,
} from "../measurements/measurements.js";
import type { MeasurementColumn } from "../measurements/questions.js";
import type { Where } from "../../query/where.js";
import { between, checkRange, type TimeRange } from "../../time/time-range.js";
import { isHeld, readAbout, tablesOf, type SnapshotState } from "./held.js";
import { askedSnapshot, notesOf } from "./sources.js";
import { take } from "./take.js";

/** What `lab.snapshot` takes. */
export interface SnapshotOptions {
  /** The time to hold, in whole hours of UTC: what is within an hour's edge is taken with it. */
  readonly range: TimeRange;
  /** What it is called: small letters, digits and _. @default "measurements" */
  readonly name?: string;
  /** Which measurements it holds. @default all */
  readonly where?: Where<MeasurementColumn>;
  /** The columns that it can be asked by. @default those of software, country, network and test that the table has */
  readonly dimensions?: readonly MeasurementColumn[];
  /** The embedded database to put it into. @default that of the measurements, `embedded:.probelab` for a server's */
  readonly into?: string;
  /** Stops the taking: days that were read stay, and the next one goes on from there. */
  readonly signal?: AbortSignal;
}

/** What a snapshot can be asked of its measurements, as `lab.measurements`: not what needs single rows. */
export type SnapshotMeasurements = Omit<Measurements, "duplicates" | "values">;

/** The runs and hourly counts of a range, kept in an embedded database: a source like the table's. */
export interface Snapshot extends AsyncDisposable {
  readonly name: string;
  /** What it holds: whole hours of UTC. */
  readonly range: TimeRange;
  /** The end of it, for `last("1 week", { now: snapshot.now })`. */
  readonly now: Date;
  /** When each of its days had as many measurements as the table. */
  readonly takenAt: Date;
  readonly dimensions: readonly string[];
  /** How many measurements and runs the range has. */
  readonly size: { readonly measurements: number; readonly runs: number };
  /** What it is of and how old it is, a sentence each. */
  readonly notes: readonly string[];
  readonly measurements: SnapshotMeasurements;
  readonly runs: Runs;
  /** Gives the connection back. A notebook need not: it ends with its kernel. */
  close(): Promise<void>;
}

const RULES: Rules<SnapshotOptions> = {
  range: { fits: () => true, pass: "" },
  name: { fits: (value) => typeof value === "string", pass: "a name" },
  where: { fits: (value) => typeof value === "object", pass: "columns and their values" },
  dimensions: { fits: Array.isArray, pass: 'columns, such as ["probe_cc", "test_name"]' },
  into: { fits: (value) => typeof value === "string", pass: "embedded:DIR" },
  signal: { fits: (value) => value instanceof AbortSignal, pass: "an AbortSignal" },
};

/** `lab.snapshot`: see {@link Lab.snapshot}. */
export async function snapshot(
  database: Database,
  source: DatabaseAddress,
  options: SnapshotOptions,
): Promise<Snapshot> {
  const action = "take a snapshot";
  checkOptions(options, RULES, action);
  const range = checkRange((options as SnapshotOptions | undefined)?.range, action);
  const { name = "measurements", where = {} } = options;
  tablesOf(name);
  const into =
    options.into === undefined && source.kind === "embedded" ? source : embedded(options.into);
  const local = source.kind === "embedded" && source.directory === into.directory;
  const table = await database.table("measurements");
  const dimensions =
    options.dimensions ?? DIMENSIONS.filter((dimension) => table.columns.has(dimension));
  await using writer = await openWriter(into);
  const signal = options.signal ?? currentSignal();
  const taking = { name, range, where, database, table, writer, signal };
  const taken = () => take({ ...taking, dimensions: [...new Set(dimensions)] });
  const lock = join(into.directory, `snapshot-${name}.lock`);
  const busy = `Can't ${action} ${name}: it is being taken already. Wait until that has ended, or give this one another name.`;
  // Whichever of its steps the interrupt met, what was stopped is the snapshot.
  const held = await withLock(lock, taken, 0, busy).catch((cause: unknown) => {
    if (!signal?.aborted) throw cause;
    throw new ProbelabError(`Stopped: ${action}.`, { cause, code: "ABORTED" });
  });
  const reader = local ? database : await Database.open(into);
  const close = local ? () => Promise.resolve() : () => reader[Symbol.asyncDispose]();
  return snapshotOf(reader, name, held, close);
}

/**
 * Opens a snapshot that was taken before, without its server: as it is, however old.
 *
 * @param name what it is called; default "measurements".
 * @throws ProbelabError where there is none, or its taking never ended.
 * @example
 * const saved = await openSnapshot("incident_42");
 * chart.line(await saved.measurements.counts({ range: saved.range, every: "day" }));
 */
export async function openSnapshot(
  name = "measurements",
  options: Pick<SnapshotOptions, "into"> = {},
): Promise<Snapshot> {
  refuseUnknown(options, ["into"], "open a snapshot");
  tablesOf(name);
  // Where lab.snapshot puts it by itself.
  const own = options.into === undefined ? findSource("measurements", {}) : undefined;
  const reader = await Database.open(own?.kind === "embedded" ? own : embedded(options.into));
  try {
    const about = await readAbout(reader.rows, name);
    if (!isHeld(about)) {
      const why = about === undefined ? `${reader.source} has none` : "its taking never ended";
      throw new ProbelabError(
        `Can't open the snapshot ${name}: ${why}. Take it with lab.snapshot({ name: "${name}", range }).`,
      );
    }
    return snapshotOf(reader, name, about, () => reader[Symbol.asyncDispose]());
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }
}

function embedded(into = "embedded:.probelab"): Extract<DatabaseAddress, { kind: "embedded" }> {
  const source = parseAddress(into, { root: projectRoot(process.cwd()), name: "the option into" });
  if (source.kind === "embedded") return source;
  throw new ProbelabError(
    `Can't keep a snapshot in ${source.label}: probelab writes to embedded databases only. Pass into: "embedded:DIR".`,
  );
}

function snapshotOf(
  reader: Database,
  name: string,
  held: SnapshotState,
  close: () => Promise<void>,
): Snapshot {
  const source = askedSnapshot(reader, name, held);
  const measurements: Partial<Measurements> = measurementsAsked(source);
  delete measurements.duplicates;
  delete measurements.values;
  return {
    name,
    range: between(held.start, held.end),
    now: held.end,
    takenAt: held.takenAt,
    dimensions: held.dimensions.map(([dimension]) => dimension),
    size: { measurements: held.measurements, runs: held.runs },
    get notes() {
      return notesOf(name, held);
    },
    measurements: measurements as SnapshotMeasurements,
    runs: runsAsked(source),
    close,
    [Symbol.asyncDispose]: close,
  };
}
