import type { Readable } from "node:stream";

/** Write access to the embedded database: for the sample service and for loading files only. */
export interface Writer extends AsyncDisposable {
  /** `embedded:DIR`. */
  readonly source: string;
  /** The directory that the embedded server holds. */
  readonly directory: string;
  /** The ClickHouse database that holds the tables. */
  readonly database: string;
  /** Runs one statement that returns nothing; values are bound to `{name:Type}`. */
  command(sql: string, options?: WriteOptions): Promise<void>;
  /** Runs a small query and returns its rows (numbers beyond 2^53 arrive as text). */
  rows<Row extends object>(sql: string, options?: WriteOptions): Promise<Row[]>;
  /**
   * Streams a file's bytes, as they are, into a table.
   *
   * @param statement an INSERT up to and with its FORMAT, such as
   *   `INSERT INTO fastpath (a, b) FORMAT JSONEachRow`.
   * @param body the bytes; `compression` names their encoding (`gzip`, `zstd`), default none.
   */
  insert(
    statement: string,
    body: Readable,
    options?: WriteOptions & { compression?: "gzip" | "zstd" },
  ): Promise<void>;
}

/** Values, settings and cancellation of one statement. */
export interface WriteOptions {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly signal?: AbortSignal;
}
