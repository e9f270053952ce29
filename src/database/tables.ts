/** The service's tables, by what they hold. */
export type TableRole = "measurements" | "logs" | "testHelpers";

/** A deployment's names for a table and its columns. */
export interface TableNames {
  /** The table's name, or database.name where it is in another database than the source's. */
  readonly table: string;
  /** The column that bounds the table's questions in time. */
  readonly time: string;
  /** Unit of the time column's numbers or digits, if rows don't agree. */
  readonly unit?: string;
  /** The cluster whose servers each hold a part of the table, where it is no Distributed table. */
  readonly cluster?: string;
  /** Columns by the names that the seed document (or the library) gives them, where they differ. */
  readonly columns: Readonly<Record<string, string>>;
  /** Log lines only: what they look like, as `src/logs` reads it. */
  readonly forms?: Readonly<Record<string, string | readonly string[]>>;
}

/** A deployment's names for its tables. */
export type Tables = Readonly<Record<TableRole, TableNames>>;

/** The names of the seed document, sections 2.1 to 2.3. */
export const SEED_TABLES: Tables = {
  measurements: { table: "fastpath", time: "measurement_start_time", columns: {} },
  logs: { table: "logs", time: "__REALTIME_TIMESTAMP", columns: {} },
  testHelpers: { table: "test_helper_instances", time: "draining_at", columns: {} },
};

/** Asks a small question; rows as objects of text and numbers. */
export type AskRows = <Row extends object>(
  sql: string,
  parameters?: Record<string, unknown>,
  action?: string,
) => Promise<Row[]>;
