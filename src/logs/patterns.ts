import type { Database } from "../database/database.js";
import type { PrintedSql } from "../query/sql.js";
import { Result } from "../result/result.js";
import {
  askLogs,
  checkLogQuestion,
  limitSql,
  maskedLogs,
  whyNoLines,
  type LogOptions,
} from "./log-question.js";
import { fieldText, instantSql, messageText } from "./log-table.js";

/** What patterns take besides. */
export interface PatternOptions extends LogOptions {
  /** Most patterns, the commonest first; default 100, Infinity for all. */
  readonly limit?: number;
}

/** `lab.logs.patterns`: see {@link Logs.patterns}. */
export async function patterns(database: Database, options: PatternOptions): Promise<Result> {
  const action = "group the log messages";
  const asked = await checkLogQuestion(database, options, action, ["limit"]);
  const most = limitSql(options.limit ?? 100);
  const { table, source } = asked;
  // A message that is NULL is grouped with the empty ones.
  const message = messageText(table);
  const shape = messageShapeSql(message);
  const time = table.time.sql;
  const sql = `SELECT *, count() OVER () AS _patterns, sum(_n) OVER () AS _messages
FROM (
  SELECT ${fieldText("identifier", table)} AS _program, ${shape.sql} AS _shape, count() AS _n,
    ${instantSql(`min(${time})`, table)} AS _first, ${instantSql(`max(${time})`, table)} AS _last,
    argMin(${message}, (${time}, ${message})) AS _example
  ${source.sql.replace("\n", "\n  ")}
  GROUP BY _program, _shape
)
ORDER BY _n DESC, _program, _shape${most.sql}`;
  const parameters = { ...source.parameters, ...shape.parameters, ...most.parameters };
  const { table: found, origin } = await askLogs(database, asked, { sql, parameters });
  const rows = found.select({
    _program: "identifier",
    _shape: "pattern",
    _n: "messages",
    _first: "first",
    _last: "last",
    _example: "example",
  });
  const column = (name: string) => rows.array(name) as (string | null)[];
  const count = rows.numRows();
  const [total, all] = ["_patterns", "_messages"].map((name) =>
    count === 0 ? 0 : Number(found.get(name, 0)),
  ) as [number, number];
  const shown = column("messages").reduce((sum, n) => sum + Number(n), 0);
  const text = (n: number) => n.toLocaleString("en-US");
  const result = new Result(rows, {
    ...origin,
    columns: {
      dimensions: ["identifier", "pattern"].map((name) => ({
        name,
        order: [...new Set(column(name))],
      })),
      measures: [
        { name: "messages", label: "Messages", unit: "messages", additive: true, missing: "zero" },
      ],
    },
    reductions:
      total > count
        ? [
            `The ${count} commonest of ${text(total)} patterns; they hold ${text(shown)} of ${text(all)} messages.`,
          ]
        : [],
    notes: [...(count === 0 ? [await whyNoLines(database, asked)] : []), ...origin.notes],
  });
  return maskedLogs(result, options);
}

/** A kind of varying text: how it is found, in the syntax that RE2 and JavaScript share, and what stands for it. */
interface Rule {
  readonly find: string;
  /** `$1` is what the first bracket found. */
  readonly put: string;
}

const HEX = "[0-9a-fA-F]";
const GROUPS = `${HEX}{1,4}(?::${HEX}{1,4})*`;

/** Sixteen or more letters and digits with a digit among them; RE2 can't look ahead, so each place is told. */
const LONG_ID = [
  ...Array.from({ length: 16 }, (_, at) => `[A-Za-z]{${at}}[0-9][A-Za-z0-9]{${15 - at},}`),
  "[A-Za-z]{16,}[0-9][A-Za-z0-9]*",
].join("|");

/** In the order in which they are applied. */
const RULES: readonly Rule[] = [
  {
    find: "[\\p{L}\\p{N}._%+-]+@[\\p{L}\\p{N}-]+(?:\\.[\\p{L}\\p{N}-]+)+",
    put: "<e-mail>",
  },
  {
    find: "\\b[0-9]{8}T[0-9]{6}Z_[a-z0-9]+_[A-Z]{2}_[0-9]+_[A-Za-z0-9-]+_[A-Za-z0-9]+",
    put: "<report-id>",
  },
  { find: `\\b${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}\\b`, put: "<uuid>" },
  {
    find: "\\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\\b",
    put: "<time>",
  },
  {
    find: `(?:\\b(?:${HEX}{1,4}:){7}${HEX}{1,4}\\b|\\b${GROUPS}::(?:${GROUPS}\\b|\\B)|\\B::${GROUPS}\\b)`,
    put: "<ip>",
  },
  { find: "\\b[0-9]{1,3}(?:\\.[0-9]{1,3}){3}\\b", put: "<ip>" },
  { find: "\\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\\b", put: "<time>" },
  { find: "\\b([a-z_]*(?:cc|country_code)=)[A-Z]{2}\\b", put: "$1<cc>" },
  { find: "\\b[0-9]+(?:\\.[0-9]+)*\\b", put: "<n>" },
  { find: `\\b(?:0x)?${HEX}{8,}\\b`, put: "<id>" },
  { find: `\\b(?:${LONG_ID})\\b`, put: "<id>" },
  { find: "[0-9]+(?:\\.[0-9]+)*", put: "<n>" },
];

const COMPILED = RULES.map(({ find, put }) => ({ find: new RegExp(find, "gu"), put }));

/**
 * The shape of a message: numbers, addresses, times, ids and country codes replaced by what they are.
 *
 * @example
 * messageShape("answered 203.0.113.7 in 80 ms"); // "answered <ip> in <n> ms"
 */
export function messageShape(message: string): string {
  return COMPILED.reduce((text, { find, put }) => text.replace(find, put), message);
}

/** SQL for the shape of a message, and the patterns to bind to it. */
function messageShapeSql(message: string): PrintedSql {
  const parameters: Record<string, string> = {};
  const sql = RULES.reduce((text, { find, put }, index) => {
    parameters[`find_${index}`] = find;
    parameters[`put_${index}`] = put.replace("$1", "\\1");
    return `replaceRegexpAll(${text}, {find_${index}:String}, {put_${index}:String})`;
  }, message);
  return { sql, parameters };
}
