import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { DIMENSIONS } from "../../src/measurements/measurements.js";
import { print } from "../../src/query/sql.js";
import { PIECE, piecesSql } from "../../src/snapshot/pieces.js";
import { rollupSql } from "../../src/snapshot/rollup.js";
import { newDatabase } from "../support/own-database.js";
import { KINDS, makeRows } from "./rows.js";

it.each(KINDS.slice(0, 3).map((kind) => [kind.time, kind] as const))(
  "rollupSql writes a view that keeps the pieces of a table of %s",
  async (_time, kind) => {
    await using own = await newDatabase();
    await makeRows(own.writer, kind);
    await using database = await Database.open(own.source);
    const [create, view] = (await rollupSql(database, undefined, DIMENSIONS)).split(/;\n/);
    const settings = { allow_suspicious_low_cardinality_types: 1 };
    await own.writer.command(create!, { settings });
    await own.writer.command(view!, { settings });
    // What arrives, twice in parts that merge.
    await own.writer.command("CREATE TABLE rows AS fastpath");
    await own.writer.command("INSERT INTO rows SELECT * FROM fastpath");
    await own.writer.command("TRUNCATE TABLE fastpath");
    await own.writer.command("INSERT INTO fastpath SELECT * FROM rows WHERE n % 2 = 0");
    await own.writer.command("INSERT INTO fastpath SELECT * FROM rows WHERE n % 2 = 1");
    await own.writer.command("OPTIMIZE TABLE fastpath_pieces FINAL");
    const table = await database.table("measurements");
    const dimensions = DIMENSIONS.filter((one) => table.columns.has(one));
    const range = { start: new Date("2026-04-01"), end: new Date("2027-04-01") };
    const wanted = print(piecesSql(table, dimensions, range, {}));
    const columns = (prefix: string) =>
      [...PIECE.map((one) => `${prefix}${one}`), ...dimensions.map((one) => `by_${one}`)].join();
    const hashes = `SELECT sum(cityHash64(toString(tuple(${columns("_")})))) AS hash, count() AS n`;
    const [a] = await database.rows<{ hash: string; n: string }>(`${hashes} FROM (${wanted.sql})`, {
      ...wanted.parameters,
    });
    const [b] = await database.rows<{ hash: string; n: string }>(
      `${hashes.replaceAll(/ _|\(_|,_/g, (text) => text.slice(0, -1))} FROM fastpath_pieces`,
    );
    expect(Number(a?.n)).toBeGreaterThan(1000);
    expect(b).toEqual(a);
  },
);

it("rollupSql refuses a table whose rows merge after a view has counted them", async () => {
  await using own = await newDatabase();
  await makeRows(own.writer, KINDS[3]!);
  await using database = await Database.open(own.source);
  await expect(rollupSql(database, undefined, DIMENSIONS)).rejects.toThrow(
    "Can't write a materialized view: fastpath is a ReplacingMergeTree",
  );
});
