import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";

/** Limits that every question carries, so that a notebook can't harm the production database. */
export interface Limits {
  /** Seconds after which the server gives a question up. @default 120 */
  readonly maxSeconds: number;
  /** Rows that an answer may have; more is an error, never a cut. @default 2,000,000 */
  readonly maxResultRows: number;
  /** Memory that one question may take at the server, in bytes. @default 4 GiB */
  readonly maxMemory: number;
  /** Rows that one question may read; more is refused before anything is read. @default as many as it takes */
  readonly maxRowsRead: number;
}

/** The limits where the notebook gives none. */
export const DEFAULT_LIMITS: Limits = {
  maxSeconds: 120,
  maxResultRows: 2_000_000,
  maxMemory: 4 * 2 ** 30,
  maxRowsRead: Infinity,
};

/** A setting as it is in force for the server's user, and the values that the user may give it. */
export interface Setting {
  readonly value: string;
  /** True if a profile or the server's configuration sets it. */
  readonly changed: boolean;
  /** Bounds of the profile's constraints. */
  readonly min: string | null;
  readonly max: string | null;
  /** True where the user may not change it. */
  readonly fixed: boolean;
  /** Missing where the server is too old to say. */
  readonly default?: string | undefined;
}

/** By name; a setting that the server does not know is not there. */
export type Settings = ReadonlyMap<string, Setting>;

/**
 * Settings that cut answers, or give the same SQL another one. A list's further values are as right as its first,
 * but refuse some questions of tables on a cluster.
 */
const MEANING: Readonly<Record<string, string | readonly string[]>> = {
  read_overflow_mode: "throw",
  read_overflow_mode_leaf: "throw",
  group_by_overflow_mode: "throw",
  sort_overflow_mode: "throw",
  result_overflow_mode: "throw",
  timeout_overflow_mode: "throw",
  timeout_overflow_mode_leaf: "throw",
  set_overflow_mode: "throw",
  join_overflow_mode: "throw",
  transfer_overflow_mode: "throw",
  distinct_overflow_mode: "throw",
  limit: "0",
  offset: "0",
  partial_result_on_first_cancel: "0",
  skip_unavailable_shards: "0",
  distributed_group_by_no_merge: "0",
  // It trusts that each row lies where the sharding key says, whoever wrote it.
  optimize_skip_unused_shards: "0",
  distributed_product_mode: ["global", "deny", "allow"],
  join_use_nulls: "0",
  group_by_use_nulls: "0",
  transform_null_in: "0",
  cast_keep_nullable: "0",
  join_default_strictness: "ALL",
  aggregate_functions_null_for_empty: "0",
  empty_result_for_aggregation_by_empty_set: "0",
  count_distinct_implementation: "uniqExact",
  prefer_column_name_to_alias: "0",
  session_timezone: "",
  output_format_arrow_string_as_string: "1",
  final: "0",
  apply_deleted_mask: "1",
  apply_patch_parts: "1",
  do_not_merge_across_partitions_select_final: "0",
  additional_table_filters: "{}",
  additional_result_filter: "",
  use_query_cache: "0",
};

/** The server shows them as 0 whatever a profile sets; `changed` alone says so. */
const HIDDEN: readonly string[] = ["limit", "offset"];

/** Optional output settings; answers can be decoded without them. */
const FORM: Readonly<Record<string, string>> = {
  max_query_size: String(16 * 2 ** 20),
  prefer_global_in_and_join: "1",
  extremes: "0",
  date_time_input_format: "basic",
  date_time_output_format: "simple",
  output_format_json_quote_64bit_integers: "0",
  output_format_arrow_compression_method: "none",
  output_format_arrow_low_cardinality_as_dictionary: "1",
  output_format_arrow_use_signed_indexes_for_dictionary: "1",
  output_format_arrow_use_64_bit_indexes_for_dictionary: "0",
  cancel_http_readonly_queries_on_client_close: "1",
  // What stands before a server closes connections on which nothing passes, often after a minute.
  send_progress_in_http_headers: "1",
};

/** Between two headers of progress, at least; all of them must fit into the 16 kB that Node.js takes. */
const PROGRESS_MS = 10_000;
const MOST_PROGRESS = 60;
const PROGRESS_INTERVAL = "http_headers_progress_interval_ms";

/**
 * Settings that change how much a question costs, what is logged or how other things than SELECT work,
 * and no answer. Any other that a profile sets is set back to its default.
 */
const HARMLESS =
  /^(max_|min_|allow_|compile_|log_|send_|s3_|azure_|kafka_|mysql_|postgresql_|odbc_|http_|connect|receive_|network_|backup_|insert_|async_insert|output_format_|input_format_|format_|readonly$|default_format$|compatibility)|thread|filesystem|uncompressed_cache|page_cache|mark_cache|condition_cache|_log|timeout|memory|bytes|priority|prefetch|profil|trace|metric|speed|retr|load_balancing|hedged|concurrency|compression|interval|_ddl|experimental|insert/;

/** The settings that `limitSettings` needs to know. */
export const SETTING_NAMES: readonly string[] = [
  ...["readonly", "max_memory_usage", "max_execution_time", "max_result_rows"],
  "max_rows_to_read",
  ...Object.keys(MEANING),
  ...Object.keys(FORM),
  PROGRESS_INTERVAL,
];

/** The limits as far as the database's user can have them. */
export interface Limited {
  /** Settings that every question sends. */
  readonly settings: Readonly<Record<string, string>>;
  /** The limits within the user's constraints. */
  readonly limits: Limits;
  /** Settings that questions send besides, but not those that learn a table. */
  readonly asking: Readonly<Record<string, string>>;
  /** Limits that the user can't have, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * ClickHouse settings of a question that may only read, as far as its user may set them.
 *
 * `readonly: 1` forbids every write (2 would let `INSERT INTO FUNCTION file()` through), and with
 * `cancel_http_readonly_queries_on_client_close` an abort really stops the query. A user whose
 * profile is `readonly = 2` can't send `readonly` and needs none; one with `readonly = 1` can send
 * nothing, and the limits hold on this side alone.
 *
 * @throws ProbelabError if the profile cuts or changes answers and the user may not change that.
 */
export function limitSettings(limits: Limits, inForce: Settings, source: string): Limited {
  const settings: Record<string, string> = {};
  const falsified: string[] = [];
  const notes: string[] = [];
  /** Sends a setting where the user may; false where it is in force otherwise. */
  const want = (name: string, value: string): boolean => {
    const known = inForce.get(name);
    if (known === undefined) return true;
    const below = known.min !== null && Number(value) < Number(known.min);
    const above = known.max !== null && Number(value) > Number(known.max);
    const free = !known.fixed && !below && !above;
    if (free) settings[name] = value;
    return free || known.value === value;
  };
  const limit = (name: string, wanted: number, unit: string): number => {
    const known = inForce.get(name);
    if (known === undefined) return wanted;
    const highest = Number(known.fixed ? known.value : known.max) || Infinity; // 0 is no limit
    const value = Math.max(Math.min(wanted, highest), known.fixed ? 0 : Number(known.min ?? 0));
    if (!known.fixed) settings[name] = String(value);
    if (value < wanted) {
      const amount = `${grouped(value)} ${unit}`;
      notes.push(`The database's user may have at most ${amount}.`);
    }
    return value;
  };
  // A lower limit of the profile stays; ClickHouse compares with what its index leaves to be read.
  const most = "max_rows_to_read";
  const lower = Number(inForce.get(most)?.value ?? 0) || Infinity;
  if (limits.maxRowsRead < lower && !want(most, String(limits.maxRowsRead))) {
    throw new ProbelabError(
      `Can't limit the rows that a question reads at ${source} (maxRowsRead): its user may not set max_rows_to_read. Have it set in the user's profile, or leave maxRowsRead out.`,
    );
  }
  const kept = {
    maxRowsRead: Math.min(limits.maxRowsRead, lower),
    maxSeconds: limit("max_execution_time", limits.maxSeconds, "seconds a question"),
    maxResultRows: limit("max_result_rows", limits.maxResultRows, "rows an answer"),
    maxMemory: limit("max_memory_usage", limits.maxMemory, "bytes of memory a question"),
  };
  if (inForce.get("readonly")?.value === "0") want("readonly", "1");
  for (const [name, values] of Object.entries(MEANING)) {
    const [value = "", ...others] = [values].flat();
    const known = inForce.get(name);
    const accepted = want(name, value) || others.includes(known?.value ?? "");
    const hidden = HIDDEN.includes(name) && known?.changed === true && !(name in settings);
    if (!accepted || hidden) falsified.push(name);
  }
  if (falsified.length > 0) {
    const value = (name: string) =>
      HIDDEN.includes(name) ? "…" : inForce.get(name)?.value.slice(0, 200);
    const list = falsified.map((name) => `${name} = ${value(name)}`).join(", ");
    throw new ProbelabError(
      `Can't use ${source}: the profile of its user sets ${list} as read-only, so results could be silently truncated or altered. Set it to ClickHouse's default, or give the user readonly = 2.`,
    );
  }
  for (const [name, { value, changed, default: usual }] of inForce) {
    const isOurs = SETTING_NAMES.includes(name) || HARMLESS.test(name);
    if (isOurs || !changed || usual === undefined || usual === value || want(name, usual)) continue;
    notes.push(
      `The profile of the database's user sets ${name} = ${value.slice(0, 60)}, which may change answers and can't be overruled.`,
    );
  }
  const interval = Math.max(PROGRESS_MS, (1_000 * kept.maxSeconds) / MOST_PROGRESS);
  // Without the interval there would be ten headers a second.
  const { send_progress_in_http_headers: progress, ...form } = FORM;
  if (inForce.has(PROGRESS_INTERVAL) && want(PROGRESS_INTERVAL, String(Math.round(interval)))) {
    want("send_progress_in_http_headers", progress!);
  }
  for (const [name, value] of Object.entries(form)) {
    if (want(name, value) || name !== "cancel_http_readonly_queries_on_client_close") continue;
    notes.push("The database's user can't have an interrupted question stopped at the server.");
  }
  if (inForce.get("readonly")?.value === "1") {
    notes.unshift(
      "The database's user may change no setting (readonly = 1): probelab's limits hold here, not at the server.",
    );
  }
  const asking = most in settings ? { [most]: settings[most] } : {};
  delete settings[most];
  return { settings, asking, limits: kept, notes };
}
