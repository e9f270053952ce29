import type { Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { LOG_COLUMNS } from "../logs/lines.js";
import { currentSignal } from "../interrupt/current-signal.js";

/** The tables whose columns questions name; each is learned, or fails. */
interface ColumnTables {
  readonly measurements: () => Promise<TableInfo>;
  readonly logs: () => Promise<TableInfo>;
}

type Role = keyof ColumnTables;

/** The columns of the tables that could be learned, each with its ClickHouse types, and why others couldn't. */
export interface LearnedColumns {
  readonly tables: ReadonlyMap<Role, ReadonlyMap<string, string>>;
  readonly untold: readonly { readonly table: Role; readonly error: unknown }[];
}

/** The tables of a database each, the second opened when it is asked for. */
export function tablesOf(measurements: Database, logs: () => Promise<Database>): ColumnTables {
  return {
    measurements: () => measurements.table("measurements"),
    logs: async () => (await logs()).table("logs"),
  };
}

/** Learns the columns that questions may name: the tables' own, configured names, and the short names of a log line's fields. */
export async function learnColumns(tables: ColumnTables): Promise<LearnedColumns> {
  const roles: readonly Role[] = ["measurements", "logs"];
  const learned = await Promise.allSettled(roles.map((role) => tables[role]()));
  const found = new Map<Role, ReadonlyMap<string, string>>();
  const untold: { table: Role; error: unknown }[] = [];
  learned.forEach((outcome, index) => {
    const role = roles[index] as Role;
    if (outcome.status === "rejected") untold.push({ table: role, error: outcome.reason });
    else found.set(role, role === "logs" ? withFields(outcome.value) : outcome.value.columns);
  });
  return { tables: found, untold };
}

function withFields({ columns }: TableInfo): ReadonlyMap<string, string> {
  const fields = Object.entries(LOG_COLUMNS).flatMap(([field, column]) => {
    const type = columns.get(column);
    return type === undefined ? [] : [[field, type] as const];
  });
  return new Map([...columns, ...fields]);
}

/**
 * The text of a declaration file: with it an unknown column is a type error, and known ones complete.
 * The same columns give the same text.
 */
export function columnTypes(
  tables: ReadonlyMap<string, ReadonlyMap<string, string | ReadonlySet<string>>>,
): string {
  const members = [...tables].map(([table, columns]) => {
    const lines = [...columns].map(([name, type]) => {
      const types = typeof type === "string" ? [type] : [...type];
      const values = [...new Set(types.flatMap(valueTypes))].join(" | ");
      return `      /** ${comment(types.join(" or "))} */\n      ${propertyName(name)}: ${values};`;
    });
    return `    ${propertyName(table)}: {\n${lines.join("\n")}\n    };`;
  });
  return [
    "export {};",
    "declare global {",
    "  interface ProbelabColumns {",
    ...members,
    "  }",
    "}",
    "",
  ].join("\n");
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A type may name what it likes: an Enum's values are any text. */
function comment(type: string): string {
  return type.replaceAll("*/", "*\u200b/").replaceAll(/\s+/gu, " ");
}

/** The TypeScript type of a ClickHouse type in an answer. */
function valueTypes(type: string): string[] {
  const plain = plainType(type);
  const missing = /\bNullable\(/.test(type) && !/^(Array|Map|Tuple)\b/.test(plain) ? ["null"] : [];
  return [...plainValueTypes(plain), ...missing];
}

function plainValueTypes(plain: string): string[] {
  if (/^(?:U?Int(?:8|16|32)|Float(?:32|64)|BFloat16)$|^Decimal/.test(plain)) return ["number"];
  if (/^U?Int(?:64|128|256)$/.test(plain)) return ["number", "bigint"];
  if (/^Date(?:32|Time(?:64)?)?(?:\(|$)/.test(plain)) return ["Date"];
  if (/^(?:(?:Fixed)?String|Enum(?:8|16)?|UUID)(?:\(|$)/.test(plain)) return ["string"];
  return plain === "Bool" ? ["boolean"] : ["unknown"];
}

const TYPES = Symbol.for("probelab.columnTypes");
const known = new Map<Role, Map<string, Set<string>>>();

/**
 * In a notebook's cell, learns the columns in the background and leaves their types to the next
 * cell; what can't be learned stays open. Two labs of a notebook may have other columns: what either
 * has is known.
 */
export function offerColumnTypes(tables: ColumnTables): void {
  if (currentSignal() === undefined) return;
  const before: unknown = Reflect.get(globalThis, TYPES);
  const learned = Promise.all([before, learnColumns(tables)]).then(([, { tables: found }]) => {
    for (const [table, columns] of found) {
      const all = known.get(table) ?? new Map<string, Set<string>>();
      known.set(table, all);
      for (const [name, type] of columns) all.set(name, (all.get(name) ?? new Set()).add(type));
    }
    const types = known.size === 0 ? "" : columnTypes(known);
    Reflect.set(globalThis, TYPES, types);
    return types;
  });
  Reflect.set(globalThis, TYPES, learned);
}
