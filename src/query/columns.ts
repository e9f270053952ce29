declare global {
  /**
   * The columns of this deployment's tables, by table. Empty until `connect()` in a notebook
   * declares them: then an unknown column is a type error.
   */
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- declared anew by each deployment
  interface ProbelabColumns {}
}

/** The columns that the seed document names, to complete where nothing else is known. */
interface Suggested {
  measurements:
    | "measurement_start_time"
    | "software_name"
    | "software_version"
    | "test_name"
    | "report_id"
    | "probe_cc"
    | "probe_asn";
  logs: "message" | "identifier" | "priority" | "host" | "SYSLOG_IDENTIFIER";
}

/** The columns of a table: those declared of this deployment, else any. */
export type ColumnOf<Table extends keyof Suggested> = Table extends keyof ProbelabColumns
  ? keyof ProbelabColumns[Table] & string
  : // Any text, and the known ones complete.
    Suggested[Table] | (string & {});
