import { Command } from "commander";
import { Database } from "../database/database.js";
import { findLimits, findSource, findTables } from "../database/settings.js";
import { ProbelabError } from "../base/error.js";
import { writeWhole } from "../files/write-whole.js";
import { columnTypes, learnColumns, tablesOf } from "../lab/column-types.js";
import { sharedDatabase } from "../lab/shared-database.js";

/** `probelab types` */
export const typesCommand = new Command("types")
  .description("write the tables' columns as types, so that an unknown column is a type error")
  .option("--out <file>", "the declaration file to write", "probelab-columns.d.ts")
  .addHelpText(
    "after",
    "\nThe file is for the project's tsconfig.json; a notebook learns the columns with connect().",
  )
  .action(async ({ out }: { readonly out: string }) => {
    const [source, logSource] = [findSource("measurements"), findSource("logs")];
    const [limits, tables] = [findLimits(), findTables()];
    await using database = await Database.open(source, limits, tables);
    await using logs = sharedDatabase(database, source, logSource, limits, tables);
    const learned = await learnColumns(tablesOf(database, logs.open));
    for (const { table, error } of learned.untold) {
      const why = error instanceof Error ? error.message : String(error);
      process.stderr.write(`probelab types: ${table} is left out. ${why}\n`);
    }
    if (learned.tables.size === 0) {
      throw new ProbelabError(
        `Can't write ${out}: no table's columns could be learned. Mend what the lines above say, or see probelab doctor.`,
      );
    }
    await writeWhole(out, columnTypes(learned.tables));
    const written = [...learned.tables].map(([table, { size }]) => `${size} columns of ${table}`);
    process.stdout.write(`${out}: ${written.join(", ")}\n`);
  });
