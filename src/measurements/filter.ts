import { unknownColumn, type TableInfo } from "../database/table-info.js";
import { plainType, quoteIdentifier } from "../database/time-column.js";
import { ProbelabError } from "../error.js";
import { continuation, isPrefix, type Prefix } from "./prefix.js";

/** One value of a column. */
export type FilterValue = string | number | bigint | boolean | null;

/** Column to what its value must be: a value, one of a list, or a prefix; all must hold. */
export type Where = Readonly<
  Record<string, FilterValue | Prefix | readonly (FilterValue | Prefix)[]>
>;

/** SQL with the values to bind to it. */
export interface Sql {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * The condition of a `where`, its values bound in the columns' own types; null without filters.
 *
 * @param prefix what the names of the bound values begin with.
 * @throws ProbelabError for an unknown column, a value of another type than the column's, or an
 *   empty list.
 */
export function filterSql(
  where: Where | undefined,
  table: TableInfo,
  prefix = "where",
): Sql | null {
  const parameters: Record<string, unknown> = {};
  const bind = (type: string, value: unknown) => {
    const name = `${prefix}_${Object.keys(parameters).length + 1}`;
    parameters[name] = value;
    return `{${name}:${type}}`;
  };
  const conditions = Object.entries(where ?? {}).map(([column, wanted]) => {
    const type = table.columns.get(column);
    if (type === undefined) throw unknownColumn(column, table.name, table.columns);
    const list = (Array.isArray(wanted) ? wanted : [wanted]) as readonly (FilterValue | Prefix)[];
    if (list.length === 0) {
      throw new ProbelabError(
        `Can't filter ${column} by an empty list, which matches nothing: name at least one value or leave the filter out.`,
      );
    }
    return columnCondition(column, type, list, bind);
  });
  if (conditions.length === 0) return null;
  return { sql: conditions.join(" AND "), parameters };
}

function columnCondition(
  column: string,
  type: string,
  list: readonly (FilterValue | Prefix)[],
  bind: (type: string, value: unknown) => string,
): string {
  const kind = columnKind(type);
  const name = quoteIdentifier(column);
  const text = kind === "other" ? `toString(${name})` : name;
  const parts: string[] = [];
  const prefixes = list.filter(isPrefix);
  const values = list.filter(
    (value): value is Exclude<FilterValue, null> => value !== null && !isPrefix(value),
  );
  values.forEach((value) => checkValue(column, type, kind, value));
  const bound = kind === "text" || kind === "other" ? "String" : plainType(type);
  const sent = values.map((value) => (typeof value === "bigint" ? String(value) : value));
  if (sent.length === 1) parts.push(`${text} = ${bind(bound, sent[0])}`);
  if (sent.length > 1) parts.push(`${text} IN ${bind(`Array(${bound})`, sent)}`);
  for (const one of prefixes) {
    if (kind === "number" || kind === "bool") {
      throw new ProbelabError(
        `Can't match ${column} by prefix("${one.prefix}"): it is a ${type}, not text. Pass values, such as { ${column}: [1, 2] }.`,
      );
    }
    parts.push(prefixCondition(text, one, bind));
  }
  if (list.includes(null)) parts.push(`isNull(${name})`);
  return parts.length === 1 ? (parts[0] as string) : `(${parts.join(" OR ")})`;
}

function prefixCondition(
  column: string,
  { prefix, edge }: Prefix,
  bind: (type: string, value: unknown) => string,
): string {
  const starts = `startsWith(${column}, ${bind("String", prefix)})`;
  const goesOn = edge ? continuation(prefix) : null;
  if (goesOn === null) return starts;
  // RE2, which ClickHouse uses, reads the same classes; the rest is cut by bytes.
  const rest = `substring(${column}, ${Buffer.byteLength(prefix) + 1})`;
  return `(${starts} AND NOT match(${rest}, ${bind("String", `^${goesOn}`)}))`;
}

type Kind = "text" | "number" | "bool" | "other";

function columnKind(type: string): Kind {
  const plain = plainType(type);
  if (plain === "String" || plain.startsWith("FixedString")) return "text";
  if (/^(U?Int\d+|Float\d+|BFloat16|Decimal)/.test(plain)) return "number";
  return plain === "Bool" ? "bool" : "other";
}

function checkValue(
  column: string,
  type: string,
  kind: Kind,
  value: Exclude<FilterValue, null>,
): void {
  const ok = {
    text: typeof value === "string",
    other: typeof value === "string",
    bool: typeof value === "boolean",
    number:
      typeof value === "bigint" ||
      (typeof value === "number" &&
        Number.isFinite(value) &&
        (!/Int/.test(type) || Number.isSafeInteger(value)) &&
        !(/UInt/.test(type) && value < 0)),
  }[kind];
  if (ok) return;
  const want = {
    text: `text, such as "${String(value)}"`,
    other: `text, such as "${String(value)}"`,
    bool: "true or false",
    number: /Int/.test(type) ? "a whole number" : "a number",
  }[kind];
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  const version = /version$/.test(column) && kind === "text";
  const more = version ? `, or prefix("${String(value)}") for all that begin with it` : "";
  throw new ProbelabError(
    `Can't compare ${column}, a ${plainType(type)}, with ${shown}: pass ${want}${more}.`,
  );
}
