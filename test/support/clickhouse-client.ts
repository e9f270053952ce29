import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const RUN = `
const { open, load, DataType } = require("ffi-rs");
open({ library: "chdb", path: require("chdb/libchdb").libchdbPath() });
const argv = ["clickhouse", ...process.argv.slice(1)];
load({ library: "chdb", funcName: "chdb_query_cmdline", retType: DataType.I64,
  paramsType: [DataType.I32, DataType.StringArray], paramsValue: [argv.length, argv] });
`;

/**
 * Runs a file of SQL as ClickHouse's own command does (clickhouse-local, of the engine's package),
 * on the data of a directory that no server has open (a copy).
 *
 * @returns the rows of its last query.
 */
export function runSqlFile(sql: string, folder: string, data?: string): Record<string, unknown>[] {
  rmSync(join(folder, "query.out"), { force: true });
  const [file, out] = [join(folder, "query.sql"), join(folder, "query.out")];
  const query = sql.trimEnd().replace(/;$/, "");
  writeFileSync(file, `${query} INTO OUTFILE '${out}' TRUNCATE FORMAT JSONEachRow;\n`);
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      "-e",
      RUN,
      "--",
      ...(data === undefined ? [] : [`--path=${join(data, "data")}`, "--database=probelab"]),
      `--queries-file=${file}`,
    ],
    { encoding: "utf8", timeout: 60_000 },
  );
  if (status !== 0) throw new Error(`clickhouse ended with ${status}: ${stderr}`);
  return readFileSync(out, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
