/**
 * The functions of ClickHouse that questions are made of, by what they mean. Another engine would need
 * this file anew, `m4-sql.ts`, and what the sources say of their own tables.
 */
import { and, join, raw, sql, type Sql } from "./sql.js";

/** A value as text, null where the row has none. */
export function asText(value: Sql): Sql {
  return sql`toNullable(toString(${value}))`;
}

/** A text that repeats, as numbers into a list of its values. */
export function asCode(text: Sql): Sql {
  return sql`toLowCardinality(${text})`;
}

/** A number as the 64 bits that JavaScript has. */
export function asFloat(number: Sql): Sql {
  return sql`toFloat64(${number})`;
}

/** A number, null for NaN and infinities. */
export function finiteOrNull(number: Sql): Sql {
  return sql`if(isFinite(${number}), ${number}, NULL)`;
}

export function isNull(value: Sql): Sql {
  return sql`isNull(${value})`;
}

/** The hour of the day of an instant, 0 to 23. */
export function hourIn(instant: string, timeZone: string): Sql {
  return raw(`toHour(${instant}, '${timeZone}')`);
}

/** The day of the week of an instant, 1 (Monday) to 7. */
export function weekdayIn(instant: string, timeZone: string): Sql {
  return raw(`toDayOfWeek(${instant}, 0, '${timeZone}')`);
}

/** An instant in milliseconds, of a DateTime, a DateTime64 or seconds since 1970. */
export function asInstant(time: string, timeZone = "UTC"): string {
  return `toDateTime64(${time}, 3, '${timeZone}')`;
}

/** Whole seconds since 1970. */
export function secondsOf(instant: string): string {
  return `toUnixTimestamp(${instant})`;
}

/**
 * The start, in seconds, of the stretch of time that `seconds` falls in: stretches begin at `from`
 * and are cut evenly by `length` until the next begins.
 */
export function evenStart(
  seconds: string,
  stretches: readonly { readonly from: number; readonly length: number }[],
): string {
  const [{ from, length } = { from: 0, length: 1 }, second] = stretches;
  if (second === undefined) return `${from} + intDiv(${seconds} - ${from}, ${length}) * ${length}`;
  const list = (of: "from" | "length") =>
    `[${stretches.map((stretch) => `toInt64(${stretch[of]})`).join(", ")}]`;
  return `(roundDown(toInt64(${seconds}), ${list("from")}) AS _from) + intDiv(${seconds} - _from, transform(_from, ${list("from")}, ${list("length")}, toInt64(1)) AS _length) * _length`;
}

/** True for texts that begin with a text. */
export function startsWith(text: Sql, start: Sql): Sql {
  return sql`startsWith(${text}, ${start})`;
}

/** True where a text holds another, whatever the case of its letters. */
export function holds(text: Sql, part: Sql): Sql {
  return sql`positionCaseInsensitiveUTF8(${text}, ${part}) > 0`;
}

/** True where a regular expression (RE2) matches. */
export function matches(text: Sql, pattern: Sql): Sql {
  return sql`match(${text}, ${pattern})`;
}

/** A text without its first bytes. */
export function withoutBytes(text: Sql, bytes: number): Sql {
  return sql`substring(${text}, ${raw(String(bytes + 1))})`;
}

/** The part of a text that a regular expression matches, all of it where none does, null of null. */
export function partOrAll(text: Sql, pattern: Sql): Sql {
  const part = sql`extract(assumeNotNull(${text}), ${pattern})`;
  return sql`if(isNull(${text}), NULL, if(empty(${part}), assumeNotNull(${text}), ${part}))`;
}

/** How many of ascending edges a number has reached; null where it is none. */
export function edgesReached(number: Sql, edges: Sql): Sql {
  return sql`arrayCount(edge -> ifNull(${number}, nan) >= edge, ${edges})`;
}

/** `value` where a number is known and finite, else null. */
export function whereNumber(number: Sql, value: Sql): Sql {
  return sql`if(isNull(${number}) OR NOT isFinite(ifNull(${asFloat(number)}, nan)), NULL, ${value})`;
}

/** An aggregate function over the rows that conditions leave. */
export function overRows(
  call: string,
  value: Sql,
  conditions: readonly Sql[],
  parameters = "",
): Sql {
  return conditions.length === 0
    ? sql`${raw(call + parameters)}(${value})`
    : sql`${raw(`${call}If${parameters}`)}(${value}, ${and(conditions)})`;
}

/** The number of rows that conditions leave, each as often as its weight. */
export function countRows(conditions: readonly Sql[], weight: Sql | undefined): Sql {
  if (conditions.length > 0) {
    const all = and(conditions);
    return weight === undefined ? sql`countIf(${all})` : sql`sumIf(${weight}, ${all})`;
  }
  return weight === undefined ? raw("count()") : sql`sum(${weight})`;
}

/** Distinct values, counted exactly: the state of a cell, and what merges states. */
export const DISTINCT = { state: "uniqExactState", merge: "uniqExactMerge" } as const;

/** Quantiles by the R-7 rule: the state of a cell, and what merges states. */
export const QUANTILES = {
  state: "quantilesExactInclusiveState",
  merge: "quantilesExactInclusiveMerge",
} as const;

/** How often each number occurs: a state of quantiles that merges on any server, by `sumMap`. */
export function occurrences(number: Sql, conditions: readonly Sql[]): Sql {
  const known = and([sql`isNotNull(${number})`, ...conditions]);
  return sql`sumMapIf([assumeNotNull(toFloat64(${number}))], [toFloat64(1)], ${known})`;
}

/** About how many distinct values that aren't empty (within 1 % above 65,536). */
export function aboutDistinct(value: Sql): Sql {
  return sql`toFloat64(uniqIf(${value}, notEmpty(toString(${value}))))`;
}

/** About how many distinct values all rows of an answer have, in each of them. */
export function aboutValues(value: Sql): Sql {
  return sql`toFloat64(uniq(${value}) OVER ())`;
}

/** True where a value is null or its text is empty. */
export function isEmptyText(value: Sql): Sql {
  return sql`NOT ifNull(notEmpty(toString(${value})), 0)`;
}

/** The distinct tuples of a group. */
export function distinctTuples(columns: readonly Sql[]): Sql {
  return sql`groupUniqArray((${join(columns)}, 0))`;
}

/** A type that rounds: a value is compared with it after it was rounded as the rows were. */
const ROUNDED = /^(?:Nullable\(|LowCardinality\()*(Float32|BFloat16)\b/;

/**
 * A column of numbers and the type in which values are compared with it, by equality, order and bins
 * alike: 2.772 is one number in a Float32 and another in a Float64.
 */
export function comparedAs(column: Sql, type: string, isWhole: boolean) {
  const as = /Decimal|BFloat16/.test(type) ? asFloat(column) : column;
  if (ROUNDED.test(type)) return { column: as, type: "Float32" };
  return { column: as, type: isWhole && /Int/.test(type) ? "Int64" : "Float64" };
}

/** An even bin of a width that a number is in, counted from 0. */
export function evenBin(number: Sql, type: string, width: number): Sql {
  const quotient = sql`toFloat64(${number}) / ${raw(String(width))}`;
  return sql`floor(${ROUNDED.test(type) ? sql`toFloat32(${quotient})` : quotient})`;
}

/** Edges of bins, as a column of a type is compared with them. */
export function edgeList(edges: readonly number[], type: string): Sql {
  return ROUNDED.test(type)
    ? raw(`[${edges.map((edge) => `toFloat32(${edge})`).join(", ")}]`)
    : raw(`[${edges.join(", ")}]`);
}
