import { Command } from "commander";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { withPassword } from "../database/credentials.js";
import { Database } from "../database/database.js";
import { directoryFiles } from "../database/embedded/directory.js";
import { findLimits, findSource, findTables } from "../database/settings.js";
import { newestRow } from "../database/table-info.js";
import type { TableRole } from "../database/tables.js";
import { boundsSql } from "../database/time-column.js";
import { kernelName } from "../kernel/kernelspec.js";
import { forTerminal, line } from "./terminal.js";
import { WEEK } from "../time/span.js";

/** The outcome of one check; `advice` is for what not everybody needs. */
interface Check {
  readonly name: string;
  readonly state: "ok" | "advice" | "failure";
  readonly found: string;
  readonly remedy?: string;
}

const MARKS = { ok: "ok    ", advice: "advice", failure: "FAILED" };

/** `probelab doctor` */
export const doctorCommand = new Command("doctor")
  .description("Check kernel, Jupyter, database and tables, and say what to do")
  .addHelpText("after", "\nExits with 1 if a check failed; advice is no failure.")
  .action(async () => {
    for await (const { name, state, found, remedy } of checks()) {
      const head = `${MARKS[state]}  ${name.padEnd(9)} `;
      const text = [`${head}${line(found)}`, ...(remedy === undefined ? [] : [line(remedy)])];
      const shown = text.map((each) => forTerminal(each, process.stdout, 18));
      process.stdout.write(`${shown.join(`\n${" ".repeat(18)}`)}\n`);
      if (state === "failure") process.exitCode = 1;
    }
  });

async function* checks(): AsyncGenerator<Check, void, undefined> {
  yield await checkKernel();
  yield await checkJupyter();
  for (const role of ["measurements", "logs", "testHelpers"] as const) yield await checkTable(role);
}

/** The output of a command of Jupyter; empty where it has none. */
async function jupyter(...given: string[]): Promise<string> {
  const answer = promisify(execFile)("jupyter", given, { timeout: 60_000 });
  return (await answer.catch(() => ({ stdout: "" }))).stdout;
}

/** Asks Jupyter for the kernel, and looks for the programs that it starts. */
async function checkKernel(): Promise<Check> {
  const name = "Kernel";
  type Listed = Record<string, { resource_dir: string; spec: { argv: string[] } } | undefined>;
  const text = (await jupyter("kernelspec", "list", "--json")) || '{ "kernelspecs": {} }';
  const kernel = (JSON.parse(text) as { kernelspecs: Listed }).kernelspecs[kernelName];
  if (kernel === undefined) {
    const remedy = "To use it in Jupyter, run npx probelab kernel install.";
    return { name, state: "advice", found: "not installed", remedy };
  }
  const found = kernel.resource_dir;
  const missing = kernel.spec.argv.find((part) => /[\\/]/.test(part) && !existsSync(part));
  if (missing === undefined) return { name, state: "ok", found };
  const remedy = "Run npx probelab kernel install again; Node or probelab was moved since.";
  return {
    name,
    state: "failure",
    found: `${found} starts ${missing}, which is not there`,
    remedy,
  };
}

async function checkJupyter(): Promise<Check> {
  const versions = await jupyter("--version");
  const frontends = [...versions.matchAll(/^(jupyterlab|notebook)\s*:\s*(\d\S*)$/gm)];
  const found = frontends.map(([, frontend, version]) => `${frontend} ${version}`).join(", ");
  if (found !== "") return { name: "Jupyter", state: "ok", found };
  const remedy = "To edit notebooks, install one: pip install jupyterlab (or use VS Code).";
  return { name: "Jupyter", state: "advice", found: "neither JupyterLab nor Notebook", remedy };
}

/** The seed document's fields, which the notebooks need. */
const FIELDS: Readonly<Record<TableRole, readonly string[]>> = {
  measurements: [
    ...["report_id", "software_name", "software_version", "test_name", "probe_cc", "probe_asn"],
  ],
  logs: ["message", "SYSLOG_IDENTIFIER"],
  testHelpers: ["rdn", "dns_zone", "name", "region"],
};

/** Asks a table one question over a week, with the user and the names that notebooks use. */
export async function checkTable(role: TableRole): Promise<Check> {
  const from = role === "logs" ? "logs" : "measurements";
  let name: string = role;
  try {
    const tables = findTables();
    name = tables[role].table;
    const source = await withPassword(from, findSource(from));
    if (source.kind === "embedded" && !existsSync(directoryFiles(source.directory).data)) {
      const remedy = "Fill it with npx probelab start, sample or load.";
      return { name, state: "advice", found: `${source.label} is empty`, remedy };
    }
    await using database = await Database.open(source, findLimits(), tables);
    return { name, ...(await askTable(database, role)) };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    if (!(error instanceof ProbelabError && error.code === "UNKNOWN_TABLE")) {
      const remedy =
        "See docs/deployment.md: the source in PROBELAB_MEASUREMENTS, the user's rights, names of columns.";
      return { name, state: "failure", found, remedy };
    }
    const remedy = `If it has another name, write it in tables.${role} of probelab.config.json.`;
    return { name, state: role === "measurements" ? "failure" : "advice", found, remedy };
  }
}

async function askTable(database: Database, role: TableRole): Promise<Omit<Check, "name">> {
  const table = await database.table(role);
  const { time, columns } = table;
  const isTimed = role !== "testHelpers"; // a live helper has no time
  const newest = database.embedded && isTimed ? await newestRow(database.rows, table) : null;
  const end = new Date((newest?.at ?? new Date()).getTime() + 1_000);
  const week = boundsSql(time, { start: new Date(end.getTime() - WEEK), end });
  const bounds = isTimed ? [week.sql, time.usable ?? "1"].join(" AND ") : "1";
  const fields = FIELDS[role];
  const known = fields.filter((field) => columns.has(field)).map((field) => table.column(field));
  const [row] = await database.rows<{ rows: number }>(
    `SELECT count() + 0 * sum(ignore(${known.join(", ") || "1"})) AS rows FROM ${table.from} WHERE ${bounds}`,
    isTimed ? week.parameters : {},
    `read ${table.name}`,
  );
  const rows = Number(row?.rows ?? 0);
  const span = isTimed ? ` in the week to ${end.toISOString().slice(0, 16)}Z` : "";
  const found = [
    `${database.source} (ClickHouse ${database.version})`,
    `${table.engine || "engine not shown"}, ${columns.size} columns, ${table.timeName} as ${time.written}, ${counted(rows, "row")}${span}`,
    ...[...database.notes, ...table.notes].map((note) => note.replace(/[.]$/, "")),
  ].join("; ");
  const missing = fields.filter((field) => !columns.has(field)).join(", ");
  const remedy = [
    missing && `Name its columns ${missing} in tables.${role} of probelab.config.json.`,
    rows === 0 ? "Ask for a range that holds rows." : "",
  ].filter((each) => each !== "");
  if (remedy.length === 0) return { state: "ok", found };
  return { state: "advice", found, remedy: remedy.join(" ") };
}
