import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { DIMENSIONS } from "../../src/measurements/measurements.js";
import { print, type Sql } from "../../src/query/sql.js";
import { PIECE, piecesSql } from "../../src/snapshot/pieces.js";
import { findRollup, rollupSql } from "../../src/snapshot/rollup.js";
import { subjectOf } from "../../src/snapshot/take.js";
import { between } from "../../src/index.js";
import { newDatabase } from "../support/own-database.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { KINDS, makeRows } from "./rows.js";

const TAKING = {
  name: "measurements",
  range: between("2026-05-01", "2026-05-09"),
  where: {},
  late: { text: "2 days", milliseconds: 0 },
  local: false,
  signal: undefined,
};

it.each(KINDS.slice(0, 3).map((kind) => [kind.time, kind] as const))(
  "rollupSql writes a view that keeps the pieces of a table of %s, and snapshots are taken of it where it is whole",
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
    const table = await database.table("measurements");
    const dimensions = DIMENSIONS.filter((one) => table.columns.has(one));
    const taking = { ...TAKING, database, table, writer: own.writer, dimensions };
    const fromRollup = (await findRollup(taking, await subjectOf(taking)))!;
    const columns = [...PIECE.map((one) => `_${one}`), ...dimensions.map((one) => `by_${one}`)];
    const content = async (asked: Sql) => {
      const { sql, parameters } = print(asked);
      const hash = `sum(cityHash64(toString(tuple(${columns.join()})))) AS hash, count() AS n`;
      const [row] = await database.rows<{ hash: string; n: string }>(
        `SELECT ${hash} FROM (${sql})`,
        { ...parameters },
      );
      return row;
    };
    const all = { start: new Date("2026-04-01"), end: new Date("2027-04-01") };
    const pieces = (range: typeof all) => content(piecesSql(table, dimensions, range, {}));
    expect(Number((await pieces(all))?.n)).toBeGreaterThan(1000);
    expect(await content((await fromRollup(all))!)).toEqual(await pieces(all));
    // What the view never heard of: only the hours without it are read from it.
    await own.writer.command(
      `DELETE FROM fastpath WHERE ${table.time.sql} < ${table.time.bound(new Date("2026-05-02")).value} AND n % 3 = 0`,
    );
    const later = { start: new Date("2026-05-02"), end: all.end };
    expect(await fromRollup(all)).toBeUndefined();
    expect(await content((await fromRollup(later))!)).toEqual(await pieces(later));
    await using kept = await temporaryDirectory();
    await using lab = await own.open();
    const { range } = TAKING;
    const snapshot = await lab.snapshot({ range, into: `embedded:${kept.path}` });
    const question = { range, every: "day", by: "probe_cc" } as const;
    expect((await snapshot.runs.summary({ range })).rows()).toEqual(
      (await lab.runs.summary({ range })).rows(),
    );
    expect((await snapshot.measurements.counts(question)).rows()).toEqual(
      (await lab.measurements.counts(question)).rows(),
    );
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
