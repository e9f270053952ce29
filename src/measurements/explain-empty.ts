import type { Database } from "../database/database.js";
import { newestRow } from "../database/newest-row.js";
import { editDistance } from "../database/table-info.js";
import { boundsSql, quoteIdentifier } from "../database/time-column.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { filterSql, type FilterValue, type Where } from "./filter.js";
import { isPrefix, matchesPrefix, prefix, type Prefix } from "./prefix.js";
import type { Asked } from "./question.js";

/** One thing that a filter asks for. */
interface Wanted {
  readonly column: string;
  readonly value: FilterValue | Prefix;
}

/**
 * Says why an answer is empty: which filter no measurement of the range matches, and what the range
 * holds instead, the nearest values first. Asks only within the range.
 */
export async function explainEmpty(database: Database, asked: Asked): Promise<string> {
  const span = formatRange(asked.range);
  const [missing] = await missingValues(database, asked, wantedValues(asked.where, 1));
  if (missing !== undefined) return missing;
  const any = await valuesOf(database, asked, null);
  return any.length > 0
    ? `No measurement from ${span} matches all filters at once, though each alone matches some.`
    : `${asked.table.name} holds no measurement from ${span}${await newestOf(database, asked)}.`;
}

/** Where the data ends: only an embedded database is asked beyond the range. */
async function newestOf(database: Database, { table, range }: Asked): Promise<string> {
  if (!database.embedded) return "";
  const newest = await newestRow(database, table);
  if (newest === null) return ": it is empty";
  const shown = formatInstant(newest, range.timeZone);
  return `; its newest is of ${shown}, so last("…", { now: lab.now }) finds some`;
}

/**
 * Names the values of filter lists that no measurement of the range has: one of them misspelt would
 * otherwise only make a number smaller.
 */
export function missingFromLists(database: Database, asked: Asked): Promise<string[]> {
  return missingValues(database, asked, wantedValues(asked.where, 2));
}

function wantedValues(where: Where, atLeast: number): Wanted[] {
  return Object.entries(where).flatMap(([column, wanted]) => {
    const list = (Array.isArray(wanted) ? wanted : [wanted]) as readonly Wanted["value"][];
    return list.length < atLeast ? [] : list.map((value) => ({ column, value }));
  });
}

async function missingValues(
  database: Database,
  asked: Asked,
  wanted: readonly Wanted[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  const { table, range } = asked;
  const bounds = boundsSql(table.time, range);
  const parameters: Record<string, unknown> = { ...bounds.parameters };
  const found = wanted.map(({ column, value }, index) => {
    const condition = filterSql({ [column]: value }, table, `wanted_${index}`);
    Object.assign(parameters, condition?.parameters);
    return `toUInt8(countIf(${condition?.sql}) > 0) AS _${index}`;
  });
  const [row] = await database.rows<Record<string, number>>(
    `SELECT count() AS _all, ${found.join(", ")} FROM ${table.from} WHERE ${bounds.sql}`,
    parameters,
  );
  if (Number(row?.["_all"] ?? 0) === 0) return [];
  const missing = wanted.filter((_, index) => Number(row?.[`_${index}`]) === 0);
  return Promise.all(
    missing.map(async ({ column, value }) => {
      const text = isPrefix(value) ? value.prefix : String(value);
      const values = await valuesOf(database, asked, column);
      const near = nearest(values, text);
      const more = values.length > near.length ? ` and ${values.length - near.length} more` : "";
      const begins = near.some((one) => one !== null && matchesPrefix(one, prefix(text || " ")));
      const hint =
        begins && !isPrefix(value) ? ` (prefix(${JSON.stringify(text)}) matches them)` : "";
      const shown = isPrefix(value) ? `${text}…` : text;
      return `No measurement from ${formatRange(range)} has ${column} ${shown}; the range holds ${near.map((one) => JSON.stringify(one)).join(", ")}${more}${hint}.`;
    }),
  );
}

/** The range's commonest values of a column; with no column, one value if there is any row. */
async function valuesOf(
  database: Database,
  asked: Asked,
  column: string | null,
): Promise<(string | null)[]> {
  const bounds = boundsSql(asked.table.time, asked.range);
  const value = column === null ? "''" : `toString(${quoteIdentifier(column)})`;
  const rows = await database.rows<{ value: string | null }>(
    `SELECT ${value} AS value FROM ${asked.table.from} WHERE ${bounds.sql} GROUP BY value ORDER BY count() DESC, value LIMIT 1000`,
    bounds.parameters,
  );
  return rows.map((row) => row.value);
}

function nearest(values: readonly (string | null)[], wanted: string): (string | null)[] {
  return values
    .map((value, index) => ({ value, index, distance: distanceOf(value ?? "", wanted) }))
    .sort((a, b) => a.distance - b.distance || a.index - b.index)
    .slice(0, 5)
    .map(({ value }) => value);
}

/** Letters to change, upper and lower case alike; a value that goes on from the wanted one is near. */
function distanceOf(value: string, wanted: string): number {
  const [a, b] = [value.toLowerCase(), wanted.toLowerCase()];
  return b !== "" && a.startsWith(b) ? 0 : editDistance(a, b);
}
