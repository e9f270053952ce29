import type { ClickHouseClient } from "@clickhouse/client";
import type { TablesOptions } from "../../src/database/config.js";
import { quoteIdentifier } from "../../src/database/time-column.js";
import type { RestrictedServer } from "../support/restricted-server.js";
import type { Deployment } from "./deployment.js";
import { OWN_FORMS, priorityText, type Line, type Measured } from "./rows.js";

/** Where a deployment's tables are and what they are called. */
export interface Named {
  readonly database: string;
  readonly measurements: string;
  readonly logs: string;
  /** A column as the deployment calls it, by the library's name. */
  readonly column: (name: string) => string;
  /** The database that the user connects to. */
  readonly connected: string;
  readonly tables: TablesOptions;
}

/** Rows that the table holds, the twice held ones and Collapsing's signs included. */
export interface Held {
  readonly row: Measured;
  readonly sign: 1 | -1;
}

const quote = (text: string | null) =>
  text === null ? "NULL" : `'${text.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}'`;

/** The names of a deployment, and how they are configured. */
export function namesOf({ id, names, form }: Deployment): Named {
  const forms = form === "own" ? { forms: OWN_FORMS } : {};
  const seed = (name: string) => name;
  const database = names === "odd" ? `odd "ö" ${id}` : `d${id}`;
  const given = (measurements: string, logs: string, connected: string) => ({
    database,
    measurements,
    logs,
    connected,
    column: seed,
    tables: { logs: forms },
  });
  if (names === "seed") return given("fastpath", "logs", database);
  if (names === "elsewhere") {
    return {
      ...given("fastpath", "logs", "probelab"),
      tables: {
        measurements: { table: `d${id}.fastpath` },
        logs: { table: `d${id}.logs`, ...forms },
      },
    };
  }
  const end = names === "odd" ? " of 'ö' `x` \"y\"" : "_own";
  const column = (name: string) =>
    ["seq", "sign"].includes(name) ? name : `${{ __REALTIME_TIMESTAMP: "ts" }[name] ?? name}${end}`;
  const own = (...all: string[]) => Object.fromEntries(all.map((name) => [name, column(name)]));
  const [measurements, logs] =
    names === "odd" ? ["fast.päth `x\\'`", "the logs, `a`"] : ["fast", "lines"];
  const table = (name: string) =>
    names === "odd" ? `${quoteIdentifier(database)}.${quoteIdentifier(name)}` : name;
  return {
    ...given(measurements, logs, names === "odd" ? "probelab" : database),
    column,
    tables: {
      measurements: {
        table: table(measurements),
        time: column("measurement_start_time"),
        ...own("report_id", "software_name", "software_version", "test_name", "probe_cc"),
        ...own("probe_asn"),
      },
      logs: {
        table: table(logs),
        time: column("__REALTIME_TIMESTAMP"),
        message: column("message"),
        identifier: column("SYSLOG_IDENTIFIER"),
        ...forms,
      },
    },
  };
}

/** A deployment's tables as its user reaches them. */
export function sourceOf(server: RestrictedServer, one: Deployment): string {
  const url = one.user === "default" ? server.url : server.as(one.user);
  return url.replace(/probelab$/, encodeURIComponent(namesOf(one).connected));
}

/** The configuration of a deployment: its names, and those of optional columns that it has. */
export function tablesOf(one: Deployment): TablesOptions {
  const { tables, column } = namesOf(one);
  if (one.names === "seed" || one.names === "elsewhere") return tables;
  return {
    measurements: {
      ...tables.measurements,
      ...Object.fromEntries(optionalColumns(one).map(([name]) => [name, column(name)])),
    },
    logs: {
      ...tables.logs,
      ...(one.optional !== "none" && { host: column("host") }),
      ...(one.priority !== "missing" && { priority: column("PRIORITY") }),
    },
  };
}

type Column = readonly [name: string, type: string, value: (row: Measured) => string];

/** The optional columns that a deployment's measurements have. */
export function optionalColumns({ optional, failure }: Deployment): Column[] {
  const flag = ({ failed }: Measured) =>
    failure === "Bool" || failure === "Nullable(UInt8)"
      ? String(Number(failed))
      : quote(failed ? "t" : "f");
  const all: Column[] = [
    ["test_runtime", "Nullable(Float64)", ({ runtime }) => String(runtime ?? "NULL")],
    ["test_helper_address", "String", ({ helper }) => quote(helper)],
    ["measurement_uid", "String", ({ uid }) => quote(uid)],
    ["msm_failure", failure, flag],
  ];
  return optional === "all" ? all : optional === "some" ? all.slice(0, 2) : [];
}

/** The servers that each hold a part of a deployment's tables, and how rows are spread over them. */
export interface Spread {
  readonly shards: readonly RestrictedServer[];
  /** By its report, or in turn. */
  readonly by: "report" | "rand";
}

/**
 * Makes a deployment's tables; what the table of measurements holds. Spread over several servers, the
 * first has them as Distributed tables, and all hold a part in a table of another name.
 */
export async function makeTables(
  admin: ClickHouseClient,
  one: Deployment,
  measured: readonly Measured[],
  lines: readonly Line[],
  spread: Spread = { shards: [], by: "rand" },
): Promise<Held[]> {
  const named = namesOf(one);
  const { database, column } = named;
  const admins = spread.shards.length === 0 ? [admin] : spread.shards.map((shard) => shard.admin);
  const at = (table: string) => `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
  const on = (server: ClickHouseClient, query: string) =>
    server.command({
      query,
      clickhouse_settings: {
        allow_suspicious_low_cardinality_types: 1,
        optimize_on_insert: 0,
        async_insert: 0,
      },
    });
  const run = (query: string) => Promise.all(admins.map((server) => on(server, query)));
  /** Writes rows to their servers, given what each is placed by. */
  const write = async (table: string, rows: readonly (readonly [key: string, row: string])[]) => {
    const parts = admins.map((): string[] => []);
    rows.forEach(([key, row]) => parts[hashOf(key) % admins.length]?.push(row));
    for (const [index, part] of parts.entries()) {
      if (part.length === 0) continue;
      await on(admins[index] ?? admin, `INSERT INTO ${at(table)} VALUES ${part.join(", ")}`);
    }
  };
  /** A table's name on each server; over such parts the first has the table itself. */
  const part = (table: string) => (admins.length === 1 ? table : `part of '${table}'`);
  const distribute = async (table: string, key: string) => {
    if (admins.length === 1) return;
    const over = [`of${admins.length}`, database, part(table)].map(quote).join(", ");
    await on(
      admin,
      `CREATE TABLE ${at(table)} AS ${at(part(table))} ENGINE = Distributed(${over}, ${key})`,
    );
  };
  const asn = (value: string | null) => (/String/.test(one.asn) ? quote(value) : (value ?? "NULL"));
  const times = instants(one.time);
  const columns: Column[] = [
    ["measurement_start_time", one.time.type, ({ micros }) => times(micros)],
    ["report_id", one.report, ({ report }) => quote(report)],
    ["software_name", one.name, ({ name }) => quote(name)],
    ["software_version", one.version, ({ version }) => quote(version)],
    ["test_name", "LowCardinality(String)", ({ test }) => quote(test)],
    ["probe_cc", "String", ({ cc }) => quote(cc)],
    ["probe_asn", one.asn, (row) => asn(row.asn)],
    ["seq", "UInt32", ({ seq }) => String(seq)],
    ...optionalColumns(one),
  ];
  const signed = one.engine === "CollapsingMergeTree";
  const merging = /^(Replacing|Collapsing)/.test(one.engine);
  const typed = columns.map(([name, type]) => `${quoteIdentifier(column(name))} ${type}`);
  const time = quoteIdentifier(column("measurement_start_time"));
  const key = ` ORDER BY ${merging ? `(${time}, seq)` : time} SETTINGS allow_nullable_key = 1`;
  const engines = {
    MergeTree: `MergeTree${key}`,
    ReplacingMergeTree: `ReplacingMergeTree${key}`,
    CollapsingMergeTree: `CollapsingMergeTree(sign)${key}`,
    View: `MergeTree${key}`,
    Memory: "Memory",
  };
  const base = one.engine === "View" ? "behind" : part(named.measurements);
  await run(`CREATE DATABASE IF NOT EXISTS ${quoteIdentifier(database)}`);
  await run(
    `CREATE TABLE ${at(base)} (${typed.join(", ")}${signed ? ", sign Int8" : ""}) ENGINE = ${engines[one.engine]}`,
  );
  if (merging) await run(`SYSTEM STOP MERGES ${at(base)}`);
  // A row's text is made once: a second row of a measurement has the same time.
  const texts = new Map(
    measured.map((row) => [row.seq, columns.map(([, , value]) => value(row)).join(", ")]),
  );
  const held: Held[] = [];
  const insert = async (rows: readonly Held[]) => {
    held.push(...rows);
    await write(
      base,
      rows.map(({ row, sign }, index) => [
        // What a shard merges must lie on one.
        spread.by === "report" ? (row.report ?? "") : String(merging ? row.seq : index),
        `(${texts.get(row.seq)}${signed ? `, ${sign}` : ""})`,
      ]),
    );
  };
  await insert(measured.map((row) => ({ row, sign: 1 })));
  const twice = measured.filter(({ seq, micros }) => seq % 9 === 0 && micros !== null);
  if (signed) await insert(twice.map((row) => ({ row, sign: -1 })));
  await insert(twice.map((row) => ({ row, sign: 1 })));
  if (one.engine === "View") {
    await run(`CREATE VIEW ${at(part(named.measurements))} AS SELECT * FROM ${at(base)}`);
  }
  const report = quoteIdentifier(column("report_id"));
  await distribute(
    named.measurements,
    spread.by === "rand" ? "rand()" : `cityHash64(assumeNotNull(${report}))`,
  );
  await makeLogs(run, write, part(named.logs), one, named, lines);
  await distribute(named.logs, "rand()");
  return held;
}

/** A number for a text, the same each time. */
function hashOf(text: string): number {
  return [...text].reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0, 7);
}

async function makeLogs(
  run: (sql: string) => Promise<unknown>,
  write: (table: string, rows: readonly (readonly [string, string])[]) => Promise<void>,
  table: string,
  one: Deployment,
  { database, column }: Named,
  lines: readonly Line[],
): Promise<void> {
  const at = `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
  const times = instants(one.logTime);
  const numbers = /^(Nullable\()?UInt8/.test(one.priority);
  const columns: readonly (readonly [string, string, (line: Line) => string])[] = [
    ["__REALTIME_TIMESTAMP", one.logTime.type, ({ micros }) => times(micros)],
    ["message", one.message, ({ message }) => quote(message)],
    ["SYSLOG_IDENTIFIER", "LowCardinality(String)", ({ program }) => quote(program)],
    ...(one.priority === "missing"
      ? []
      : [
          [
            "PRIORITY",
            one.priority,
            ({ priority }: Line) => {
              const text = priorityText(one, priority);
              return numbers ? (text ?? "NULL") : quote(text);
            },
          ] as const,
        ]),
    ...(one.optional === "none"
      ? []
      : [["host", "LowCardinality(String)", ({ host }: Line) => quote(host)] as const]),
  ];
  const typed = columns.map(([name, type]) => `${quoteIdentifier(column(name))} ${type}`);
  const [time, ...rest] = columns.map(([name]) => quoteIdentifier(column(name)));
  const plain = `MergeTree ORDER BY ${time} SETTINGS allow_nullable_key = 1`;
  const engine = {
    MergeTree: plain,
    View: plain,
    CollapsingMergeTree: plain,
    Memory: "Memory",
    ReplacingMergeTree: `ReplacingMergeTree ORDER BY (${[time, ...rest].join(", ")}) SETTINGS allow_nullable_key = 1`,
  }[one.engine];
  await run(`CREATE TABLE ${at} (${typed.join(", ")}) ENGINE = ${engine}`);
  await write(
    table,
    lines.map((line, index) => [
      String(index),
      `(${columns.map(([, , value]) => value(line)).join(", ")})`,
    ]),
  );
}

/** Writes instants, and one after the other what stands for none. */
function instants({ write, none }: Deployment["time"]): (micros: number | null) => string {
  let at = 0;
  return (micros) => (micros === null ? (none[at++ % none.length] as string) : write(micros));
}
