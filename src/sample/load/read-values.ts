import { isText, plainType, quoteIdentifier } from "../../database/time-column.js";

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
 * since 1970. Whole numbers may end in `.0`; flags are also true and false, networks also AS3269. Optional values that are null, missing or empty take
 * the column's default; required ones are refused.
 */
export function readColumn({ name, type, fileType, required }: MatchedColumn): ColumnSql {
  const raw = `source.${quoteIdentifier(name)}`;
  const [target, source] = [plainType(type), plainType(fileType)];
  const text = source === "String" ? raw : `toString(${raw})`;
  const trimmed = `trimBoth(ifNull(${text}, ''))`;
  let given = `isNotNull(${raw})`;
  let value: string;
  let fault: string;
  if (isText(target) && FLAGS.includes(name)) {
    const spelled = `lower(${trimmed})`;
    const list = (texts: readonly string[]) => `[${texts.map((each) => `'${each}'`).join()}]`;
    value = `transform(${spelled}, ${list(Object.keys(SPELLINGS))}, ${list(Object.values(SPELLINGS))}, '')`;
    fault = `${spelled} NOT IN ${list([...Object.keys(SPELLINGS), ""])}`;
  } else if (isText(target)) {
    [value, fault] = [text, `NOT isValidUTF8(ifNull(${text}, ''))`];
  } else if (isText(fileType)) {
    given = `${trimmed} != ''`;
    [value, fault] = target.startsWith("Date")
      ? ofTime(`parseDateTime64BestEffortOrNull(${trimmed}, 6, 'UTC')`, target)
      : ofNumber(
          `replaceRegexpOne(${trimmed}, '${name === NETWORK ? AS_NUMBER : WHOLE}', '\\\\1')`,
          target,
        );
    if (target.startsWith("Date")) fault = `NOT match(${trimmed}, '${TIME_TEXT}') OR ${fault}`;
  } else if (target.startsWith("Date")) {
    [value, fault] = ofTime(`toDateTime64(${raw}, 6, 'UTC')`, target);
  } else {
    // Of a time the engine would take seconds since 1970; which unit the column counts, it can't know.
    [value, fault] = ofNumber(source.startsWith("Date") ? "NULL" : raw, target);
  }
  return { value, bad: required ? `NOT (${given}) OR (${fault})` : `(${given}) AND (${fault})` };
}

/** What a value of a column is, for an error. */
export function nounOf(name: string, type: string): string {
  return FLAGS.includes(name) ? "flag: t, f, true, false, 1 or 0" : type;
}

/** Flags of measurements, which the table holds as t and f. */
const FLAGS = ["anomaly", "confirmed", "msm_failure"];
const SPELLINGS = { t: "t", true: "t", "1": "t", f: "f", false: "f", "0": "f" };

const NETWORK = "probe_asn";
const WHOLE = "^(-?\\\\d+)[.]0$";
/** Published measurements write AS3269. */
const AS_NUMBER = "^(?:AS)?(\\\\d+)(?:[.]0)?$";

function ofNumber(value: string, target: string): [value: string, fault: string] {
  const read = `accurateCastOrNull(${value}, '${target.replace(/[\\']/g, "\\$&")}')`;
  const isInfinite = `ifNull(isInfinite(${read}), 0) AND NOT match(toString(${value}), '(?i)inf')`;
  return [read, `isNull(${read})${/^Float(32|64)$/.test(target) ? ` OR (${isInfinite})` : ""}`];
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

function ofTime(value: string, target: string): [value: string, fault: string] {
  const [low, high] = TIME_SPANS[target.replace(/\(.*/, "")] ?? ["", ""];
  const bound = (text: string, fraction: string) => `toDateTime64('${text}${fraction}', 6, 'UTC')`;
  const inside = `${value} BETWEEN ${bound(low, "")} AND ${bound(high, ".999999")}`;
  return [value, `NOT ifNull(${inside}, 0)`];
}
