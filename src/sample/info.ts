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
  /** Version of the generator that made it; another one than GENERATOR makes other rows. */
  readonly generator: number;
}

/** Version of the generator: raised with every change of the rows that it makes. */
export const GENERATOR = 4;

/** The comment on a table that the sample service made; loaded tables have none. */
export const SAMPLE_COMMENT = "probelab sample";

/** The complete sample that the database holds, or null where there is none. */
export async function sampleInfo(writer: Writer): Promise<SampleInfo | null> {
  const tables = await listTables(writer);
  if (!tables.some(({ name }) => name === "sample_info")) return null;
  const [row] = await writer.rows<Record<keyof SampleInfo, number | string>>(
    `SELECT rows, seed, toUnixTimestamp(start) AS start, toUnixTimestamp(end) AS end, generator FROM sample_info`,
  );
  if (row === undefined) return null;
  const time = (seconds: number | string) => new Date(Number(seconds) * 1000);
  return {
    rows: Number(row.rows),
    seed: Number(row.seed),
    start: time(row.start),
    end: time(row.end),
    generator: Number(row.generator),
  };
}

/** A table of the writer's database. */
export interface HeldTable {
  readonly name: string;
  readonly rows: number;
  /** Whether the sample service made it. */
  readonly isSample: boolean;
  /** On disk, compressed. */
  readonly bytes: number;
}

export async function listTables(writer: Writer): Promise<HeldTable[]> {
  const tables = await writer.rows<Record<"name" | "comment" | "rows" | "bytes", string>>(
    `SELECT name, comment, ifNull(total_rows, 1) AS rows, ifNull(total_bytes, 0) AS bytes
     FROM system.tables WHERE database = {database:String} ORDER BY name`,
    { parameters: { database: writer.database } },
  );
  return tables.map(({ name, comment, rows, bytes }) => ({
    name,
    rows: Number(rows),
    isSample: comment === SAMPLE_COMMENT,
    bytes: Number(bytes),
  }));
}

/** True for a table of the service that holds rows which the sample service did not make. */
export function isLoaded({ name, rows, isSample }: HeldTable): boolean {
  return /^(fastpath|logs|test_helper_instances)$/.test(name) && !isSample && rows > 0;
}
