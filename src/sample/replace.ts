import { randomBytes } from "node:crypto";
import type { WriteOptions, Writer } from "../database/writer.js";
import { SAMPLE_COMMENT } from "./info.js";
import { runsTable } from "./runs.js";
import {
  fastpathTable,
  logsTable,
  sampleInfoTable,
  sampleTruthTable,
  testHelperInstancesTable,
} from "./tables.js";

const TABLES = {
  fastpath: fastpathTable,
  logs: logsTable,
  test_helper_instances: testHelperInstancesTable,
  sample_truth: sampleTruthTable,
  sample_info: sampleInfoTable,
};

// the order in which they are put in place
const TABLE_NAMES = Object.keys(TABLES) as (keyof typeof TABLES)[];

/** Names of the tables that a sample is made in, aside from those that are in use. */
export type Aside = Readonly<Record<keyof typeof TABLES | "runs", string>>;

/** Names of one fill alone, so that two fills at a time don't mix. */
export function nameAside(): Aside {
  const mark = `${MAKING}${randomBytes(4).toString("hex")}`;
  return {
    runs: `runs${mark}`,
    fastpath: `fastpath${mark}`,
    logs: `logs${mark}`,
    test_helper_instances: `test_helper_instances${mark}`,
    sample_truth: `sample_truth${mark}`,
    sample_info: `sample_info${mark}`,
  };
}

/** Makes the tables aside, empty. */
export async function makeAside(
  writer: Writer,
  aside: Aside,
  options: WriteOptions,
): Promise<void> {
  await dropAbandoned(writer, options);
  await writer.command(`${runsTable(aside.runs)} COMMENT '${SAMPLE_COMMENT}'`, options);
  for (const table of TABLE_NAMES) {
    await writer.command(`${TABLES[table](aside[table])} COMMENT '${SAMPLE_COMMENT}'`, options);
  }
}

/**
 * Puts the tables in place, each by one atomic exchange. The row of the old `sample_info` goes first
 * and the new one comes last: whoever finds a row there finds all of its sample.
 */
export async function putInPlace(writer: Writer, aside: Aside): Promise<void> {
  await writer.command("TRUNCATE TABLE IF EXISTS sample_info SYNC");
  for (const table of TABLE_NAMES) {
    // an exchange needs both; an empty table is what a reader would have found anyway
    const empty = TABLES[table](table).replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS");
    await writer.command(`${empty} COMMENT '${SAMPLE_COMMENT}'`);
    await writer.command(`EXCHANGE TABLES ${table} AND ${aside[table]}`);
  }
}

/** Drops what is left aside: the runs, and the tables that were replaced or not finished. */
export async function dropAside(writer: Writer, aside: Aside): Promise<void> {
  for (const table of Object.values(aside)) {
    await writer.command(`DROP TABLE IF EXISTS ${table} SYNC`);
  }
}

const MAKING = "_making_";

/** Drops what fills that were killed have left; a fill that is under way has younger parts. */
async function dropAbandoned(writer: Writer, options: WriteOptions): Promise<void> {
  const abandoned = await writer.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {database:String}
       AND position(name, '${MAKING}') > 0 AND metadata_modification_time < now() - INTERVAL 2 HOUR`,
    { ...options, parameters: { database: writer.database } },
  );
  for (const { name } of abandoned) await writer.command(`DROP TABLE IF EXISTS ${name} SYNC`);
}
