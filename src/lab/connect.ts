import { freshness, funnel, type FunnelFinding, type FunnelOptions } from "../service/funnel.js";
import { release, type ReleaseFinding, type ReleaseOptions } from "../service/release.js";
import { Database } from "../database/database.js";
import { freeQueries, type QueryOptions } from "../query/free-query.js";
import type { Limits } from "../database/limits.js";
import type { TablesOptions } from "../database/config.js";
import { withPassword } from "../database/credentials.js";
import type { DatabaseAddress } from "../database/address.js";
import { findLimits, findSource, findTables, type SourceOptions } from "../database/settings.js";
import { newestRow, type NewestRow } from "../database/table-info.js";
import { checkForms } from "../sources/logs/forms.js";
import { logsOf, type Logs } from "../sources/logs/logs.js";
import {
  measurementsOf,
  runsOf,
  type Measurements,
  type Runs,
} from "../sources/measurements/measurements.js";
import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, shownValue } from "../base/text.js";
import { momentText } from "../time/time-zone.js";
import { offerColumnTypes } from "./column-types.js";
import { resultOfRows } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { testHelpersOf, type TestHelpers } from "../sources/test-helpers/test-helpers.js";
import { snapshot, type Snapshot, type SnapshotOptions } from "../sources/snapshot/snapshot.js";
import {
  flowAnomalies,
  type AnomaliesVerdict,
  type LabAnomaliesOptions,
} from "../service/anomalies.js";
import { DAY } from "../time/span.js";

/** Options of `connect`: the sources, and the limits that each question carries. */
export interface ConnectOptions extends SourceOptions {
  /** Limits of one question: `maxSeconds` (120), `maxResultRows` (2,000,000), `maxMemory` (4 GiB, in bytes), `maxRowsRead` (none). */
  readonly limits?: Partial<Limits>;
  /**
   * The deployment's names of tables and columns; each wins over `PROBELAB_TABLES` and
   * probelab.config.json.
   *
   * @example
   * await connect({ tables: { measurements: { table: "named.fastpath", time: "started_at" } } });
   */
  readonly tables?: TablesOptions;
  /**
   * The credentials of the team's encrypted file that are the servers' passwords, where the environment
   * gives none; default: `"credentials"` in probelab.config.json. See `credentials.get`.
   *
   * @example
   * await connect({ credentials: { measurements: "databases.measurements.password" } });
   */
  readonly credentials?: { readonly measurements?: string; readonly logs?: string };
}

/** The databases of the service, open for questions. */
export interface Lab extends AsyncDisposable {
  /** Questions on the measurement table. */
  readonly measurements: Measurements;
  /** Questions on the runs of the measurement table: a row a run. */
  readonly runs: Runs;
  /** Questions on the test helpers: which there are, their rotation, how often they fail. */
  readonly testHelpers: TestHelpers;
  /** Questions on the log table; its database is opened with the first of them. */
  readonly logs: Logs;
  /** The source of the measurements: `embedded:DIR`, or the server's URL without credentials. */
  readonly source: string;
  /** Sentences on what the server refuses its user: lower limits, settings that can't be sent. */
  readonly notes: readonly string[];
  /**
   * The present for this data. A server's is the clock's. An embedded database's is the end of
   * its newest day (midnight UTC), where that is past: `last("3 months", { now: lab.now })` finds
   * rows however old a sample or a loaded file is.
   */
  readonly now: Date;
  /**
   * Asks free SQL with a bound in time: `{range}` becomes the bound on the measurement table's time
   * column in its own type, which also leaves out rows without a usable time; `{range:column}` or
   * `{range:table.column}` the bound on another time column, an odd name in backquotes.
   * `{start:DateTime64(3)}` and `{end:DateTime64(3)}` are the range's ends. Values go into `params`, never
   * into the text. Put `{range}` into the WHERE of every SELECT that reads a table along time: a read
   * without it is stopped only by the limits of `connect({ limits })`.
   *
   * DateTime columns are Dates, enums, UUIDs and addresses text, integers beyond 2^53 (and all of 128
   * or 256 bits) bigint; arrays, tuples and maps are plain arrays and objects of such values, frozen. A
   * column that `columns` names as a dimension is text.
   *
   * @typeParam Row what the SQL's columns hold, such as `{ probe_cc: string; n: number }`; nothing checks it.
   * @throws ProbelabError without a range or a `{range}`, for a named column that the answer has not or
   *   of another type, for SQL that does more than read, or as the server says.
   * @example
   * await lab.query(
   *   `SELECT toStartOfWeek(measurement_start_time, 1) AS t, software_version,
   *     countIf(anomaly = 't') / count() AS blocked, count() AS n
   *   FROM fastpath WHERE {range} AND test_name = {test:String} GROUP BY t, software_version`,
   *   {
   *     range: last("4 weeks", { now: lab.now }), params: { test: "web_connectivity" },
   *     columns: { t: "week", software_version: "version", blocked: share(), n: count() },
   *   },
   * );
   */
  query<Row extends object = Record<string, Value>>(
    sql: string,
    options: QueryOptions,
  ): Promise<Result<Row>>;
  /**
   * The columns of the table of measurements, or of that of the logs: their names and types.
   *
   * @example
   * await lab.columns();
   */
  columns(table?: "measurements" | "logs"): Promise<Result<{ column: string; type: string }>>;
  /**
   * Check-ins, submitted, accepted and stored reports of a range against the same hours of the week
   * before, by the forms of log lines (`tables.logs.forms`), and which step lost them: the probes,
   * the pipeline or ingestion. `freshness` says how fresh the data is now: the newest measurement, how
   * far storing lags behind, the newest log line of each program, and who is silent.
   *
   * @throws ProbelabError without a range, or as the server says.
   * @example
   * (await lab.funnel({ range: last("1 day", { now: lab.now }) })).sentence;
   */
  funnel(options: FunnelOptions): Promise<FunnelFinding>;
  /**
   * Did the flow of measurements drop: since when, by how much, in which values of which dimensions,
   * and is it a drop, silence, or rows that are stored late? `found` where it did within the range.
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * (await lab.anomalies({ range: last("7 days", { now: lab.now }) })).sentence;
   */
  anomalies(options: LabAnomaliesOptions): Promise<AnomaliesVerdict>;
  /**
   * Compares the runs of a new version with those of the version before it: duration,
   * measurements per run, seconds per measurement and the share of failed measurements, each with its
   * interval and the runs behind it; `found` where one moved, `undecided` where there is too little to tell.
   *
   * @throws ProbelabError where several programs have that version and `software` names none.
   * @example
   * const range = last("3 months", { now: lab.now });
   * (await lab.release("3.10.0", { range, software: "probe-android" })).sentence;
   */
  release(version: string, options: ReleaseOptions): Promise<ReleaseFinding>;
  /**
   * Takes the runs and the hourly counts of a range into an embedded database, in small passes: what
   * was read before is not read again, but for hours that rows may have reached late. It is asked
   * like the table, offline and in milliseconds, and says how old it is.
   *
   * @throws ProbelabError where the name is that of a snapshot of something else.
   * @example
   * const snapshot = await lab.snapshot({ range: last("3 months", { now: lab.now }) });
   * await snapshot.measurements.counts({ range: snapshot.range, every: "week", by: "probe_cc" });
   */
  snapshot(options: SnapshotOptions): Promise<Snapshot>;
  /** Gives the connection back. A notebook need not: it ends with its kernel. */
  close(): Promise<void>;
}

/**
 * Opens the databases of the service: the embedded ClickHouse in `.probelab` unless the options,
 * `PROBELAB_MEASUREMENTS` or probelab.config.json name another source.
 *
 * Questions may only read, and carry limits. User and password come from
 * `PROBELAB_MEASUREMENTS_USER` and `PROBELAB_MEASUREMENTS_PASSWORD`.
 *
 * @throws ProbelabError when the database can't be reached or its directory can't be written.
 * @example
 * const lab = await connect();
 * const remote = await connect({ measurements: "https://clickhouse.example.org:8443/service" });
 */
export async function connect(options: ConnectOptions = {}): Promise<Lab> {
  refuseUnknown(options, ["measurements", "logs", "limits", "tables", "credentials"], "connect");
  const databases = await openDatabases(options);
  const { database, logs, source, forms } = databases;
  const snapshots: AsyncDisposable[] = [];
  const close = async () => {
    for (const snapshot of snapshots) await snapshot[Symbol.asyncDispose]();
    await databases[Symbol.asyncDispose]();
  };
  try {
    const { now, notes } = await presentOf(database);
    offerColumnTypes(database, logs);
    const measurements = measurementsOf(database);
    const freshnessNow = () => freshness(database, logs);
    const askLogs = logsOf(logs, database, forms);
    return {
      measurements,
      runs: runsOf(database),
      testHelpers: testHelpersOf(database, now),
      logs: askLogs,
      source: database.source,
      notes: [...database.notes, ...notes],
      now,
      query: freeQueries(database),
      async columns(of = "measurements") {
        if (of !== "measurements" && of !== "logs") {
          throw new ProbelabError(
            `Can't list the columns of ${shownValue(of)}: pass "measurements" or "logs".`,
          );
        }
        const asked = of === "logs" ? await logs() : database;
        const { columns } = await asked.table(of);
        const rows = Array.from(columns, ([column, type]) => ({ column, type }));
        return resultOfRows(rows, { source: asked.source, notes: [] });
      },
      anomalies: (question) => flowAnomalies(measurements, freshnessNow, question),
      funnel: (question) => funnel(askLogs, measurements, freshnessNow, question),
      async snapshot(asked) {
        const taken = await snapshot(database, source, asked);
        snapshots.push(taken);
        return taken;
      },
      release: (version, asked) => release(database, version, asked),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the database of the measurements; that of the logs is opened when it is first asked. */
export async function openDatabases(options: ConnectOptions = {}) {
  const { credentials } = options;
  const source = await withPassword(
    "measurements",
    findSource("measurements", options),
    credentials,
  );
  const logSource = await withPassword("logs", findSource("logs", options), credentials);
  const limits = findLimits(options.limits);
  const tables = findTables(options.tables);
  const forms = checkForms(tables.logs.forms ?? {});
  const database = await Database.open(source, limits, tables);
  let own: Promise<Database> | undefined;
  /** That of the logs: the same where the sources are equal, else one that is opened on first use. */
  const logs = () => {
    if (isSame(source, logSource)) return Promise.resolve(database);
    own ??= Database.open(logSource, limits, tables).catch((error: unknown) => {
      // The server may be there when it is asked for again.
      own = undefined;
      throw error;
    });
    return own;
  };
  return {
    database,
    source,
    forms,
    logs,
    async [Symbol.asyncDispose]() {
      await (await own?.catch(() => undefined))?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

function isSame(a: DatabaseAddress, b: DatabaseAddress): boolean {
  if (a.kind === "embedded" || b.kind === "embedded") {
    return a.kind === "embedded" && b.kind === "embedded" && a.directory === b.directory;
  }
  const key = ({ url, database, username, password }: typeof a) =>
    JSON.stringify([url, database, username, password]);
  return key(a) === key(b);
}

/** The present of a database's rows, and a note where some lie behind it. */
async function presentOf(database: Database): Promise<{ now: Date; notes: readonly string[] }> {
  const present = { now: new Date(), notes: [] };
  if (!database.embedded) return present;
  let newest: NewestRow | null;
  try {
    newest = await newestRow(database.rows, await database.table("measurements"));
  } catch (error) {
    // Logs and free SQL may be asked all the same; a question on measurements says what is wrong.
    if (error instanceof ProbelabError && error.code !== "ABORTED") return present;
    throw error;
  }
  if (newest === null) return present;
  const end = new Date((Math.floor(+newest.at / DAY) + 1) * DAY);
  const [at, last] = [newest.at, newest.last].map((time) => momentText(time, "UTC"));
  const note = `${counted(newest.stray, "measurement")} of a clock ahead ${newest.stray === 1 ? "is" : "are"} left out of lab.now: the others end at ${at}, the last is of ${last}.`;
  return {
    now: end < present.now ? end : present.now,
    notes: newest.stray === 0 ? [] : [note],
  };
}
