import type { ColumnTable, table } from "arquero";
import { createRequire } from "node:module";
import { ProbelabError } from "../base/error.js";
import type { Origin } from "./origin.js";
import { ownerOf, Result, type Value } from "./result.js";

const require = createRequire(import.meta.url);

/** Rows that can be shown: an answer, an Arquero table, or plain objects. */
export type RowsGiven = Result<object> | ColumnTable | readonly object[];

/** The Origin of the caller's own rows. */
const BY_HAND = "your own rows";

/**
 * An Arquero table as a Result. One that Arquero made of a Result's rows keeps what is still true of
 * their origin; of another nothing is known but that it was given.
 */
export function resultOfTable(table: ColumnTable): Result {
  const owner = ownerOf(table);
  if (owner?.table === table) return new Result(table, owner.origin);
  return owner ? owner.with(table) : new Result(table, originByHand(table.numRows()));
}

/**
 * Plain objects as a Result; null where a row has no value of a column.
 *
 * @param known of their origin, where they aren't the caller's own.
 * @param names of the columns; default all names that occur, without rows those that are known
 * @throws ProbelabError for a column `__proto__`.
 */
export function resultOfRows<Row extends object = Record<string, Value>>(
  rows: readonly object[],
  known: Partial<Origin> = {},
  names: readonly string[] = namesOf(rows, known),
): Result<Row> {
  if (names.includes("__proto__")) {
    throw new ProbelabError(
      "Can't take rows with a column __proto__, which no table can hold: rename it.",
    );
  }
  const columns = names.map((name): [string, Value[]] => [
    name,
    rows.map((row) => (row as Readonly<Record<string, Value>>)[name] ?? null),
  ]);
  // Loaded when it is needed, which a chart can't wait for: importing probelab need not.
  const aq = require("arquero") as { table: typeof table };
  return new Result(aq.table(columns, [...names]), { ...originByHand(rows.length), ...known });
}

function namesOf(rows: readonly object[], { columns }: Partial<Origin>): string[] {
  const { dimensions = [], measures = [] } = columns ?? {};
  return rows.length === 0
    ? [...dimensions, ...measures].map(({ name }) => name)
    : [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

function originByHand(count: number): Origin {
  return {
    sql: "",
    parameters: {},
    source: BY_HAND,
    server: "",
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: new Date(),
    columns: { dimensions: [], measures: [] },
    reductions: [],
    notes: [count === 0 ? "No rows were given." : "Your own rows."],
  };
}
