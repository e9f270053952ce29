/** Limits that every question carries, so that a notebook can't harm the production database. */
export interface Guard {
  /** Seconds after which the server gives a question up; default 120. */
  readonly maxSeconds: number;
  /** Rows that an answer may have; more is an error, never a cut. Default 2,000,000. */
  readonly maxResultRows: number;
  /** Memory that one question may take at the server, in bytes; default 4 GiB. */
  readonly maxMemory: number;
}

/** The limits where the notebook gives none. */
export const DEFAULT_GUARD: Guard = {
  maxSeconds: 120,
  maxResultRows: 2_000_000,
  maxMemory: 4 * 2 ** 30,
};

/**
 * ClickHouse settings of a question that may only read.
 *
 * `readonly: 1` forbids every write (2 would let `INSERT INTO FUNCTION file()` through), and with
 * `cancel_http_readonly_queries_on_client_close` an abort really stops the query. A user whose
 * profile is `readonly = 2` can't send `readonly` and needs none.
 */
export function guardSettings(guard: Guard, userReadonly: number): Record<string, string | number> {
  return {
    ...(userReadonly === 0 && { readonly: 1 }),
    cancel_http_readonly_queries_on_client_close: 1,
    max_execution_time: guard.maxSeconds,
    timeout_overflow_mode: "throw",
    max_result_rows: String(guard.maxResultRows),
    result_overflow_mode: "throw",
    max_memory_usage: String(guard.maxMemory),
    output_format_arrow_compression_method: "none",
    output_format_arrow_low_cardinality_as_dictionary: 1,
  };
}
