import { Database } from "../database/database.js";
import { findGuard, findSource, findTables, type DatabaseName } from "../database/settings.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import type { TableRole, Tables } from "../database/tables.js";
import { boundsSql } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import { existsSync } from "node:fs";
import { directoryFiles } from "../database/embedded/directory.js";
import type { Check } from "./check.js";

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
    const source = findSource(from);
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
  const found = error instanceof Error ? error.message : String(error);
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
