import { refuseUnknown } from "../base/check-options.js";
import { answerOrigin, type Answer, type Database } from "../database/database.js";
import { unknownColumn, type TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";

/** A test helper instance. */
export interface Instance {
  readonly rdn: string;
  readonly dnsZone: string;
  readonly name: string;
  readonly region: string;
  /** From `created_at` where the table has it, else from the name (`…-YYYYMMDDHHMMSS`, UTC); null where unknown. */
  readonly madeAt: Date | null;
  /** null while it is live. */
  readonly drainingAt: Date | null;
  /** From `destroyed_at` where the table has it; null where unknown. */
  readonly destroyedAt: Date | null;
}

/** Instances in descending order of their names, and how they were asked for. */
export interface Instances {
  readonly instances: readonly Instance[];
  /** Number of instances in the table. */
  readonly total: number;
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly answer: Answer;
  readonly table: TableInfo;
}

/** Options of `lab.testHelpers.list`. */
export interface ListOptions {
  /** Most rows, those of the greatest names; default 8. */
  readonly limit?: number;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

/** A row of `list`: an instance. */
export type HelperRow = {
  rdn: string;
  dns_zone: string;
  name: string;
  region: string;
  draining_at: Date | null;
};

/** The first note of every answer from this table. */
export const WHOLE_TABLE =
  "The whole table of test helpers was read: it has a row per instance and no time of its own to bound it by.";

const FIELDS = ["rdn", "dns_zone", "name", "region", "draining_at"] as const;

/** `lab.testHelpers.list`: see {@link TestHelpers.list}. */
export async function list(
  database: Database,
  now: Date,
  options: ListOptions = {},
): Promise<Result<HelperRow>> {
  const action = "list the test helpers";
  refuseUnknown(options, ["limit", "signal"], action);
  const { limit = 8, signal } = options;
  const read = await readInstances(database, { limit, action, signal });
  const { instances, total } = read;
  const columns = {
    rdn: instances.map((each) => each.rdn),
    dns_zone: instances.map((each) => each.dnsZone),
    name: instances.map((each) => each.name),
    region: instances.map((each) => each.region),
    draining_at: instances.map((each) => each.drainingAt),
  };
  const times = instances.flatMap(({ madeAt, drainingAt }) => [madeAt, drainingAt]);
  const first = Math.min(+now - 1, ...times.flatMap((time) => (time === null ? [] : [+time])));
  const aq = await import("arquero");
  return new Result(aq.table(columns), {
    ...answerOrigin(database, read, between(new Date(Math.max(0, first)), now), read.answer),
    columns: {
      dimensions: (["rdn", "dns_zone", "name", "region"] as const).map((name) => ({
        name,
        order: [...new Set(columns[name])],
      })),
      measures: [],
    },
    reductions:
      total > instances.length
        ? [`The ${instances.length} greatest names of ${total} test helpers.`]
        : [],
    notes: [WHOLE_TABLE, ...(total === 0 ? ["The table of test helpers holds no instance."] : [])],
  });
}

/**
 * Reads the test helpers of the greatest names, `limit` of them or all.
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
): Promise<Instances> {
  const { limit, action, signal } = options;
  const table = await database.table("testHelpers");
  for (const field of FIELDS) {
    if (!table.columns.has(field)) throw unknownColumn(field, table.name, table.columns);
  }
  const sql = instancesSql(table, limit);
  const parameters = limit === undefined ? {} : { limit };
  const answer = await database.ask({ sql, parameters, action, signal });
  const rows = answer.table.objects() as Record<string, string | number | null>[];
  const instances = rows.map((row): Instance => {
    const time = (name: string) => (row[name] == null ? null : new Date(Number(row[name])));
    const name = String(row["_name"]);
    return {
      rdn: String(row["_rdn"]),
      dnsZone: String(row["_dns_zone"]),
      name,
      region: String(row["_region"]),
      madeAt: time("_created_at") ?? timeOfName(name),
      drainingAt: time("_draining_at"),
      destroyedAt: time("_destroyed_at"),
    };
  });
  return { instances, total: Number(rows[0]?.["_total"] ?? 0), sql, parameters, answer, table };
}

/** The time at the end of a name, `YYYYMMDDHHMMSS` in UTC; null where there is none. */
function timeOfName(name: string): Date | null {
  const parts = /(?<!\d)(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(name)?.slice(1);
  if (parts === undefined) return null;
  const [year, month, day, hour, minute, second] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = new Date(text);
  // Date takes 30 February for 2 March.
  return !Number.isNaN(time.getTime()) && time.toISOString() === text ? time : null;
}

/**
 * Cancelled rows don't count: a merging engine is read with FINAL; behind another one (Distributed,
 * a view) rows are balanced by their `sign`, where there is such a column.
 */
function instancesSql(table: TableInfo, limit: number | undefined): string {
  const texts = FIELDS.slice(0, 4).map((field) => `toString(${table.column(field)}) AS _${field}`);
  const times = ["draining_at", "destroyed_at", "created_at"].map(
    (field) => `${milliseconds(table, field)} AS _${field}`,
  );
  const names = [...FIELDS, "destroyed_at", "created_at"].map((field) => `_${field}`);
  const balanced =
    !table.merges && table.columns.has("sign")
      ? `\nGROUP BY ${names.join(", ")}\nHAVING sum(\`sign\`) > 0`
      : "";
  return `SELECT *, count() OVER () AS _total
FROM (
SELECT ${[...texts, ...times].join(",\n  ")}
FROM ${table.from}${table.merges ? " FINAL" : ""}${balanced}
)
ORDER BY _name DESC, _rdn${limit === undefined ? "" : "\nLIMIT {limit:UInt32}"}`;
}

/**
 * SQL for milliseconds since 1970, read value by value: a time, a date, a number of seconds to
 * nanoseconds (by its number of digits), or text of either, in UTC. Null where the table has no such
 * column, and for what stands for "never": null, an empty text, zero, 1970.
 */
function milliseconds(table: TableInfo, name: string): string {
  const type = plainType(table.columns.get(name) ?? "");
  if (type === "") return "NULL";
  const raw = table.column(name);
  const never = (ms: string) => `nullIf(${ms}, 0)`;
  if (type.startsWith("Date")) {
    return never(`toFloat64(toUnixTimestamp64Milli(toDateTime64(${raw}, 3, 'UTC')))`);
  }
  const text = `trimBoth(ifNull(toString(${raw}), ''))`;
  const number = `toFloat64OrZero(${text})`;
  const digits = `multiIf(${number} >= 1e17, ${number} / 1e6, ${number} >= 1e14, ${number} / 1e3, ${number} >= 1e11, ${number}, ${number} * 1e3)`;
  // Text that is no time is an error of the server: null would say that the instance is live.
  const written = `toFloat64(toUnixTimestamp64Milli(parseDateTime64BestEffort(${text}, 3, 'UTC')))`;
  return `multiIf(${text} = '', NULL, match(${text}, '^[0-9]+([.][0-9]+)?$'), ${never(digits)}, ${never(written)})`;
}
