import { isText, plainType, quoteIdentifier } from "../database/time-column.js";

/** A column that the file and the table both have. */
export interface MatchedColumn {
  readonly name: string;
  /** ClickHouse's type of the table's column. */
  readonly type: string;
  /** The type in the file; text formats are read as text. */
  readonly fileType: string;
  readonly required: boolean;
}

/** SQL over a row of the file (`source`) for one column of the table. */
interface ColumnSql {
  /** The value; NULL, or anything, if there is none or it can't be read. */
  readonly value: string;
  /** True if the row can't be loaded because of this column. */
  readonly bad: string;
}

/**
 * Reads a file's columns strictly: the engine's own parsing wraps integers and clamps times beyond
 * a type's range silently.
 *
 * Times without a zone are UTC; also read are ISO 8601 with a zone, and seconds or milliseconds
 * since 1970. Whole numbers may end in `.0`. Optional values that are null, missing or empty take
 * the column's default; required ones are refused.
 */
export function readColumn({ name, type, fileType, required }: MatchedColumn): ColumnSql {
  const raw = `source.${quoteIdentifier(name)}`;
  const target = plainType(type);
  const text = plainType(fileType) === "String" ? raw : `toString(${raw})`;
  const trimmed = `trimBoth(ifNull(${text}, ''))`;
  const { value, fault } = isText(target)
    ? { value: text, fault: `NOT isValidUTF8(ifNull(${text}, ''))` }
    : isText(fileType)
      ? readText(trimmed, target)
      : readTyped(raw, plainType(fileType), target);
  const given = isText(target) || !isText(fileType) ? `isNotNull(${raw})` : `${trimmed} != ''`;
  return { value, bad: required ? `NOT (${given}) OR (${fault})` : `(${given}) AND (${fault})` };
}

const TIME_SPANS: Readonly<Record<string, readonly [string, string]>> = {
  DateTime: ["1970-01-01 00:00:00", "2106-02-07 06:28:15"],
  DateTime64: ["1900-01-01 00:00:00", "2299-12-31 23:59:59"],
  Date: ["1970-01-01 00:00:00", "2149-06-06 23:59:59"],
  Date32: ["1900-01-01 00:00:00", "2299-12-31 23:59:59"],
};

// The engine's best effort also reads "24:00:00", "0000-00-00" and "20260101", each as another time.
const TIME_TEXT =
  "^([12]\\\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\\\d|3[01])([ T]([01]\\\\d|2[0-3]):[0-5]\\\\d(:[0-5]\\\\d(\\\\.\\\\d+)?)?(Z|[+-]\\\\d\\\\d:?\\\\d\\\\d)?)?|\\\\d{9,10}(\\\\.\\\\d+)?|\\\\d{13})$";

type Reading = Readonly<Record<"value" | "fault", string>>;

function readText(text: string, target: string): Reading {
  if (target.startsWith("Date")) {
    const { value, fault } = readTime(`parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`, target);
    return { value, fault: `(NOT match(${text}, '${TIME_TEXT}') OR ${fault})` };
  }
  if (/^U?Int\d+$/.test(target)) {
    const whole = `if(endsWith(${text}, '.0'), substring(${text}, 1, length(${text}) - 2), ${text})`;
    return orNull(`to${target}OrNull(${whole})`);
  }
  if (/^Float(32|64)$/.test(target)) {
    const { value, fault } = orNull(`to${target}OrNull(${text})`);
    const tooLarge = `isInfinite(ifNull(${value}, 0)) AND NOT match(${text}, '(?i)inf')`;
    return { value, fault: `(${fault} OR (${tooLarge}))` };
  }
  return orNull(`accurateCastOrNull(${text}, ${quoteText(target)})`);
}

function readTyped(raw: string, source: string, target: string): Reading {
  if (target.startsWith("Date")) return readTime(`toDateTime64(${raw}, 6, 'UTC')`, target);
  // The engine would take seconds since 1970; which unit the column counts, it can't know.
  if (source.startsWith("Date")) {
    return { value: `CAST(NULL, ${quoteText(`Nullable(${target})`)})`, fault: "1" };
  }
  if (/^Float(32|64)$/.test(target)) {
    const value = `to${target}(${raw})`;
    const tooLarge = `isInfinite(${value}) AND NOT isInfinite(toFloat64(${raw}))`;
    return { value, fault: `ifNull(${tooLarge}, 0)` };
  }
  return orNull(`accurateCastOrNull(${raw}, ${quoteText(target)})`);
}

function orNull(value: string): Reading {
  return { value, fault: `isNull(${value})` };
}

function readTime(value: string, target: string): Reading {
  const [low, high] = TIME_SPANS[target.replace(/\(.*/, "")] ?? ["", ""];
  const bound = (text: string, fraction: string) => `toDateTime64('${text}${fraction}', 6, 'UTC')`;
  const inside = `${value} BETWEEN ${bound(low, "")} AND ${bound(high, ".999999")}`;
  return { value, fault: `NOT ifNull(${inside}, 0)` };
}

function quoteText(text: string): string {
  return `'${text.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}'`;
}
