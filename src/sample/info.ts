import type { Writer } from "../database/writer.js";

/** Which sample a database holds. */
export interface SampleInfo {
  /** Measurements. */
  readonly rows: number;
  readonly seed: number;
  /** The first instant that the sample covers. */
  readonly start: Date;
  /** The first instant after it. */
  readonly end: Date;
  /** When it was made. */
  readonly madeAt: Date;
  /** Version of the generator that made it; another one than GENERATOR makes other rows. */
  readonly generator: number;
}

/** Version of the generator: raised with every change of the rows that it makes. */
export const GENERATOR = 4;

/** The comment on a table that the sample service made; loaded tables have none. */
export const SAMPLE_COMMENT = "probelab sample";

/** The complete sample that the database holds, or null where there is none. */
export async function sampleInfo(
  writer: Writer,
  table = "sample_info",
): Promise<SampleInfo | null> {
  const tables = await writer.rows(
    "SELECT name FROM system.tables WHERE database = {database:String} AND name = {table:String}",
    { parameters: { database: writer.database, table } },
  );
  if (tables.length === 0) return null;
  const [row] = await writer.rows<Record<keyof SampleInfo, number | string>>(
    `SELECT rows, seed, toUnixTimestamp(start) AS start, toUnixTimestamp(end) AS end,
       toUnixTimestamp(made_at) AS madeAt, generator FROM ${table}`,
  );
  if (row === undefined) return null;
  const time = (seconds: number | string): Date => new Date(Number(seconds) * 1000);
  return {
    rows: Number(row.rows),
    seed: Number(row.seed),
    start: time(row.start),
    end: time(row.end),
    madeAt: time(row.madeAt),
    generator: Number(row.generator),
  };
}

/** What a complete sample amounts to. */
interface SampleFigures {
  readonly measurements: number;
  readonly runs: number;
  readonly logLines: number;
  readonly testHelpers: number;
  /** On disk, compressed. */
  readonly bytes: number;
}

/** Counts what the sample tables hold. */
export async function sampleFigures(writer: Writer): Promise<SampleFigures> {
  const [row] = await writer.rows<Record<keyof SampleFigures, number | string>>(
    `SELECT (SELECT count() FROM fastpath) AS measurements,
       (SELECT uniqExact(report_id) FROM fastpath) AS runs,
       (SELECT count() FROM logs) AS logLines,
       (SELECT count() FROM test_helper_instances) AS testHelpers,
       (SELECT sum(total_bytes) FROM system.tables WHERE database = {database:String} AND comment = {comment:String}) AS bytes`,
    { parameters: { database: writer.database, comment: SAMPLE_COMMENT } },
  );
  return {
    measurements: Number(row?.measurements),
    runs: Number(row?.runs),
    logLines: Number(row?.logLines),
    testHelpers: Number(row?.testHelpers),
    bytes: Number(row?.bytes),
  };
}

/** What is planted in the sample, a line each, by the time at which it begins. */
export async function plantedFaults(writer: Writer): Promise<string[]> {
  const faults = await writer.rows<{ name: string; where: string; changes: string }>(
    `SELECT name, trim(concat(software_name, ' ', software_version)) AS where, changes
     FROM sample_truth ORDER BY released_at, name`,
  );
  return faults.map(({ name, where, changes }) =>
    [name, where === "" ? "" : ` (${where})`, ": ", changes].join(""),
  );
}

/**
 * Names of the tables that a sample would replace although they hold rows that the sample service
 * did not make, such as rows from `probelab load`.
 */
export async function loadedTables(writer: Writer): Promise<string[]> {
  const tables = await writer.rows<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = {database:String} AND name IN ('fastpath', 'logs', 'test_helper_instances')
       AND comment != {comment:String} AND ifNull(total_rows, 1) > 0
     ORDER BY name`,
    { parameters: { database: writer.database, comment: SAMPLE_COMMENT } },
  );
  return tables.map((table) => table.name);
}
