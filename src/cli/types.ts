import { Command } from "commander";
import { ProbelabError } from "../base/error.js";
import { writeWhole } from "../files/write-whole.js";
import { columnTypes, learnColumns, tablesOf } from "../lab/column-types.js";
import { openDatabases } from "../lab/connect.js";

/** `probelab types` */
export const typesCommand = new Command("types")
  .description("write the tables' columns as types, so that an unknown column is a type error")
  .option("--out <file>", "the declaration file to write", "probelab-columns.d.ts")
  .addHelpText(
    "after",
    "\nThe file is for the project's tsconfig.json; a notebook learns the columns with connect().",
  )
  .action(async ({ out }: { readonly out: string }) => {
    await using databases = await openDatabases();
    const learned = await learnColumns(tablesOf(databases.database, databases.logs));
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
