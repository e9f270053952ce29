import { LOG_COLUMNS } from "../database/config.js";
import type { Database } from "../database/database.js";
import { plainType } from "../database/time-column.js";
import { currentSignal } from "../base/current-signal.js";

const TYPES = Symbol.for("probelab.columnTypes");

/**
 * In a notebook's cell, learns the columns in the background and leaves their types to the next
 * cell; what can't be learned stays open. Of two labs of a notebook the last one's columns are known.
 */
export function offerColumnTypes(measurements: Database, logs: () => Promise<Database>): void {
  if (currentSignal() === undefined) return;
  const offer = async () => {
    const [measured, logged] = await Promise.allSettled([
      measurements.table("measurements"),
      logs().then((database) => database.table("logs")),
    ]);
    const tables = new Map<string, ReadonlyMap<string, string>>();
    if (measured.status === "fulfilled") tables.set("measurements", measured.value.columns);
    if (logged.status === "fulfilled") {
      const { columns } = logged.value;
      // Questions name the fields of a line by short names, too.
      const fields = Object.entries(LOG_COLUMNS).flatMap(([field, column]) => {
        const type = columns.get(column);
        return type === undefined ? [] : [[field, type] as const];
      });
      tables.set("logs", new Map([...columns, ...fields]));
    }
    const types = tables.size === 0 ? "" : columnTypes(tables);
    Reflect.set(globalThis, TYPES, types);
    return types;
  };
  Reflect.set(globalThis, TYPES, offer());
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
