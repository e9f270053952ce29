import { Command } from "commander";
import { Database } from "../database/database.js";
import { findLimits, findSource, findTables } from "../database/settings.js";
import { DIMENSIONS } from "../measurements/measurements.js";
import { rollupSql } from "../snapshot/rollup.js";

/** `probelab rollup` */
export const rollupCommand = new Command("rollup")
  .description("print the DDL of a materialized view that keeps a row for each run, for operators")
  .requiredOption("--print", "print it; probelab itself changes nothing on a server")
  .option("--dimensions <names>", "columns to keep, with commas between")
  .action(async ({ dimensions }: { readonly dimensions?: string }) => {
    await using database = await Database.open(
      findSource("measurements"),
      findLimits(),
      findTables(),
    );
    const wanted = dimensions?.split(",").map((name) => name.trim());
    process.stdout.write(await rollupSql(database, wanted, DIMENSIONS));
  });
