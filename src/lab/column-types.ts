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
export function columnTypes(tables: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  const members = [...tables].map(([table, columns]) => {
    const lines = [...columns].map(
      ([name, type]) =>
        `      /** ${comment(type)} */\n      ${propertyName(name)}: ${valueTypes(type)};`,
    );
    return `    ${propertyName(table)}: {\n${lines.join("\n")}\n    };`;
  });
  return [
    "// Written by probelab types: write it again when the tables change.",
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
function valueTypes(type: string): string {
  const plain = plainType(type);
  const isNull = /\bNullable\(/.test(type) && !/^(Array|Map|Tuple)\b/.test(plain);
  const values = /^(?:U?Int(?:8|16|32)|Float(?:32|64)|BFloat16)$|^Decimal/.test(plain)
    ? "number"
    : /^U?Int(?:64|128|256)$/.test(plain)
      ? "number | bigint"
      : /^Date(?:32|Time(?:64)?)?(?:\(|$)/.test(plain)
        ? "Date"
        : /^(?:(?:Fixed)?String|Enum(?:8|16)?|UUID)(?:\(|$)/.test(plain)
          ? "string"
          : plain === "Bool"
            ? "boolean"
            : "unknown";
  return isNull ? `${values} | null` : values;
}

const TYPES = Symbol.for("probelab.columnTypes");

/**
 * In a notebook's cell, learns the columns in the background and leaves their types to the next
 * cell; what can't be learned stays open. Of two labs of a notebook the last one's columns are known.
 */
export function offerColumnTypes(tables: ColumnTables): void {
  if (currentSignal() === undefined) return;
  const learned = learnColumns(tables).then(({ tables: found }) => {
    const types = found.size === 0 ? "" : columnTypes(found);
    Reflect.set(globalThis, TYPES, types);
    return types;
  });
  Reflect.set(globalThis, TYPES, learned);
}
