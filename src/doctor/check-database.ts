import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { Database } from "../database/database.js";
import { directoryFiles } from "../database/embedded/directory.js";
import { findGuard, findSource, findTables } from "../database/settings.js";
import type { Source } from "../database/source.js";
import type { TableInfo } from "../database/table-info.js";
import { boundsSql, PLAUSIBLE } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import type { Check } from "./check.js";

const name = "Database";

/** Opens the database of the measurements, as a notebook would, but makes none that isn't there. */
export async function checkDatabase(): Promise<Check> {
  try {
    const source = findSource("measurements");
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
