import { isText, plainType, quoteIdentifier } from "../database/time-column.js";
import { fileSql } from "./file-sql.js";
import type { InputFile } from "./input-file.js";

/** A column that the file and the table both have. */
export interface MatchedColumn {
  readonly name: string;
  readonly type: string;
  /** Type in the file, of Parquet. */
  readonly fileType?: string;
  readonly required: boolean;
}

/** What the server says where a value can't be read; which one it is, a second question tells. */
export const FAULT_MARK = "probelab: a value can't be read";

/** SQL that reads a file's rows as a table's columns. */
export interface RowsSql {
  readonly parameters: Record<string, string>;
  /** An INSERT of all rows, which throws FAULT_MARK at the first value that can't be read. */
  readonly insert: string;
  /**
   * Tells the first value that can't be read: `row` from 1, `column` from 1, `value`, and `faults`,
   * the number of rows that have such a value; no row where all can be read.
   */
  readonly firstFault: string;
}

/** The SQL that loads `columns` of a file into the table `{into:Identifier}`. */
export function rowsSql(file: InputFile, columns: readonly MatchedColumn[]): RowsSql {
  const structure = columns
    .map(({ name }) => `${quoteIdentifier(name)} Nullable(String)`)
    .join(", ");
  const { sql, parameters } = fileSql(file, "rows", file.format === "parquet" ? "auto" : structure);
  const reads = columns.map(({ name, type, fileType, required }, index) => {
    const raw = `source.${quoteIdentifier(name)}`;
    const { value, given, fault } = readValue(raw, type, fileType);
    return {
      value: `${value} AS value_${index}`,
      bad: required ? `NOT (${given}) OR (${fault})` : `(${given}) AND (${fault})`,
      raw: `CAST(toString(${raw}), 'Nullable(String)')`,
    };
  });
  const values = reads.map(({ value }) => value).join(",\n  ");
  const names = columns.map(({ name }) => quoteIdentifier(name)).join(", ");
  const any = reads.map(({ bad }) => `(${bad})`).join(" OR ");
  const which = reads.map(({ bad }, index) => `${bad}, ${index + 1}`).join(", ");
  return {
    parameters,
    insert: `INSERT INTO {into:Identifier} (${names})
SELECT ${columns.map((_, index) => `value_${index}`).join(", ")} FROM (
  SELECT ${values},
  ${any} AS bad
  FROM ${sql} AS source
) WHERE throwIf(bad, '${FAULT_MARK.replace("'", "\\'")}') = 0`,
    firstFault: `SELECT min(r) AS row, argMin(c, r) AS column, argMin(v, r).1 AS value, count() AS faults
FROM (
  SELECT _row_number + 1 AS r,
  multiIf(${which}, 0) AS c,
  tuple([${reads.map(({ raw }) => raw).join(", ")}][greatest(c, 1)]) AS v
  FROM ${sql} AS source
  WHERE c > 0
) HAVING count() > 0`,
  };
}

/** SQL that reads a raw value as a column's type. */
interface ValueSql {
  /** The value; NULL, or anything, where there is none or it can't be read. */
  readonly value: string;
  /** True where there is something to read: not NULL, and for other types than text not empty. */
  readonly given: string;
  /** True where what is given can't be read. */
  readonly fault: string;
}

/**
 * SQL that reads `raw`, of the type that it has in the file, as `type`: strictly, because the
 * engine's own parsing wraps integers and clamps times that are out of range without a word.
 *
 * Times without a zone are UTC; also read are ISO 8601 with a zone and seconds or milliseconds
 * since 1970; fractions that the type can't hold are cut off. Whole numbers may end in `.0`.
 *
 * @param raw SQL of the value; text is `Nullable(String)`.
 * @param type the table column's type.
 * @param fileType the type in the file; left out for text.
 */
function readValue(raw: string, type: string, fileType = "String"): ValueSql {
  const target = plainType(type);
  const text = isText(fileType);
  const present = `isNotNull(${raw})`;
  const asText = plainType(fileType) === "String" ? raw : `toString(${raw})`;
  if (isText(target)) {
    return { value: asText, given: present, fault: `NOT isValidUTF8(ifNull(${asText}, ''))` };
  }
  if (!text) return { ...typedValue(raw, plainType(fileType), target), given: present };
  const trimmed = `trimBoth(ifNull(${asText}, ''))`;
  return { ...textValue(trimmed, target), given: `${trimmed} != ''` };
}

/** What a value must be to be read as this type, for messages. */
export function typeInWords(type: string): string {
  const target = plainType(type);
  const bits = /^(U?)Int(8|16|32|64)$/.exec(target);
  if (bits) {
    const all = 2n ** BigInt(bits[2] ?? "8");
    const [low, high] = bits[1] === "U" ? [0n, all - 1n] : [-all / 2n, all / 2n - 1n];
    return `a ${target} (a whole number from ${low} to ${high})`;
  }
  const span = TIME_SPANS[target.replace(/\(.*/, "")];
  if (span) {
    return `a ${target.replace(/\(.*/, "")} (a time such as 2024-01-31 23:59:59 in UTC, from ${span[0].slice(0, 10)} to ${span[1].slice(0, 10)})`;
  }
  return /^Float/.test(target) ? `a ${target} (a number)` : `a ${target}`;
}

const TIME_SPANS: Readonly<Record<string, readonly [string, string]>> = {
  DateTime: ["1970-01-01 00:00:00", "2106-02-07 06:28:15"],
  DateTime64: ["1900-01-01 00:00:00", "2299-12-31 23:59:59"],
  Date: ["1970-01-01 00:00:00", "2149-06-06 23:59:59"],
  Date32: ["1900-01-01 00:00:00", "2299-12-31 23:59:59"],
};

const TIME_TEXT =
  "^([12]\\\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\\\d|3[01])([ T]([01]\\\\d|2[0-3]):[0-5]\\\\d(:[0-5]\\\\d(\\\\.\\\\d+)?)?(Z|[+-]\\\\d\\\\d:?\\\\d\\\\d)?)?|\\\\d{9,10}(\\\\.\\\\d+)?|\\\\d{13})$";

type Reading = Pick<ValueSql, "value" | "fault">;

function textValue(text: string, target: string): Reading {
  if (target.startsWith("Date")) {
    const { value, fault } = time(`parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`, target);
    return { value, fault: `(NOT match(${text}, '${TIME_TEXT}') OR ${fault})` };
  }
  if (/^U?Int\d+$/.test(target)) {
    const whole = `if(endsWith(${text}, '.0'), substring(${text}, 1, length(${text}) - 2), ${text})`;
    return nullable(`to${target}OrNull(${whole})`);
  }
  if (/^Float(32|64)$/.test(target)) {
    const { value, fault } = nullable(`to${target}OrNull(${text})`);
    // What is too large for the type would become infinite.
    return {
      value,
      fault: `(${fault} OR (isInfinite(ifNull(${value}, 0)) AND NOT match(${text}, '(?i)inf')))`,
    };
  }
  return nullable(`accurateCastOrNull(${text}, ${quoteText(target)})`);
}

function typedValue(raw: string, source: string, target: string): Reading {
  if (target.startsWith("Date")) return time(`toDateTime64(${raw}, 6, 'UTC')`, target);
  if (source.startsWith("Date")) {
    // The engine would take the seconds since 1970; which unit the column counts, it can't know.
    return { value: `CAST(NULL, ${quoteText(`Nullable(${target})`)})`, fault: "1" };
  }
  if (/^Float(32|64)$/.test(target)) {
    const value = `to${target}(${raw})`;
    return {
      value,
      fault: `ifNull(isInfinite(${value}) AND NOT isInfinite(toFloat64(${raw})), 0)`,
    };
  }
  return nullable(`accurateCastOrNull(${raw}, ${quoteText(target)})`);
}

function nullable(value: string): Reading {
  return { value, fault: `isNull(${value})` };
}

function time(value: string, target: string): Reading {
  const [low, high] = TIME_SPANS[target.replace(/\(.*/, "")] ?? ["", ""];
  const bound = (text: string, fraction: string) => `toDateTime64('${text}${fraction}', 6, 'UTC')`;
  const inside = `${value} BETWEEN ${bound(low, "")} AND ${bound(high, ".999999")}`;
  return { value, fault: `NOT ifNull(${inside}, 0)` };
}

/** A text in SQL quotes. */
function quoteText(text: string): string {
  return `'${text.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}'`;
}
