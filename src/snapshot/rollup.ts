import { ProbelabError } from "../base/error.js";
import type { Database } from "../database/database.js";
import { EARLIEST, quoteIdentifier } from "../database/time-column.js";
import { quotedTable, tableName } from "../database/table-info.js";
import { bind, print, raw, select, sql, type Column, type Sql } from "../query/sql.js";
import { measurementsFrom } from "../measurements/measurement-source.js";
import type { TimeRange } from "../time/time-range.js";
import { columnOf, type Subject, type Taking } from "./held.js";
import { PIECE, pieceColumns, piecesSql } from "./pieces.js";

/** The rollup's table and the view that fills it, beside the measurements' own. */
function placeOf(database: Database) {
  const [place, own] = tableName(database.tables.measurements.table, "");
  const named = (name: string) => (place === "" ? quoteIdentifier(name) : quotedTable(place, name));
  return {
    place,
    name: `${own}_pieces`,
    into: named(`${own}_pieces`),
    view: named(`${own}_to_pieces`),
  };
}

/** How the operators' rollup merges its columns; the others are its key. */
const MERGED: Readonly<Record<string, string>> = { first: "min", last: "max", measurements: "sum" };

/** Whole hours, read from the operators' rollup. */
export type FromRollup = (span: Pick<TimeRange, "start" | "end">) => Promise<Sql | undefined>;

/**
 * The pieces of whole hours out of the operators' rollup, as `piecesSql` gives them of the table,
 * where there is one that holds them with the same types. Undefined for hours in which it has another
 * number of measurements than the table: from before it was made, or changed since.
 */
export async function findRollup(
  { database, table, dimensions, where }: Taking,
  subject: Subject,
): Promise<FromRollup | undefined> {
  if (table.merges || Object.keys(where).length > 0) return undefined;
  const { place, name, into } = placeOf(database);
  const found = await database.rows<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns
WHERE database = if({place:String} = '', currentDatabase(), {place:String}) AND table = {name:String}`,
    { place, name },
    "take a snapshot",
  );
  const types = new Map(found.map(({ name, type }) => [name, type]));
  const { type } = subject.time;
  const fits =
    types.get("first") === `SimpleAggregateFunction(min, ${type})` &&
    PIECE.every((column) => types.has(column)) &&
    subject.dimensions.every(([one, type]) => types.get(`by_${one}`) === type);
  if (!fits) return undefined;
  return async (span) => {
    const seconds = (at: Date) => +at / 1000;
    const hours = [
      sql`hour >= ${bind("from", "DateTime('UTC')", seconds(span.start))}`,
      sql`hour < ${bind("until", "DateTime('UTC')", seconds(span.end))}`,
    ];
    const { sql: text, parameters } = print(
      sql`SELECT (${select({ columns: [["n", raw("sum(measurements)")]], from: raw(into), where: hours })})
= (${select({ columns: [["n", raw("count()")]], from: measurementsFrom(table, {}, span, []) })}) AS same`,
    );
    const [row] = await database.rows<{ same: number }>(text, { ...parameters }, "take a snapshot");
    if (row?.same !== 1) return undefined;
    const keys = ["hour", "run", "no_report"];
    return select({
      columns: [
        ...PIECE.map((column): Column => [
          `_${column}`,
          raw(column in MERGED ? `${MERGED[column]}(${column})` : column),
        ]),
        ...dimensions.map((dimension): Column => [columnOf(dimension), raw(columnOf(dimension))]),
      ],
      from: raw(into),
      where: hours,
      groupBy: [...keys, ...dimensions.map(columnOf)].map(raw),
    });
  };
}

/**
 * DDL for the operators of a server: the pieces of runs, of which snapshots are made, as a table
 * that a materialized view fills while measurements arrive. About one row for each run, so what is
 * asked of it reads a small part of what the measurements take.
 *
 * @throws ProbelabError where a view could not see what the table counts.
 */
export async function rollupSql(
  database: Database,
  wanted: readonly string[] | undefined,
  defaults: readonly string[],
): Promise<string> {
  const table = await database.table("measurements");
  const dimensions = wanted ?? defaults.filter((dimension) => table.columns.has(dimension));
  const why = table.merges
    ? `${table.name} is a ${table.engine}, which merges rows after the view has counted them`
    : /View|Merge$/.test(table.engine) && !/MergeTree/.test(table.engine)
      ? `${table.name} is a ${table.engine}: rows are inserted into other tables`
      : undefined;
  if (why !== undefined) {
    throw new ProbelabError(
      `Can't write a materialized view: ${why}. Take snapshots instead: lab.snapshot({ range }).`,
    );
  }
  const now = new Date();
  const pieces = print(piecesSql(table, dimensions, { start: now, end: now }, {}));
  const described = await database.rows<{ name: string; type: string }>(
    `DESCRIBE TABLE (${pieces.sql})`,
    { ...pieces.parameters },
    "write a materialized view",
  );
  const types = new Map(described.map(({ name, type }) => [name, type]));
  const columns = [
    ...PIECE.map((name) => {
      const type = types.get(`_${name}`) ?? "";
      const merge = MERGED[name];
      return `  ${name} ${merge === undefined ? type : `SimpleAggregateFunction(${merge}, ${type})`}`;
    }),
    ...dimensions.map((name) => `  ${columnOf(name)} ${types.get(`by_${name}`)}`),
  ];
  const { into, view } = placeOf(database);
  const { time } = table;
  const { type, value } = time.bound(EARLIEST);
  const known = [
    `${time.sql} >= ${/^DateTime/.test(type) ? `CAST(${value} AS ${type})` : `'${value}'`}`,
    ...(time.usable === null ? [] : [time.usable]),
  ];
  const names = [...PIECE, ...dimensions.map(columnOf)];
  const selected = (more: readonly string[]) =>
    print(
      select({
        columns: pieceColumns(table, dimensions),
        from: raw(table.from),
        where: [...known, ...more].map(raw),
        groupBy: [raw(table.column("report_id")), "_hour", ...dimensions.map(columnOf)],
      }),
    ).sql;
  const asPieces = (inner: string) =>
    `SELECT ${names.map((name) => ((PIECE as readonly string[]).includes(name) ? `_${name} AS ${name}` : name)).join(", ")}
FROM (
${inner.replace(/^/gm, "  ")}
)`;
  const keys = ["hour", "run", "no_report", ...dimensions.map(columnOf)].join(", ");
  const shards = table.engine.startsWith("Distributed")
    ? `-- ${table.name} is Distributed: run this on each shard (ON CLUSTER), with the name of the shard's own table after FROM.\n`
    : "";
  return `${shards}-- A row for each run, hour of UTC and combination of dimensions, as parts merge.
CREATE TABLE ${into}
(
${columns.join(",\n")}
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (${keys})
SETTINGS allow_nullable_key = 1;

-- Rows that arrive from now on.
CREATE MATERIALIZED VIEW ${view} TO ${into} AS
${asPieces(selected([]))};

-- Rows from before, a month at a time: from the first month up to when the view was made, no row twice.
-- INSERT INTO ${into} (${names.join(", ")})
${asPieces(selected([`${time.sql} >= <start>`, `${time.sql} < <end>`])).replace(/^/gm, "-- ")};
`;
}
