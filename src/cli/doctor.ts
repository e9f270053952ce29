import { Command } from "commander";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { ProbelabError } from "../base/error.js";
import { withPassword } from "../credentials/credentials.js";
import { Database } from "../database/database.js";
import { directoryFiles } from "../database/embedded/directory.js";
import { findLimits, findSource, findTables, type DatabaseName } from "../database/settings.js";
import { newestRow } from "../database/table-info.js";
import type { TableRole } from "../database/tables.js";
import { boundsSql } from "../database/time-column.js";
import { grouped } from "../base/text.js";
import { installedKernels } from "../notebook/kernel/kernelspec.js";
import { kernelName } from "../notebook/own-package.js";
import { line } from "./terminal.js";

/** The outcome of one check. */
export interface Check {
  readonly name: string;
  /** `advice` is for what not everybody needs. */
  readonly state: "ok" | "advice" | "failure";
  readonly found: string;
  readonly remedy?: string;
}

const MARKS = { ok: "ok    ", advice: "advice", failure: "FAILED" };

/** `probelab doctor` */
export const doctorCommand = new Command("doctor")
  .description("Check Node, kernel, Jupyter, database and tables, and say what to do")
  .addHelpText("after", "\nExits with 1 if a check failed; advice is no failure.")
  .action(async () => {
    for await (const { name, state, found, remedy } of checks()) {
      process.stdout.write(`${MARKS[state]}  ${name.padEnd(9)} ${line(found)}\n`);
      if (remedy !== undefined) process.stdout.write(`${" ".repeat(18)}${line(remedy)}\n`);
      if (state === "failure") process.exitCode = 1;
    }
  });

async function* checks(): AsyncGenerator<Check, void, undefined> {
  yield checkNode();
  yield checkKernel();
  yield await checkJupyter();
  for (const role of ["measurements", "logs", "testHelpers"] as const) yield await checkTable(role);
}

/** Node 20.19 is the first that loads ES modules by `require`, which cells need. */
function checkNode(): Check {
  const { node: found } = process.versions;
  const [major = 0, minor = 0] = found.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return { name: "Node", state: "ok", found };
  return { name: "Node", state: "failure", found, remedy: "Install Node 20.19 or newer." };
}

/** Looks for the kernel where Jupyter does, and for the programs that it starts. */
function checkKernel(): Check {
  const kernel = installedKernels(process.env).find(({ name }) => name === kernelName);
  if (kernel === undefined) {
    return {
      name: "Kernel",
      state: "advice",
      found: "not installed",
      remedy: "To use it in Jupyter, run npx probelab kernel install.",
    };
  }
  const programs = kernel.argv.filter((part) => /[\\/]/.test(part));
  const missing = programs.find((path) => !existsSync(path));
  if (missing === undefined) return { name: "Kernel", state: "ok", found: kernel.folder };
  return {
    name: "Kernel",
    state: "failure",
    found: `${kernel.folder} starts ${missing}, which is not there`,
    remedy: "Run npx probelab kernel install again; Node or probelab was moved since.",
  };
}

async function checkJupyter(): Promise<Check> {
  const answer = promisify(execFile)("jupyter", ["--version"], { timeout: 60_000 });
  const { stdout } = await answer.catch(() => ({ stdout: "" }));
  const frontends = [...stdout.matchAll(/^(jupyterlab|notebook)\s*:\s*(\d\S*)$/gm)];
  const found = frontends.map(([, frontend, version]) => `${frontend} ${version}`).join(", ");
  if (found !== "") return { name: "Jupyter", state: "ok", found };
  return {
    name: "Jupyter",
    state: "advice",
    found: "neither JupyterLab nor Notebook",
    remedy: "To edit notebooks, install one: pip install jupyterlab (or use VS Code).",
  };
}

/** Tables, where they are configured, and the seed document's fields, which the notebooks need. */
const TABLES: Readonly<Record<TableRole, { from: DatabaseName; fields: readonly string[] }>> = {
  measurements: {
    from: "measurements",
    fields: [
      ...["report_id", "software_name", "software_version", "test_name", "probe_cc", "probe_asn"],
    ],
  },
  logs: { from: "logs", fields: ["message", "SYSLOG_IDENTIFIER"] },
  testHelpers: { from: "measurements", fields: ["rdn", "dns_zone", "name", "region"] },
};

/** Asks a table one question over a week, with the user and the names that notebooks use. */
export async function checkTable(role: TableRole): Promise<Check> {
  const { from, fields } = TABLES[role];
  let name: string = role;
  try {
    const tables = findTables();
    name = tables[role].table;
    const source = await withPassword(from, findSource(from));
    const empty = source.kind === "embedded" && !existsSync(directoryFiles(source.directory).data);
    if (empty) {
      return {
        name,
        state: "advice",
        found: `${source.label} is empty`,
        remedy: "Fill it with npx probelab start, sample or load.",
      };
    }
    await using database = await Database.open(source, findLimits(), tables);
    const table = await database.table(role);
    const isTimed = role !== "testHelpers"; // a live helper has no time
    const newest = database.embedded && isTimed ? await newestRow(database.rows, table) : null;
    const end = new Date((newest ?? new Date()).getTime() + 1_000);
    const week = boundsSql(table.time, { start: new Date(end.getTime() - 7 * 86_400_000), end });
    const bounds = [week.sql, ...(table.time.usable === null ? [] : [table.time.usable])];
    const known = fields
      .filter((field) => table.columns.has(field))
      .map((field) => table.column(field));
    const [row] = await database.rows<{ rows: number }>(
      `SELECT count() + 0 * sum(ignore(${known.join(", ") || "1"})) AS rows FROM ${table.from} WHERE ${isTimed ? bounds.join(" AND ") : "1"}`,
      isTimed ? week.parameters : {},
      `read ${table.name}`,
    );
    const rows = Number(row?.rows ?? 0);
    const span = isTimed ? ` in the week to ${end.toISOString().slice(0, 16)}Z` : "";
    const missing = fields.filter((field) => !table.columns.has(field));
    const remedies = [
      ...(missing.length > 0
        ? [`Name its columns ${missing.join(", ")} in tables.${role} of probelab.config.json.`]
        : []),
      ...(rows === 0 ? ["Ask for a range that holds rows."] : []),
    ];
    const found = [
      `${database.source} (ClickHouse ${database.version})`,
      `${table.engine || "engine not shown"}, ${table.columns.size} columns, ${table.timeName} as ${table.time.written}, ${grouped(rows)} rows${span}`,
      ...[...database.notes, ...table.notes].map((note) => note.replace(/[.]$/, "")),
    ].join("; ");
    if (remedies.length === 0) return { name, state: "ok", found };
    return { name, state: "advice", found, remedy: remedies.join(" ") };
  } catch (error) {
    const missing = error instanceof ProbelabError && error.code === "UNKNOWN_TABLE";
    const found = error instanceof Error ? error.message : String(error);
    return {
      name,
      state: missing && role !== "measurements" ? "advice" : "failure",
      found,
      remedy: missing
        ? `If it has another name, write it in tables.${role} of probelab.config.json.`
        : "See docs/deployment.md: the source in PROBELAB_MEASUREMENTS, the user's rights, names of columns.",
    };
  }
}
