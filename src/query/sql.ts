/** A value that is bound to a placeholder: sent beside the SQL, never pasted into it. */
interface Bound {
  readonly name: string;
  readonly type: string;
  readonly value: unknown;
}

/** SQL over several lines, indented when it is printed. */
interface Block {
  readonly block: Sql;
}

/** SQL with the values bound to it. It composes: `sql` takes other SQL in its `${…}`. */
export interface Sql {
  readonly parts: readonly (string | Bound | Block)[];
}

/** SQL as it is sent. */
export interface PrintedSql {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * SQL of a template; what stands in `${…}` is SQL itself, so no text of a user can get in.
 *
 * @example
 * print(sql`SELECT count() FROM ${raw("fastpath")} WHERE probe_cc = ${bind("cc", "String", "IT")}`);
 */
export function sql(texts: TemplateStringsArray, ...inner: readonly Sql[]): Sql {
  const parts = texts.flatMap((text, index) => [text, ...(inner[index]?.parts ?? [])]);
  return { parts: parts.filter((part) => part !== "") };
}

/** SQL of this library's own, or identifiers that are quoted already. */
export function raw(text: string): Sql {
  return { parts: text === "" ? [] : [text] };
}

/** A placeholder for a value; `name` is what it is called where no other value has the name. */
export function bind(name: string, type: string, value: unknown): Sql {
  return { parts: [{ name, type, value }] };
}

/** SQL one after the other. */
export function join(list: readonly Sql[], separator = ", "): Sql {
  return {
    parts: list.flatMap((part, index) => (index === 0 ? part.parts : [separator, ...part.parts])),
  };
}

/** All conditions at once; `true` for none. */
export function and(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw("true") : join(conditions, " AND ");
}

/** A column of a SELECT and its name in the answer. */
export type Column = readonly [name: string, value: Sql];

/** A SELECT, clause by clause. */
export interface Select {
  readonly columns: readonly Column[];
  /** A table, or another SELECT in `nested`. */
  readonly from: Sql;
  readonly where?: readonly Sql[];
  /** Names of `columns`, or SQL. */
  readonly groupBy?: readonly (string | Sql)[];
  readonly having?: readonly Sql[];
  readonly orderBy?: readonly Sql[];
}

/** A SELECT, a clause a line. */
export function select({ columns, from, where, groupBy, having, orderBy }: Select): Sql {
  const named = columns.map(([name, value]) =>
    value.parts.length === 1 && value.parts[0] === name ? value : sql`${value} AS ${raw(name)}`,
  );
  const keys = (groupBy ?? []).map((key) => (typeof key === "string" ? raw(key) : key));
  const clause = (word: string, list: readonly Sql[] | undefined, separator: string) =>
    list === undefined || list.length === 0 ? [] : [sql`${raw(word)} ${join(list, separator)}`];
  return join(
    [
      sql`SELECT ${join(named)}`,
      sql`FROM ${from}`,
      ...clause("WHERE", where, " AND "),
      ...clause("GROUP BY", keys, ", "),
      ...clause("HAVING", having, " AND "),
      ...clause("ORDER BY", orderBy, ", "),
    ],
    "\n",
  );
}

/** A SELECT in brackets, to select from. */
export function nested(inner: Sql): Sql {
  return { parts: ["(\n", { block: inner }, "\n)"] };
}

/** The text and its values; the same value of the same name and type is bound once. */
export function print(node: Sql): PrintedSql {
  const parameters: Record<string, unknown> = {};
  const types = new Map<string, string>();
  const placeholder = ({ name, type, value }: Bound): string => {
    for (let copy = 1; ; copy++) {
      const free = copy === 1 ? name : `${name}_${copy}`;
      if (!types.has(free)) {
        types.set(free, type);
        parameters[free] = value;
      }
      if (types.get(free) === type && parameters[free] === value) return `{${free}:${type}}`;
    }
  };
  const text = ({ parts }: Sql): string =>
    parts
      .map((part) => {
        if (typeof part === "string") return part;
        return "block" in part ? text(part.block).replace(/^/gm, "  ") : placeholder(part);
      })
      .join("");
  return { sql: text(node), parameters };
}
