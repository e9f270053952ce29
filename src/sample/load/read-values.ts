import { isText, plainType, quoteIdentifier } from "../../database/time-column.js";

/** A column that the file and the table both have. */
export interface MatchedColumn {
  readonly name: string;
  /** ClickHouse's type of the table's column. */
  readonly type: string;
  readonly required: boolean;
}

/** Flags of measurements, which the table holds as t and f. */
const FLAGS = ["anomaly", "confirmed", "msm_failure"];
const SPELLINGS = { t: "t", true: "t", "1": "t", f: "f", false: "f", "0": "f", "": "" };

const WHOLE = "^(-?\\\\d+)[.]0$";
/** Published measurements write AS3269. */
const AS_NUMBER = "^(?:AS)?(\\\\d+)(?:[.]0)?$";

// The engine's best effort also reads "24:00:00", "0000-00-00" and "20260101", each as another time.
const TIME_TEXT =
  "^([12]\\\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\\\d|3[01])([ T]([01]\\\\d|2[0-3]):[0-5]\\\\d(:[0-5]\\\\d(\\\\.\\\\d+)?)?(Z|[+-]\\\\d\\\\d:?\\\\d\\\\d)?)?|\\\\d{9,10}(\\\\.\\\\d+)?|\\\\d{13})$";

/**
 * SQL over a row of the file (`source`) for one column of the table, read strictly: the engine's own
 * parsing wraps integers and clamps times beyond a type's range silently.
 *
 * Times without a zone are UTC; also read are ISO 8601 with a zone, and seconds or milliseconds
 * since 1970. Whole numbers may end in `.0`; flags are also true and false, networks also AS3269.
 * Optional values that are null, missing or empty take the column's default; required ones are refused.
 *
 * @returns `bad` is true if the row can't be loaded because of this column.
 */
export function readColumn({ name, type, required }: MatchedColumn) {
  const text = `toString(source.${quoteIdentifier(name)})`;
  const trimmed = `trimBoth(ifNull(${text}, ''))`;
  const target = plainType(type);
  const cast = (value: string) =>
    `accurateCastOrNull(${value}, '${target.replace(/[\\']/g, "\\$&")}')`;
  let [given, value, fault] = [`${trimmed} != ''`, text, ""];
  if (isText(target) && FLAGS.includes(name)) {
    const list = (texts: readonly string[]) => `[${texts.map((each) => `'${each}'`).join()}]`;
    const spelled = `lower(${trimmed})`;
    value = `transform(${spelled}, ${list(Object.keys(SPELLINGS))}, ${list(Object.values(SPELLINGS))}, '')`;
    fault = `${spelled} NOT IN ${list(Object.keys(SPELLINGS))}`;
  } else if (isText(target)) {
    given = `isNotNull(${text})`;
    fault = `NOT isValidUTF8(ifNull(${text}, ''))`;
  } else if (target.startsWith("Date")) {
    value = `parseDateTime64BestEffortOrNull(${trimmed}, 6, 'UTC')`;
    const kept = `toDateTime64(CAST(${value} AS Nullable(${target})), 6, 'UTC')`;
    const isFar = `abs(dateDiff('second', ${kept}, ${value})) > 86400`;
    fault = `NOT match(${trimmed}, '${TIME_TEXT}') OR ifNull(${isFar}, 1)`;
  } else {
    const pattern = name === "probe_asn" ? AS_NUMBER : WHOLE;
    value = cast(`replaceRegexpOne(${trimmed}, '${pattern}', '\\\\1')`);
    const isInfinite = `ifNull(isInfinite(toFloat64(${value})), 0) AND NOT match(${trimmed}, '(?i)inf')`;
    fault = `isNull(${value}) OR (${isInfinite})`;
  }
  return { value, bad: required ? `NOT (${given}) OR (${fault})` : `(${given}) AND (${fault})` };
}
