import { counted } from "../base/text.js";
import { fastpathTable, logsTable, testHelperInstancesTable } from "../sample/tables.js";

/** The tables that files can be loaded into. */
export type LoadableTable = "fastpath" | "logs" | "test_helper_instances";

/** What loading needs to know of a table. */
interface TableRules {
  /** The `CREATE TABLE` for a database that has none yet. */
  readonly create: (name: string) => string;
  /** What a row is: one, and several. */
  readonly nouns: readonly [string, string];
  /** The columns that a file must bring: the seed document's fields. */
  readonly required: readonly string[];
  /** The column that rows are sorted by in time, and SQL for it as a DateTime64 in UTC. */
  readonly time?: { readonly column: string; readonly sql: string };
  /** The column that groups rows into runs. */
  readonly run?: string;
}

/** The rules of each loadable table. */
export const LOADABLE_TABLES: Readonly<Record<LoadableTable, TableRules>> = {
  fastpath: {
    create: fastpathTable,
    nouns: ["measurement", "measurements"],
    required: [
      "measurement_start_time",
      "software_name",
      "software_version",
      "test_name",
      "report_id",
      "probe_cc",
      "probe_asn",
    ],
    time: {
      column: "measurement_start_time",
      sql: "toDateTime64(measurement_start_time, 3, 'UTC')",
    },
    run: "report_id",
  },
  logs: {
    create: logsTable,
    nouns: ["log entry", "log entries"],
    required: ["message", "SYSLOG_IDENTIFIER", "__REALTIME_TIMESTAMP"],
    time: {
      column: "__REALTIME_TIMESTAMP",
      sql: "fromUnixTimestamp64Micro(__REALTIME_TIMESTAMP, 'UTC')",
    },
  },
  test_helper_instances: {
    create: testHelperInstancesTable,
    nouns: ["test helper", "test helpers"],
    required: ["rdn", "dns_zone", "name", "region", "draining_at"],
  },
};

/** A number of rows in words: `1 measurement`, `1,200 log entries`. */
export function countRows(table: LoadableTable, rows: number): string {
  return counted(rows, ...LOADABLE_TABLES[table].nouns);
}
