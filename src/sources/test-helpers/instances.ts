import { refuseUnknown } from "../../base/check-options.js";
import { answerOrigin, type Database } from "../../database/database.js";
import { unknownColumn, type TableInfo } from "../../database/table-info.js";
import { plainType } from "../../database/time-column.js";
import type { Origin } from "../../result/origin.js";
import { Result } from "../../result/result.js";

/** Options of `lab.testHelpers.list`. */
export interface ListOptions {
  /** Most rows, those of the greatest names. @default 8 */
  readonly limit?: number;
  /** Stops the query at the server. @default the interrupt of the running cell */
  readonly signal?: AbortSignal;
}

/** A row of `list`: an instance. */
export type HelperRow = {
  rdn: string;
  dns_zone: string;
  name: string;
  region: string;
  /** null while it is live. */
  draining_at: Date | null;
};

/** An instance with what wider tables know of it. */
export type Instance = HelperRow & {
  /** From `created_at` where the table has it, else from the name (`…-YYYYMMDDHHMMSS`, UTC); null where unknown. */
  readonly made_at: Date | null;
  /** From `destroyed_at` where the table has it; null where unknown. */
  readonly destroyed_at: Date | null;
};

const FIELDS = ["rdn", "dns_zone", "name", "region", "draining_at"] as const;

/** `lab.testHelpers.list`: see {@link TestHelpers.list}. */
export async function list(
  database: Database,
  options: ListOptions = {},
): Promise<Result<HelperRow>> {
  const action = "list the test helpers";
  refuseUnknown(options, ["limit", "signal"], action);
  const { limit = 8, signal } = options;
  const { instances, total, answer, origin } = await readInstances(database, {
    limit,
    action,
    signal,
  });
  const isCut = total > instances.length;
  return new Result(answer.select(...FIELDS).reify(), {
    ...origin,
    columns: { dimensions: [], measures: [] },
    reductions: isCut ? [`The ${instances.length} greatest names of ${total} test helpers.`] : [],
    notes: [
      ...origin.notes,
      ...(total === 0 ? ["The table of test helpers holds no instance."] : []),
    ],
  });
}

/**
 * Reads the test helpers of the greatest names, `limit` of them or all, name descending.
 *
 * @throws ProbelabError where the table or one of its five fields is missing.
 */
export async function readInstances(
  database: Database,
  options: {
    readonly limit?: number;
    readonly action: string;
    readonly signal: AbortSignal | undefined;
  },
): Promise<{
  readonly instances: readonly Instance[];
  /** Number of instances in the table. */
  readonly total: number;
  readonly table: TableInfo;
  readonly answer: Result["table"];
  readonly origin: Omit<Origin, "columns" | "reductions">;
}> {
  const { limit, action, signal } = options;
  const table = await database.table("testHelpers");
  for (const field of FIELDS) {
    if (!table.columns.has(field)) throw unknownColumn(field, table.name, table.columns);
  }
  const query = {
    sql: instancesSql(table, limit),
    parameters: limit === undefined ? {} : { limit },
  };
  const answer = await database.ask({ ...query, action, signal });
  const rows = answer.table.objects() as (Instance & { readonly total: number })[];
  const note =
    "The whole table of test helpers was read: it has a row per instance and no time of its own to bound it by.";
  return {
    instances: rows,
    total: Number(rows[0]?.total ?? 0),
    table,
    answer: answer.table,
    origin: { ...answerOrigin(database, query, undefined, answer), notes: [note] },
  };
}

/**
 * Cancelled rows don't count: a merging engine is read with FINAL; behind another one (Distributed,
 * a view) rows are balanced by their `sign`, where there is such a column.
 */
function instancesSql(table: TableInfo, limit: number | undefined): string {
  const final = table.merges ? " FINAL" : "";
  const columns = {
    ...Object.fromEntries(
      FIELDS.slice(0, 4).map((field) => [field, `toString(${table.column(field)})`]),
    ),
    draining_at: instant(table, "draining_at"),
    // Two numbers after each other are no time, and neither is 30 February.
    made_at: `coalesce(${instant(table, "created_at")}, toDateTime64(parseDateTimeOrNull(extract(toString(${table.column("name")}), '(?:^|[^0-9])([0-9]{14})$'), '%Y%m%d%H%i%S', 'UTC'), 3, 'UTC'))`,
    destroyed_at: instant(table, "destroyed_at"),
  };
  const names = Object.keys(columns).map((name) => `_${name}`);
  const balanced =
    !table.merges && table.columns.has("sign")
      ? `\nGROUP BY ${names.join(", ")}\nHAVING sum(\`sign\`) > 0`
      : "";
  return `SELECT ${names.map((name) => `${name} AS ${name.slice(1)}`).join(", ")}, count() OVER () AS total
FROM (
SELECT ${Object.entries(columns)
    .map(([name, text]) => `${text} AS _${name}`)
    .join(",\n  ")}
FROM ${table.from}${final}${balanced}
)
ORDER BY name DESC, rdn${limit === undefined ? "" : "\nLIMIT {limit:UInt32}"}`;
}

/**
 * SQL for an instant to the millisecond, read value by value: a time, a date, a number of seconds to
 * nanoseconds (by its number of digits), or text of either, in UTC. Null where the table has no such
 * column, and for what stands for "never": null, an empty text, zero, 1970.
 */
function instant(table: TableInfo, name: string): string {
  const type = plainType(table.columns.get(name) ?? "");
  if (type === "") return "CAST(NULL AS Nullable(DateTime64(3, 'UTC')))";
  const raw = table.column(name);
  const never = (time: string) => `nullIf(${time}, toDateTime64(0, 3, 'UTC'))`;
  if (type.startsWith("Date")) return never(`toDateTime64(${raw}, 3, 'UTC')`);
  const text = `trimBoth(ifNull(toString(${raw}), ''))`;
  const number = `toFloat64OrZero(${text})`;
  const ms = `multiIf(${number} >= 1e17, ${number} / 1e6, ${number} >= 1e14, ${number} / 1e3, ${number} >= 1e11, ${number}, ${number} * 1e3)`;
  // Text that is no time is an error of the server: null would say that the instance is live.
  const written = `parseDateTime64BestEffort(${text}, 3, 'UTC')`;
  return never(
    `multiIf(${text} = '', NULL, match(${text}, '^[0-9]+([.][0-9]+)?$'), fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC'), ${written})`,
  );
}
