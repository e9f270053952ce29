import { refuseUnknown } from "../base/check-options.js";
import { answerOrigin, type Answer, type Database } from "../database/database.js";
import { unknownColumn, type TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";

/** One test helper instance, as the table has it. */
export interface Instance {
  readonly rdn: string;
  readonly dnsZone: string;
  readonly name: string;
  readonly region: string;
  /** When it was made: `created_at` where the table has it, else as the name ends (`…-YYYYMMDDHHMMSS`, UTC); null where neither tells. */
  readonly madeAt: Date | null;
  /** When it began to drain; null while it is live. */
  readonly drainingAt: Date | null;
  /** When it was destroyed, where the table has that (wider) column; null where it is not known. */
  readonly destroyedAt: Date | null;
}

/** Instances in descending order of their names, how many the table holds, and what was asked. */
export interface Instances {
  readonly instances: readonly Instance[];
  readonly total: number;
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly answer: Answer;
  /** What columns that only some tables have would tell, a sentence each. */
  readonly notes: readonly string[];
}

const FIELDS = ["rdn", "dns_zone", "name", "region", "draining_at"] as const;

/** Said with every answer from this table. */
export const WHOLE_TABLE =
  "The whole table of test helpers was read: it has a row per instance and no time of its own to bound it by.";

/**
 * Reads the test helpers, those of the greatest names first, `limit` of them.
 *
 * Cancelled rows don't count: a CollapsingMergeTree (VersionedCollapsing, Replacing too) is read
 * with FINAL; behind another engine, a Distributed table or a view, rows are balanced by their
 * `sign`, where there is such a column.
 *
 * @throws ProbelabError where the table or one of the five fields of the seed document is missing.
 */
export async function readInstances(
  database: Database,
  options: { readonly limit?: number; readonly action: string; readonly signal?: AbortSignal },
): Promise<Instances> {
  const table = await database.table("testHelpers");
  for (const field of FIELDS) {
    if (!table.columns.has(field)) throw unknownColumn(field, table.name, table.columns);
  }
  const sql = instancesSql(table, options.limit);
  const parameters = options.limit === undefined ? {} : { limit: options.limit };
  const { action, signal } = options;
  const answer = await database.ask({ sql, parameters, action, signal });
  const rows = answer.table.objects() as Record<string, string | number | null>[];
  const instances = rows.map((row): Instance => {
    const name = String(row["_name"]);
    return {
      rdn: String(row["_rdn"]),
      dnsZone: String(row["_dns_zone"]),
      name,
      region: String(row["_region"]),
      madeAt: instant(row["_created_at"]) ?? timeOfName(name),
      drainingAt: instant(row["_draining_at"]),
      destroyedAt: instant(row["_destroyed_at"]),
    };
  });
  const notes = [
    ...(table.columns.has("created_at")
      ? []
      : [`${table.name} has no column created_at: ages come from the names.`]),
    ...(table.columns.has("destroyed_at")
      ? []
      : [`${table.name} has no column destroyed_at: whether a draining one is gone is not known.`]),
  ];
  return { instances, total: Number(rows[0]?.["_total"] ?? 0), sql, parameters, answer, notes };
}

/** The time that a name ends in, `…YYYYMMDDHHMMSS` in UTC; null where it ends in none. */
export function timeOfName(name: string): Date | null {
  const parts = /(?<!\d)(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(name)?.slice(1);
  if (parts === undefined) return null;
  const [year, month, day, hour, minute, second] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = new Date(text);
  // the calendar of Date is lenient: 30 February would be 2 March
  return !Number.isNaN(time.getTime()) && time.toISOString() === text ? time : null;
}

function instancesSql(table: TableInfo, limit: number | undefined): string {
  const name = table.from;
  const final = /(Replacing|Collapsing)/.test(table.engine);
  const columns = [
    ...FIELDS.slice(0, 4).map((field) => `toString(${table.column(field)}) AS _${field}`),
    `${milliseconds(table, "draining_at")} AS _draining_at`,
    `${milliseconds(table, "destroyed_at")} AS _destroyed_at`,
    `${milliseconds(table, "created_at")} AS _created_at`,
  ].join(",\n  ");
  const balanced =
    !final && table.columns.has("sign")
      ? "\nGROUP BY _rdn, _dns_zone, _name, _region, _draining_at, _destroyed_at, _created_at\nHAVING sum(`sign`) > 0"
      : "";
  const source = `SELECT ${columns}\nFROM ${name}${final ? " FINAL" : ""}${balanced}`;
  const most = limit === undefined ? "" : "\nLIMIT {limit:UInt32}";
  return `SELECT *, count() OVER () AS _total\nFROM (\n${source}\n)\nORDER BY _name DESC, _rdn${most}`;
}

/**
 * SQL for milliseconds since 1970, each value read by itself: a time, a date, whole seconds to
 * nanoseconds (as many digits as years from 2001 on have), or text of either, in UTC. Null where the
 * table has no such column and for what stands for "never": null, an empty text, zero, 1970.
 */
function milliseconds(table: TableInfo, name: string): string {
  const type = plainType(table.columns.get(name) ?? "");
  if (type === "") return "NULL";
  const raw = table.column(name);
  const never = (ms: string) => `nullIf(${ms}, 0)`;
  if (/^Date/.test(type)) {
    return never(`toFloat64(toUnixTimestamp64Milli(toDateTime64(${raw}, 3, 'UTC')))`);
  }
  const text = `trimBoth(ifNull(toString(${raw}), ''))`;
  const number = `toFloat64OrZero(${text})`;
  const digits = `multiIf(${number} >= 1e17, ${number} / 1e6, ${number} >= 1e14, ${number} / 1e3, ${number} >= 1e11, ${number}, ${number} * 1e3)`;
  // Text that is no time is an error of the server: null would say that the instance is live.
  const written = `toFloat64(toUnixTimestamp64Milli(parseDateTime64BestEffort(${text}, 3, 'UTC')))`;
  return `multiIf(${text} = '', NULL, match(${text}, '^[0-9]+([.][0-9]+)?$'), ${never(digits)}, ${never(written)})`;
}

function instant(value: string | number | null | undefined): Date | null {
  return value === null || value === undefined ? null : new Date(Number(value));
}

/** What `lab.testHelpers.list` takes. */
export interface ListOptions {
  /** Most rows, default 8: those of the greatest names. */
  readonly limit?: number;
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

/** `lab.testHelpers.list`: see {@link TestHelpers.list}. */
export async function list(
  database: Database,
  now: Date,
  options: ListOptions = {},
): Promise<Result<HelperRow>> {
  refuseUnknown(options, ["limit", "signal"], "list the test helpers");
  const { limit = 8, signal } = options;
  const read = await readInstances(database, {
    limit,
    action: "list the test helpers",
    ...(signal && { signal }),
  });
  const { instances, total } = read;
  const columns = {
    rdn: instances.map((each) => each.rdn),
    dns_zone: instances.map((each) => each.dnsZone),
    name: instances.map((each) => each.name),
    region: instances.map((each) => each.region),
    draining_at: instances.map((each) => each.drainingAt),
  };
  const aq = await import("arquero");
  return new Result(aq.table(columns), {
    ...answerOrigin(database, read, spanOf(instances, now), read.answer),
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

/** From the first that is known of the instances until now. */
function spanOf(instances: readonly Instance[], now: Date) {
  const times = instances.flatMap(({ madeAt, drainingAt }) =>
    [madeAt, drainingAt].flatMap((time) => (time === null ? [] : [time.getTime()])),
  );
  const first = Math.min(...times, now.getTime() - 1);
  return between(new Date(Math.max(0, first)), now);
}
