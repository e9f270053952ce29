import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { ProbelabError } from "../base/error.js";
import { Database } from "../database/database.js";
import { directoryFiles } from "../database/embedded/directory.js";
import { withPassword } from "../credentials/credentials.js";
import { findGuard, findSource, findTables, type DatabaseName } from "../database/settings.js";
import type { Source } from "../database/source.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import type { TableRole, Tables } from "../database/tables.js";
import { boundsSql, PLAUSIBLE } from "../database/time-column.js";

/** What was looked at, how it stands, and where it doesn't stand well, what to do. */
export interface Check {
  readonly name: string;
  /** `advice` is for what not everybody needs. */
  readonly state: "ok" | "advice" | "failure";
  readonly found: string;
  readonly remedy?: string;
}

const name = "Database";

/** Opens the database of the measurements, as a notebook would, but makes none that isn't there. */
export async function checkDatabase(): Promise<Check> {
  try {
    const source = await withPassword("measurements", findSource("measurements"));
    return source.kind === "embedded" ? await checkEmbedded(source) : await checkServer(source);
  } catch (error) {
    return {
      name,
      state: "failure",
      found: messageOf(error),
      remedy:
        "Set PROBELAB_MEASUREMENTS to https://host:8443/database, or to embedded:DIR with a folder that you may write to.",
    };
  }
}

async function checkServer(source: Source): Promise<Check> {
  await using database = await Database.open(source, findGuard());
  return { name, state: "ok", found: `${database.source} (ClickHouse ${database.version})` };
}

async function checkEmbedded(source: Source & { kind: "embedded" }): Promise<Check> {
  const missing = missingEngine();
  if (missing !== undefined) {
    return {
      name,
      state: "failure",
      found: missing,
      remedy:
        "Run npm install anew, so that the embedded engine (chdb) is there, or set PROBELAB_MEASUREMENTS to https://host:8443/database.",
    };
  }
  const empty: Check = {
    name,
    state: "advice",
    found: `${source.label} is empty`,
    remedy: "Fill it with npx probelab start, sample or load.",
  };
  if (!existsSync(directoryFiles(source.directory).data)) return empty;
  await using database = await Database.open(source, findGuard(), findTables());
  const held = await heldBy(database);
  if (held === undefined) return empty;
  const { rows, first, last } = held;
  const found = `${source.label}: ${rows.toLocaleString("en-US")} measurements, ${first} to ${last} UTC`;
  return { name, state: "ok", found };
}

/** Rows of the measurement table that have a time, and its first and last to the minute, in UTC. */
async function heldBy(
  database: Database,
): Promise<{ rows: number; first: string; last: string } | undefined> {
  let table: TableInfo;
  try {
    table = await database.table("measurements");
  } catch (error) {
    if (error instanceof ProbelabError && error.code === "UNKNOWN_TABLE") return undefined;
    throw error;
  }
  const { time } = table;
  const minute = (bound: "min" | "max") =>
    `formatDateTime(${time.dateTime(`${bound}(${time.sql})`)}, '%Y-%m-%d %H:%i', 'UTC')`;
  const bounds = boundsSql(time, PLAUSIBLE);
  const usable = time.usable === null ? "" : ` AND ${time.usable}`;
  const [row] = await database.rows<{ rows: string | number; first: string; last: string }>(
    `SELECT count() AS rows, ${minute("min")} AS first, ${minute("max")} AS last FROM ${table.from} WHERE ${bounds.sql}${usable}`,
    bounds.parameters,
  );
  const rows = Number(row?.rows ?? 0);
  return row === undefined || rows === 0 ? undefined : { ...row, rows };
}

function missingEngine(): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    require.resolve("ffi-rs");
    const { libchdbPath } = require("chdb/libchdb") as { libchdbPath: () => string };
    libchdbPath();
    return undefined;
  } catch (error) {
    const [line = ""] = messageOf(error).split("\n");
    return `the embedded engine is missing (${line})`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The fields of the seed document, which the shipped notebooks ask for. */
const FIELDS: Readonly<Record<TableRole, readonly string[]>> = {
  measurements: [
    ...["report_id", "software_name", "software_version", "test_name", "probe_cc", "probe_asn"],
  ],
  logs: ["message", "SYSLOG_IDENTIFIER"],
  testHelpers: ["rdn", "dns_zone", "name", "region"],
};

/** How far back from now doctor looks. */
const DAYS = 7;
const DAY = 86_400_000;

/** A row of these is read, to see whether the user may. */
const ROWS = 1_000;

/**
 * Asks each table that the notebooks use one bounded question, with the user and the names that
 * they use, and tells what was learned of it and what could not be told.
 */
export async function* checkTables(): AsyncGenerator<Check, void, undefined> {
  const roles: readonly [TableRole, DatabaseName][] = [
    ["measurements", "measurements"],
    ["logs", "logs"],
    ["testHelpers", "measurements"],
  ];
  for (const [role, from] of roles) {
    const check = await checkTable(role, from);
    if (check !== undefined) yield check;
  }
}

async function checkTable(role: TableRole, from: DatabaseName): Promise<Check | undefined> {
  let tables: Tables;
  try {
    tables = findTables();
    const source = await withPassword(from, findSource(from));
    // What isn't made yet is told of the database, and is not made here.
    if (source.kind === "embedded" && !existsSync(directoryFiles(source.directory).data)) return;
    await using database = await Database.open(source, findGuard(), tables);
    const table = await database.table(role);
    return { name: tables[role].table, ...(await look(database, role, table)) };
  } catch (error) {
    return refused(role, error);
  }
}

async function look(
  database: Database,
  role: TableRole,
  table: TableInfo,
): Promise<Omit<Check, "name">> {
  const missing = FIELDS[role].filter((field) => !table.columns.has(field));
  const fields = FIELDS[role].filter((field) => table.columns.has(field));
  const read = fields.map((field) => table.column(field)).join(", ") || "1";
  const end =
    database.embedded && role !== "testHelpers"
      ? await newestRow(database.rows, table)
      : new Date();
  const stop = new Date((end ?? new Date()).getTime() + 1_000);
  const bounds = boundsSql(table.time, { start: new Date(stop.getTime() - DAYS * DAY), end: stop });
  // The helpers' table has a row a helper, and a live one has no time.
  const where =
    role === "testHelpers"
      ? { sql: "1", parameters: {} }
      : {
          sql: [bounds.sql, ...(table.time.usable === null ? [] : [table.time.usable])].join(
            " AND ",
          ),
          parameters: bounds.parameters,
        };
  const [row] = await database.rows<{ rows: number; looked: number }>(
    `SELECT (SELECT count() FROM ${table.from} WHERE ${where.sql}) AS rows,
  count() + sum(ignore(*)) AS looked FROM (SELECT ${read} FROM ${table.from} WHERE ${where.sql} LIMIT ${ROWS})`,
    where.parameters,
    `read ${table.name}`,
  );
  const rows = Number(row?.rows ?? 0);
  const span =
    role === "testHelpers"
      ? ""
      : ` in the ${DAYS} days to ${stop.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const told = [
    `${table.engine || "engine not shown"}, ${table.columns.size} columns, ${table.timeName} as ${table.time.written}, ${rows.toLocaleString("en-US")} rows${span}`,
    ...(table.merges ? ["rows are merged in the background"] : []),
    ...table.notes.map((note) => note.replace(/[.]$/, "")),
    ...table.untold.map((one) => one.replace(/[.]$/, "")),
  ];
  const remedies = [
    ...(missing.length > 0
      ? [
          `It has no column ${missing.join(", ")}: where they have other names, write them in tables.${role} of probelab.config.json; questions that need them refuse.`,
        ]
      : []),
    ...(rows === 0 ? ["Nothing could be seen of its rows: ask for a range that holds some."] : []),
    ...(table.notes.length + table.untold.length > 0
      ? ["Answers say what was left out; see docs/deployment.md."]
      : []),
  ];
  return {
    state: remedies.length > 0 ? "advice" : "ok",
    found: told.join("; "),
    ...(remedies.length > 0 && { remedy: remedies.join(" ") }),
  };
}

/** A table that isn't there is advice where notebooks can do without it. */
function refused(role: TableRole, error: unknown): Check {
  const found = messageOf(error);
  const missing = error instanceof ProbelabError && error.code === "UNKNOWN_TABLE";
  return {
    name: { measurements: "fastpath", logs: "logs", testHelpers: "test_helper_instances" }[role],
    state: missing && role !== "measurements" ? "advice" : "failure",
    found,
    remedy: missing
      ? `Where it has another name, write it in tables.${role} of probelab.config.json, such as { "tables": { "${role}": { "table": "…" } } }.`
      : "Grant the user SELECT on it, or name its columns in probelab.config.json; see docs/deployment.md.",
  };
}
