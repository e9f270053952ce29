import { ProbelabError } from "../base/error.js";
import type { TimeRange } from "../time/time-range.js";
import { nodesOf, type ExplainNode } from "./statement.js";
import { plainType } from "./time-column.js";

/** A bound of a column whose unit or form only its values tell: numbers, text. */
export interface KnownBound {
  readonly start: string | number;
  readonly end: string | number;
}

/** A read of a table that is not shown to stay in the range. */
export interface UnboundedRead {
  /** `database.table` */
  readonly table: string;
  /** True where the SELECT has a HAVING or QUALIFY, which limits no read. */
  readonly filteredLater: boolean;
}

/** A fact of the rows that a condition lets through: `low:t` where t is not before the range. */
type Facts = ReadonlySet<string>;

const NONE: Facts = new Set();

/**
 * The reads of tables that the query, as the server resolved it, does not bound by the range. A read
 * is bounded where the WHERE or PREWHERE of its own SELECT, or the ON of a JOIN that drops its rows,
 * lets only rows through whose time column lies in the range. What a query of a query, a HAVING, or
 * an OR with anything else says is no bound.
 *
 * @param tree EXPLAIN QUERY TREE: names, aliases, CTEs and constants are resolved by the server.
 * @param known the bounds of number and text columns, by `table.column` or `.column`.
 */
export function unboundedReads(
  tree: ExplainNode,
  range: Pick<TimeRange, "start" | "end">,
  known: ReadonlyMap<string, KnownBound>,
): UnboundedRead[] {
  const reads: UnboundedRead[] = [];

  const factsOf = (condition: ExplainNode, table: ExplainNode): Facts => {
    const name = /function_name: (\w+)/.exec(condition.text)?.[1];
    if (!condition.text.startsWith("FUNCTION ") || name === undefined) return NONE;
    const parts = argumentsOf(condition);
    if (name === "and") return new Set(parts.flatMap((part) => [...factsOf(part, table)]));
    if (name === "or") {
      const [first = NONE, ...rest] = parts.map((part) => factsOf(part, table));
      return new Set([...first].filter((fact) => rest.every((other) => other.has(fact))));
    }
    return comparison(name, parts, table);
  };

  const comparison = (name: string, parts: readonly ExplainNode[], table: ExplainNode): Facts => {
    const [a, b] = parts;
    if (a === undefined || b === undefined || parts.length !== 2) return NONE;
    const turned = a.text.startsWith("CONSTANT");
    const [column, constant] = turned ? [b, a] : [a, b];
    const is = /column_name: (.*), result_type: (.*), source_id: (\d+)$/.exec(column.text);
    const value = /constant_value: (.*), constant_value_type: (.*)$/.exec(constant.text);
    if (!column.text.startsWith("COLUMN") || is === null || value === null) return NONE;
    const [, columnName = "", type = "", source] = is;
    if (source !== idOf(table)) return NONE;
    const [, dumped = "", constantType = ""] = value;
    const bound =
      known.get(`${tableOf(table).replace(/^[^.]*[.]/, "")}.${columnName}`) ??
      known.get(`.${columnName}`);
    const inside = within(plainType(type), dumped, plainType(constantType), range, bound);
    const above = turned ? /^less/ : /^greater/;
    const below = turned ? /^greater/ : /^less/;
    const facts: string[] = [];
    if ((above.test(name) || name === "equals") && inside.low) facts.push(`low:${columnName}`);
    if ((below.test(name) || name === "equals") && inside.high) facts.push(`high:${columnName}`);
    return new Set(facts);
  };

  const visitQuery = (query: ExplainNode): void => {
    const conditions = query.children
      .filter(({ text }) => text === "WHERE" || text === "PREWHERE")
      .flatMap(({ children }) => children);
    const filteredLater = query.children.some(({ text }) => /^(HAVING|QUALIFY)$/.test(text));
    for (const part of query.children) {
      if (part.text === "JOIN TREE") {
        for (const source of part.children) visitSource(source, conditions, filteredLater);
      } else visit(part);
    }
  };

  const visitSource = (
    source: ExplainNode,
    conditions: readonly ExplainNode[],
    filteredLater: boolean,
  ): void => {
    if (source.text.startsWith("TABLE ")) {
      const facts = new Set(conditions.flatMap((each) => [...factsOf(each, source)]));
      const bounded = [...facts].some(
        (fact) => fact.startsWith("low:") && facts.has(`high:${fact.slice(4)}`),
      );
      if (!bounded) reads.push({ table: tableOf(source), filteredLater });
      return;
    }
    if (!/^(CROSS JOIN|JOIN|ARRAY_JOIN) /.test(source.text)) return visit(source);
    const kind = /kind: (\w+)/.exec(source.text)?.[1] ?? "";
    const on = source.children
      .filter(({ text }) => text.trim() === "JOIN EXPRESSION")
      .flatMap(({ children }) => children);
    for (const { text, children } of source.children) {
      const side = text.trim();
      // An outer join keeps the rows of its own side whatever the ON says of them.
      const drops =
        kind === "INNER" ||
        (kind === "LEFT" && side === "RIGHT TABLE EXPRESSION") ||
        (kind === "RIGHT" && side === "LEFT TABLE EXPRESSION");
      for (const child of children) {
        if (side.endsWith("TABLE EXPRESSION"))
          visitSource(child, drops ? [...conditions, ...on] : conditions, filteredLater);
        else visit(child);
      }
    }
  };

  const visit = (node: ExplainNode): void => {
    if (node.text.startsWith("QUERY ")) return visitQuery(node);
    // A table that stands for its rows, as in `x IN table`.
    if (node.text.startsWith("TABLE ")) {
      reads.push({ table: tableOf(node), filteredLater: false });
    }
    node.children.forEach(visit);
  };

  if (![...nodesOf(tree)].some(({ text }) => text.startsWith("QUERY "))) {
    throw new ProbelabError(
      "Can't show that the query stays in its time range: the server does not tell how it understands it (EXPLAIN QUERY TREE, ClickHouse 24.3 or later). Ask with lab.measurements or lab.logs instead.",
    );
  }
  tree.children.forEach(visit);
  return reads;
}

function argumentsOf({ children }: ExplainNode): readonly ExplainNode[] {
  return children
    .filter(({ text }) => text.trim() === "ARGUMENTS")
    .flatMap((list) => list.children)
    .flatMap((list) => list.children);
}

function idOf({ text }: ExplainNode): string | undefined {
  return / id: (\d+)/.exec(text)?.[1];
}

function tableOf({ text }: ExplainNode): string {
  return /table_name: ([^,]*)/.exec(text)?.[1] ?? "";
}

/** Whether a column from, or up to, a constant lies in the range. */
function within(
  type: string,
  dumped: string,
  constantType: string,
  range: Pick<TimeRange, "start" | "end">,
  known: KnownBound | undefined,
): { low: boolean; high: boolean } {
  const step = stepOf(type);
  const constantStep = stepOf(constantType);
  if (step !== undefined && constantStep !== undefined) {
    const days = /^Date(32)?$/.test(constantType) ? 86_400 : 1;
    const seconds = Number(/^\w+?_'?(-?[\d.]+)'?$/.exec(dumped)?.[1] ?? NaN) * days;
    const start = range.start.getTime() / 1000;
    // Whole steps below an instant are those below the next whole step.
    const end = Math.ceil(range.end.getTime() / 1000 / step) * step;
    return { low: seconds >= start - 1e-6, high: seconds <= end + 1e-6 };
  }
  if (known === undefined) return { low: false, high: false };
  const number = /^U?Int\d+_(-?\d+)$/.exec(dumped)?.[1];
  if (/^U?Int/.test(type) && number !== undefined) {
    const value = BigInt(number);
    return { low: value >= BigInt(known.start), high: value <= BigInt(known.end) };
  }
  if (type === "Float64") {
    const value = Number(/^(?:U?Int\d+|Float64)_(.+)$/.exec(dumped)?.[1] ?? NaN);
    return { low: value >= Number(known.start), high: value <= Number(known.end) };
  }
  const text = /^'([^'\\]*)'$/.exec(dumped)?.[1];
  if (/^(Fixed)?String/.test(type) && text !== undefined) {
    return { low: text >= String(known.start), high: text <= String(known.end) };
  }
  return { low: false, high: false };
}

/** Seconds of the smallest step of a time type; undefined for any other type. */
function stepOf(type: string): number | undefined {
  if (/^Date(32)?$/.test(type)) return 86_400;
  if (/^DateTime(\(|$)/.test(type)) return 1;
  return /^DateTime64\b/.test(type) ? 1e-9 : undefined;
}
