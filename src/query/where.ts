import { MOST_BYTES } from "../database/long-values.js";
import { plainType } from "../database/time-column.js";
import { checkWhere, isPlain } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { comparedAs, holds, isNull, matches, startsWith, withoutBytes } from "./clickhouse.js";
import { bind, join, raw, sql, type Sql } from "./sql.js";

/** A filter on the beginning of a text column, or on a part of it. */
export interface Prefix {
  readonly prefix: string;
  /** False: any continuation matches, as `LIKE 'text%'`. */
  readonly edge: boolean;
  /** True: the text may be anywhere in the value. */
  readonly anywhere?: true;
}

/**
 * Matches values that begin with `text`, up to the edge of a component: `prefix("3.8")` matches
 * 3.8, 3.8.1 and 3.8-beta, but neither 3.80 nor 3.81. An edge is where a row of digits or of letters ends.
 *
 * @param options `edge`: false matches any continuation (default true).
 * @throws ProbelabError for an empty text, which would match everything.
 * @example
 * const where = { software_version: prefix("3.8") };
 */
export function prefix(text: string, options: { edge?: boolean } = {}): Prefix {
  if (typeof text !== "string" || text === "") {
    throw new ProbelabError(
      `Can't match the prefix ${JSON.stringify(text) ?? "undefined"}: pass the beginning of a value, such as prefix("3.8").`,
    );
  }
  return Object.freeze({ prefix: text, edge: options.edge ?? true });
}

/**
 * Matches values that hold `text` anywhere, whatever the case of its letters.
 *
 * @throws ProbelabError for an empty text, which would match everything.
 * @example
 * const where = { input: contains("example.org") };
 */
export function contains(text: string): Prefix {
  if (typeof text !== "string" || text === "") {
    throw new ProbelabError(
      `Can't look for ${JSON.stringify(text) ?? "undefined"}: pass a part of a value, such as contains("example.org").`,
    );
  }
  return Object.freeze({ prefix: text, edge: false, anywhere: true });
}

/** True for what `prefix()` or `contains()` made. */
export function isPrefix(value: unknown): value is Prefix {
  return typeof value === "object" && value !== null && "prefix" in value && "edge" in value;
}

/** The plain rule that the SQL follows. */
export function matchesPrefix(value: string, { prefix, edge, anywhere }: Prefix): boolean {
  if (anywhere) return value.toLowerCase().includes(prefix.toLowerCase());
  if (!value.startsWith(prefix)) return false;
  const goesOn = edge ? continuation(prefix) : null;
  return goesOn === null || !new RegExp(`^${goesOn}`, "u").test(value.slice(prefix.length));
}

/** The class of characters that would go on with the prefix's last component; null where it ended. */
function continuation(prefix: string): string | null {
  if (/\d$/.test(prefix)) return "[0-9]";
  return /\p{L}$/u.test(prefix) ? "\\p{L}" : null;
}

/** One value of a column. */
export type FilterValue = string | number | bigint | boolean | null;

/** A value, one of a list, or a prefix. */
export type Match = FilterValue | Prefix | readonly (FilterValue | Prefix)[];

/** Comparisons with a column's value; all must hold. Rows without a value (null) match `ne` only. */
export interface Comparison {
  /** Less than. */
  readonly lt?: number | bigint | Date;
  /** Less than or equal. */
  readonly lte?: number | bigint | Date;
  /** Greater than. */
  readonly gt?: number | bigint | Date;
  /** Greater than or equal. */
  readonly gte?: number | bigint | Date;
  /** Not this value, none of this list, not this prefix; `ne: null` is any value at all. */
  readonly ne?: Match;
  /** One of a list, as the list alone; beside another comparison. */
  readonly in?: Match;
}

/**
 * Column to what its value must be: a value, one of a list, a prefix, or a comparison; all must hold.
 *
 * @example
 * const where: Where = { software_version: prefix("3.8"), probe_asn: { ne: 0 }, probe_cc: ["IT", "FR"] };
 */
export type Where<Name extends string = string> = {
  readonly [Column in Name]?: Match | Comparison;
};

/** A column as conditions and measures need it. */
export interface ColumnSql {
  readonly sql: Sql;
  /** ClickHouse's name of its type. */
  readonly type: string;
}

/** Finds a column by its name. @throws ProbelabError for one that isn't there. */
export type FindColumn = (name: string) => ColumnSql;

const COMPARISONS = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;
const SIGNS = { lt: "<", lte: "≤", gt: ">", gte: "≥", ne: "≠", in: "=" } as const;
type Field = keyof typeof SIGNS;

/** One condition of a `where`. */
interface Condition {
  readonly column: string;
  readonly field: Field;
  readonly value: unknown;
}

/**
 * The conditions of a `where`, one for each field of a comparison; a value alone is `in`.
 *
 * @throws ProbelabError for what is no filter.
 */
function conditionsOf(where: Where | undefined): Condition[] {
  checkWhere(where);
  return Object.entries(where ?? {}).flatMap(([column, wanted]): Condition[] => {
    if (wanted === undefined) {
      throw new ProbelabError(
        `Can't filter ${column} by undefined: pass a value, null for rows without one, or leave the filter out.`,
      );
    }
    if (!isComparison(wanted)) return [{ column, field: "in", value: wanted }];
    const entries = Object.entries<unknown>(wanted as Readonly<Record<string, unknown>>).filter(
      ([, value]) => value !== undefined,
    );
    const unknown = entries.find(([field]) => !Object.hasOwn(SIGNS, field));
    if (unknown !== undefined || entries.length === 0) {
      throw new ProbelabError(
        `Can't compare ${column} by ${JSON.stringify(unknown?.[0] ?? {})}: pass a value, a list, prefix("…"), or an object of ${Object.keys(SIGNS).join(", ")}, such as { ${column}: { gt: 10 } }.`,
      );
    }
    return entries.map(([field, value]) => ({ column, field: field as Field, value }));
  });
}

/** The values of a list, or the one value. */
export function matchList(wanted: Match): readonly (FilterValue | Prefix)[] {
  return (Array.isArray(wanted) ? wanted : [wanted]) as readonly (FilterValue | Prefix)[];
}

/** True for what compares instead of naming values. */
export function isComparison(wanted: Match | Comparison): wanted is Comparison {
  return isPlain(wanted) && !isPrefix(wanted);
}

/**
 * The conditions of a `where`, a piece of SQL each, their values bound in the columns' own types.
 *
 * @param name what the bound values are called.
 * @throws ProbelabError for an unknown column, a value of another type than the column's, or an
 *   empty list.
 */
export function whereSql(where: Where | undefined, find: FindColumn, name = "where"): Sql[] {
  return conditionsOf(where).map((condition) => {
    const found = find(condition.column);
    if (condition.field in COMPARISONS) return compareSql(condition, found, name);
    const match = matchSql(condition, found, name);
    if (condition.field === "in") return match;
    // Keeps rows without a value: a bare NOT would leave them out.
    return /Nullable\(/.test(found.type) ? sql`NOT ifNull(${match}, false)` : sql`NOT (${match})`;
  });
}

function compareSql({ column, field, value }: Condition, found: ColumnSql, name: string): Sql {
  const kind = columnKind(found.type);
  const plain = plainType(found.type);
  const compared = (type: string, sent: unknown, own = found.sql) =>
    sql`${own} ${raw(COMPARISONS[field as keyof typeof COMPARISONS])} ${bind(name, type, sent)}`;
  if (kind === "time" && value instanceof Date && !Number.isNaN(value.getTime())) {
    return compared("DateTime64(3, 'UTC')", (value.getTime() / 1000).toFixed(3));
  }
  if (kind === "number" && typeof value === "bigint") {
    const [least, most] = integerBounds("Int256");
    if (value >= least && value <= most) return compared("Int256", String(value));
    throw new ProbelabError(
      `Can't compare ${column}, a ${plain}, with ${field}: ${value}: numbers from −2²⁵⁵ to 2²⁵⁵ − 1 can be compared.`,
    );
  }
  // The column's own type could not hold 0.5 or −1 beside an unsigned integer.
  if (kind === "number" && typeof value === "number" && Number.isFinite(value)) {
    const as = comparedAs(found.sql, plain, Number.isSafeInteger(value));
    return compared(as.type, value, as.column);
  }
  const shown = value instanceof Date ? "a Date" : JSON.stringify(value);
  throw new ProbelabError(
    kind === "number" || kind === "time"
      ? `Can't compare ${column}, a ${plain}, with ${field}: ${shown}: pass ${kind === "time" ? "a Date" : "a number"}.`
      : `Can't tell whether ${column}, a ${plain}, is ${field} ${shown}: only numbers and times have an order. Pass values or prefix("…").`,
  );
}

function matchSql({ column, value }: Condition, found: ColumnSql, name: string): Sql {
  const kind = columnKind(found.type);
  const list = matchList(value as Match).map((one) =>
    typeof one === "string" ? written(one, kind) : one,
  );
  if (list.length === 0) {
    throw new ProbelabError(
      `Can't filter ${column} by an empty list, which matches nothing: name at least one value or leave the filter out.`,
    );
  }
  const values = list.flatMap((one) => (one === null || isPrefix(one) ? [] : [one]));
  for (const one of values) checkValue(column, found.type, kind, one);
  // In a list the server takes no text for a number, and a bigint is sent as text.
  const isWide = values.some((one) => typeof one === "bigint");
  const plain = plainType(found.type);
  const isRounded = !isWide && /^(Decimal|BFloat16)/.test(plain);
  const { column: text, type } = isRounded
    ? comparedAs(found.sql, plain, false)
    : kind === "number" || kind === "bool"
      ? { column: found.sql, type: plain }
      : { column: kind === "text" ? found.sql : sql`toString(${found.sql})`, type: "String" };
  const sent = isWide ? values.map(String) : values;
  const parts: Sql[] = [];
  if (sent.length === 1) parts.push(sql`${text} = ${bind(name, type, sent[0])}`);
  for (const some of sent.length > 1 ? sendable(sent) : []) {
    const all = bind(name, `Array(${isWide ? "String" : type})`, some);
    parts.push(sql`${text} IN ${isWide ? sql`CAST(${all} AS ${raw(`Array(${type})`)})` : all}`);
  }
  for (const start of list.filter(isPrefix)) {
    if (kind === "number" || kind === "bool") {
      throw new ProbelabError(
        `Can't match ${column} by ${start.anywhere ? "contains" : "prefix"}("${start.prefix}"): it is a ${found.type}, not text. Pass values, such as { ${column}: [1, 2] }.`,
      );
    }
    parts.push(prefixSql(text, start, name));
  }
  if (list.includes(null)) parts.push(isNull(found.sql));
  return parts.length === 1 ? parts[0]! : sql`(${join(parts, " OR ")})`;
}

/** A list as lists that are each short enough for one value of a request. */
function sendable<T>(values: readonly T[]): T[][] {
  const longest = values.reduce((most, one) => Math.max(most, Buffer.byteLength(String(one))), 0);
  // Letters may be escaped, and texts are quoted.
  const size = Math.max(1, Math.floor(MOST_BYTES / (2 * longest + 3)));
  const lists = Array.from({ length: Math.ceil(values.length / size) }, (_, at) => at * size);
  return lists.map((from) => values.slice(from, from + size));
}

/** A number or a truth that came as text, as from a shell: what it says, where that is sure. */
function written(text: string, kind: Kind): FilterValue {
  if (kind === "bool" && /^(true|false)$/.test(text)) return text === "true";
  if (kind !== "number") return text;
  return String(Number(text)) === text && Number.isFinite(Number(text))
    ? Number(text)
    : /^-?[1-9]\d*$/.test(text)
      ? BigInt(text)
      : text;
}

function prefixSql(column: Sql, { prefix, edge, anywhere }: Prefix, name: string): Sql {
  if (anywhere) return holds(column, bind(name, "String", prefix));
  const starts = startsWith(column, bind(name, "String", prefix));
  const goesOn = edge ? continuation(prefix) : null;
  if (goesOn === null) return starts;
  // RE2, which ClickHouse uses, reads the same classes; the rest is cut by bytes.
  const rest = withoutBytes(column, Buffer.byteLength(prefix));
  return sql`(${starts} AND NOT ${matches(rest, bind(name, "String", `^${goesOn}`))})`;
}

type Kind = "text" | "number" | "bool" | "time" | "other";

/** Conditions that a column of a type allows. */
export function columnKind(type: string): Kind {
  const plain = plainType(type);
  if (plain === "String" || plain.startsWith("FixedString")) return "text";
  if (/^(U?Int\d+|Float\d+|BFloat16|Decimal)/.test(plain)) return "number";
  if (/^Date(32|Time)?/.test(plain)) return "time";
  return plain === "Bool" ? "bool" : "other";
}

function checkValue(
  column: string,
  type: string,
  kind: Kind,
  value: Exclude<FilterValue, null>,
): void {
  const whole = /Int/.test(type);
  const isNumber =
    typeof value === "bigint" ||
    (typeof value === "number" &&
      (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
      !(/UInt/.test(type) && value < 0));
  const isText = typeof value === "string";
  const fits = kind === "number" ? isNumber : kind === "bool" ? typeof value === "boolean" : isText;
  const [least, most] = integerBounds(plainType(type));
  const number = isNumber && kind === "number" ? value : 0;
  if (number < least || number > most) {
    throw new ProbelabError(
      `Can't compare ${column}, a ${plainType(type)}, with ${value}, which no row can have: it holds ${least} to ${most}.`,
    );
  }
  if (fits) return;
  const shown = isText ? JSON.stringify(value) : String(value);
  const flag = value === true ? "t" : "f";
  const text = `text, such as "${typeof value === "boolean" ? flag : String(value)}"`;
  const want = {
    text,
    other: text,
    time: `text, such as "2026-05-01 00:00:00", or { gte: new Date(…) }`,
    bool: "true or false",
    number: whole ? "a whole number" : "a number",
  }[kind];
  const version = /version$/.test(column) && kind === "text";
  const more = version ? `, or prefix("${String(value)}") for all that begin with it` : "";
  throw new ProbelabError(
    `Can't compare ${column}, a ${plainType(type)}, with ${shown}: pass ${want}${more}.`,
  );
}

/** The least and the greatest value of a type; the server would take a number beyond them modulo 2ⁿ. */
function integerBounds(type: string): readonly [bigint | number, bigint | number] {
  const [, unsigned, bits] = /^(U?)Int(\d+)$/.exec(type) ?? [];
  if (bits === undefined) return [-Infinity, Infinity];
  return unsigned === "U"
    ? [0n, 2n ** BigInt(bits) - 1n]
    : [-(2n ** BigInt(Number(bits) - 1)), 2n ** BigInt(Number(bits) - 1) - 1n];
}

const MOST_VALUES = 3;

/** A `where` in words, for titles: `software_name = probe-cli, probe_cc = IT or US`; "" for none. */
export function whereText(where: Where): string {
  return conditionsOf(where)
    .map(({ column, field, value }) => {
      if (field in COMPARISONS) {
        const shown = value instanceof Date ? value.toISOString() : String(value);
        return `${column} ${SIGNS[field]} ${shown}`;
      }
      const values = matchList(value as Match);
      const shown = values.slice(0, MOST_VALUES).map(valueText).join(" or ");
      const more = values.length - MOST_VALUES;
      return `${column} ${SIGNS[field]} ${shown}${more > 0 ? ` or ${more} more` : ""}`;
    })
    .join(", ");
}

function valueText(value: FilterValue | Prefix): string {
  if (isPrefix(value)) return `${value.anywhere ? "…" : ""}${value.prefix}…`;
  if (value === null) return "(none)";
  return value === "" ? "(empty)" : String(value);
}
