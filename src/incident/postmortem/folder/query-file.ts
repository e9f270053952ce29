import { cleanText, grouped } from "../../../base/text.js";
import { originRecord } from "../../../render/origin/origin-record.js";
import type { Origin } from "../../../result/origin.js";
import type { Json } from "../../../result/json.js";
import { originSpan } from "../../../chart/sentences.js";

/**
 * The question of a figure as SQL that ClickHouse's own client runs: what it is, then the values of
 * its placeholders (`SET param_…`), then the query as it was sent.
 */
export function queryFile(title: string, origin: Origin): string {
  const record = originRecord(origin);
  const { sql, source, server, askedAt } = strings(record);
  const about = [
    title,
    `${[...originSpan(origin), `from ${source}`].join(", ")}${server === "" ? "" : ` (ClickHouse ${server})`}`,
    `Asked at ${askedAt}; ${grouped(origin.rowsRead)} rows read`,
    ...origin.reductions,
    ...origin.notes,
  ];
  const head = about.map((line) => `-- ${cleanText(line).replace(/\s+/g, " ")}\n`).join("");
  if (sql === "") return `${head}-- No database was asked for these rows.\n`;
  const incomplete = isIncomplete(JSON.stringify([sql, record["parameters"] ?? {}]));
  const settings = Object.entries(record["parameters"] as Record<string, Json>)
    .filter(([name]) => /^\w+$/.test(name))
    .map(([name, value]) => `SET param_${name} = ${quoted(parameterText(value, false))};\n`);
  const query = sql.trimEnd().replace(/;$/, "");
  // In a comment at its end a semicolon would end nothing.
  const end = /(--|#|\/\/)[^\n]*$/.test(query) ? "\n;" : ";";
  return `${head}${incomplete ? INCOMPLETE : ""}\n${settings.join("")}\n${query}${end}\n`;
}

/**
 * True where a value was masked or left out: the query would answer something else. In doubt it is: `***`
 * also stands in some comments.
 */
export function isIncomplete(text: string): boolean {
  return /\[(?:IPv[46]|e-mail) \d+\]|\(left out\)|=…|(?<![/*])\*{3}(?![/*])/.test(text);
}

const INCOMPLETE = `-- Addresses in it are masked, or secrets left out: put the values back, then remove the next line.
SELECT throwIf(1, 'This query is not complete: read the lines above it');
`;

function strings(record: Record<string, Json>) {
  const text = (name: string): string => {
    const value = record[name];
    return typeof value === "string" ? value : "";
  };
  return {
    sql: text("sql"),
    source: text("source"),
    server: text("server"),
    askedAt: text("askedAt"),
  };
}

/** A value as ClickHouse reads parameters: text as it is, arrays with quoted texts, null as \N. */
function parameterText(value: Json, inside: boolean): string {
  if (value === null) return inside ? "NULL" : "\\N";
  if (typeof value === "string") return inside ? quoted(value) : escaped(value);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value))
    return `[${value.map((each) => parameterText(each as Json, true)).join(",")}]`;
  return JSON.stringify(value);
}

/** Tab-separated text's own escapes, as parameters are read (`Escaped`). */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`;
}
