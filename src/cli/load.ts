import { Argument, Command } from "commander";
import { openWriter } from "../database/writer.js";
import { findSource } from "../database/settings.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { loadFile } from "../sample/load.js";
import { LOADABLE_TABLES, type LoadableTable } from "../sample/tables.js";
import { line, lines, userInterrupt } from "./terminal.js";

/** `probelab load TABLE FILE…` */
export const loadCommand = new Command("load")
  .description("load files into the embedded database, each whole or not at all")
  .addArgument(new Argument("<table>", "the table").choices(Object.keys(LOADABLE_TABLES)))
  .argument("<files...>", "JSONL, CSV or TSV with a header, or Parquet; also packed with gzip")
  .option("--into <source>", "embedded:DIR to load into (default: the project's)")
  .action(async (table: LoadableTable, files: string[], { into }: { into?: string }) => {
    using interrupt = userInterrupt();
    const source = findSource(
      table === "logs" ? "logs" : "measurements",
      into === undefined ? {} : { measurements: into, logs: into },
    );
    await using writer = await openWriter(source);
    let [loaded, rows] = [0, 0];
    for (const file of files) {
      try {
        const { signal } = interrupt;
        const { span, ...found } = await loadFile(writer, table, file, { signal });
        [loaded, rows] = [loaded + 1, rows + found.rows];
        const said = [
          `${file}: ${counted(found.rows, "row")}${span ? `, ${span[0]} to ${span[1]} UTC` : ""}`,
          ...(found.defaulted.length > 0
            ? [`  not in the file, left at their defaults: ${found.defaulted.join(", ")}`]
            : []),
          ...(found.ignored.length > 0
            ? [`  not in ${table}, ignored: ${found.ignored.join(", ")}`]
            : []),
        ];
        process.stdout.write(`${lines(said.join("\n"))}\n`);
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        process.stderr.write(`${line(error.message, Infinity)}\n`);
        process.exitCode = error.code === "ABORTED" ? 130 : 1;
        if (error.code === "ABORTED") break;
      }
    }
    process.stdout.write(
      `${loaded} of ${counted(files.length, "file")}, ${counted(rows, "row")} loaded into ${writer.source}.\n`,
    );
  });
