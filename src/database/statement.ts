import { ProbelabError } from "../base/error.js";
import { sqlCode } from "./sql-text.js";
import type { AskRows } from "./tables.js";

/** A line of one of the server's EXPLAINs with the lines that are indented under it. */
export interface ExplainNode {
  readonly text: string;
  readonly children: readonly ExplainNode[];
}

/** Asks the server for an EXPLAIN, as a tree. */
export async function explain(
  ask: AskRows,
  kind: "AST" | "QUERY TREE",
  sql: string,
  parameters: Record<string, unknown>,
): Promise<ExplainNode> {
  // In parentheses only a query fits. EXPLAIN AST explains the first FORMAT that follows, too.
  const lines = await ask<{ explain: string }>(
    `EXPLAIN ${kind} (\n${sql}\n)${kind === "AST" ? " FORMAT Null" : ""}`,
    parameters,
    "run the query",
  );
  const root = { text: "", indent: -1, children: [] as ExplainNode[] };
  const open = [root];
  for (const { explain: line } of lines) {
    const text = line.trimStart();
    const node = { text, indent: line.length - text.length, children: [] };
    while ((open.at(-1)?.indent ?? -1) >= node.indent) open.pop();
    (open.at(-1) ?? root).children.push(node);
    open.push(node);
  }
  return root;
}

/** A node and all below it. */
export function* nodesOf(node: ExplainNode): Generator<ExplainNode> {
  yield node;
  for (const child of node.children) yield* nodesOf(child);
}

/** Table functions that read nothing but their arguments. */
const GENERATORS =
  /^(numbers|zeros)(_mt)?$|^(generate_?series|generateRandom|values|SQLStandardValues|null|primes|format|dictionary)$/i;

/** Functions that reach out of the database: to files, other servers, the request's own headers. */
const REACHING =
  /^(file|url|s3|hdfs|gcs|oss|cosn|remote|remoteSecure|clusterAllReplicas|mysql|postgresql|mongodb|redis|sqlite|odbc|jdbc|ytsaurus|executable|filesystem|merge|view\w*|loop|eval|input|hasColumnInTable|catboostEvaluate|getClientHTTPHeader|(azureBlobStorage|iceberg|deltaLake|hudi|paimon)\w*|\w*Cluster|ai(Classify|Embed|Extract|Generate|Translate)\w*)$/i;

const READS_TABLES = /^(SelectQuery|SelectWithUnionQuery|SelectIntersectExceptQuery)\b/;
const COMPARES = /^Function (greaterOrEquals|greater|lessOrEquals|less|equals)\b/;

/**
 * Refuses what free SQL may not do, by the statement as the server parses it; nothing of it runs:
 * anything but a SELECT, settings of its own, and functions that read elsewhere. A scalar subquery
 * must be bounded at sight, since the server runs it when it looks at the query closely.
 *
 * @throws ProbelabError for such a statement, or as the server says of SQL that it can't parse.
 */
export function checkStatement(root: ExplainNode): void {
  const [statement, ...more] = root.children;
  if (statement === undefined || more.length > 0 || !READS_TABLES.test(statement.text)) {
    throw new ProbelabError("Can't run a statement that is not one SELECT: questions only read.");
  }
  for (const node of nodesOf(statement)) {
    if (/^Set\b/.test(node.text)) {
      throw new ProbelabError(
        "Can't run a query with its own SETTINGS: leave them out; limits are set by connect({ guard }).",
      );
    }
    const name = /^Function (\S+)/.exec(node.text)?.[1] ?? "";
    if (REACHING.test(name)) throw reaching(name);
    if (!node.text.startsWith("TableExpression")) continue;
    for (const { text } of node.children) {
      const source = /^Function (\S+)/.exec(text)?.[1];
      if (source !== undefined && !GENERATORS.test(source)) throw reaching(source);
    }
  }
  checkScalars(statement);
}

const READS = /^[\s(]*(SELECT|WITH|FROM|SHOW|DESCRIBE|DESC|EXPLAIN|EXISTS)\b/i;
const WRITES =
  /\bINSERT\s+INTO\b|\bINTO\s+OUTFILE\b|^[\s(]*(EXPLAIN\s+)+(\w+\s+){0,2}(ALTER|CREATE|DROP|TRUNCATE|RENAME|EXCHANGE|OPTIMIZE|ATTACH|DETACH|DELETE|UPDATE|KILL|SYSTEM|SET|GRANT|REVOKE|BACKUP|RESTORE)\b/i;

/**
 * Refuses to send what does not read, whoever wrote it: the last gate before the server, which is
 * asked with readonly = 1 besides. Strings, quoted names and comments are no part of a statement.
 */
export function checkReads(sql: string): void {
  const code = sqlCode(sql);
  if (READS.test(code) && !WRITES.test(code)) return;
  throw new ProbelabError(
    "Can't run the query: it is no SELECT, SHOW, DESCRIBE or EXPLAIN of one, and questions only read. Leave out what writes.",
  );
}

function reaching(name: string): ProbelabError {
  return new ProbelabError(
    `Can't run a query with ${name}(): it may read outside of the database's tables and of the time range. Ask a table or a plain view by its name.`,
  );
}

/** Looks at the subqueries that stand for one value; those that are read from are not run before their time. */
function checkScalars(node: ExplainNode, parent?: ExplainNode, above?: ExplainNode): void {
  if (node.text.startsWith("Subquery") && !isReadFrom(node, parent, above)) checkSight(node);
  for (const child of node.children) checkScalars(child, node, parent);
}

function isReadFrom(node: ExplainNode, parent?: ExplainNode, above?: ExplainNode): boolean {
  if (/^(TableExpression|WithElement)\b/.test(parent?.text ?? "")) return true;
  return (
    /^Function ((global)?(not)?(null)?in|exists)\b/i.test(above?.text ?? "") &&
    parent?.children.at(-1) === node
  );
}

function checkSight(subquery: ExplainNode): void {
  for (const select of nodesOf(subquery)) {
    if (!select.text.startsWith("SelectQuery")) continue;
    const tables = select.children.filter(({ text }) => text.startsWith("TablesInSelectQuery"));
    const names = tables.flatMap((each) =>
      [...nodesOf(each)].flatMap(({ text }) => /^TableIdentifier (\S+)/.exec(text)?.[1] ?? []),
    );
    const bounds = select.children.flatMap(conjuncts).filter(({ text }) => COMPARES.test(text));
    if (names.length > 0 && bounds.length < 2) {
      throw new ProbelabError(
        `Can't show that the query stays in its time range: a subquery that gives one value reads ${names[0]} without {range} in its WHERE. Put {range} there too, joined by AND.`,
      );
    }
  }
}

function conjuncts(node: ExplainNode): ExplainNode[] {
  if (!node.text.startsWith("Function and ")) return [node];
  return node.children.flatMap(({ children }) => children.flatMap(conjuncts));
}
