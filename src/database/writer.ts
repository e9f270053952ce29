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
  /** Fills a table with rows in ClickHouse's own form (Native), as `Database.native` gives them. */
  insert(table: string, body: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Runs a small query and returns its rows (numbers beyond 2^53 arrive as text). */
  rows<Row extends object>(sql: string, options?: WriteOptions): Promise<Row[]>;
}

/** Values, settings and cancellation of one statement. */
export interface WriteOptions {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly signal?: AbortSignal;
}
