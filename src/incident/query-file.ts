import { redact } from "../base/redact.js";
import { cleanText, grouped, mapTexts } from "../base/text.js";
import { originSpan } from "../chart/sentences.js";
import { maskAddresses } from "../mask/mask.js";
import { originRecord } from "../render/origin.js";
import { toTaggedJson, type Json } from "../result/json.js";
import type { Origin } from "../result/origin.js";
import { columnsOf } from "./figure.js";

/**
 * The question of a figure as SQL that ClickHouse's own client runs: what it is, then the values of
 * its placeholders (`SET param_…`), then the query as it was sent.
 */
export function queryFile(title: string, origin: Origin): string {
  const { sql, parameters, source, server, askedAt } = questionOf(origin);
  const about = [
    title,
    `${[...originSpan(origin), `from ${source}`].join(", ")}${server === "" ? "" : ` (ClickHouse ${server})`}`,
    `Asked at ${askedAt}; ${grouped(origin.rowsRead)} rows read`,
    ...origin.reductions,
    ...origin.notes,
  ];
  const head = about.map((line) => `-- ${cleanText(line).replace(/\s+/g, " ")}\n`).join("");
  if (sql === "") return `${head}-- No database was asked for these rows.\n`;
  const settings = Object.entries(parameters)
    .filter(([name]) => /^\w+$/.test(name))
    .map(([name, value]) => `SET param_${name} = ${quoted(parameterText(value, false))};\n`);
  const query = sql.trimEnd().replace(/;$/, "");
  // In a comment at its end a semicolon would end nothing.
  const end = /(--|#|\/\/)[^\n]*$/.test(query) ? "\n;" : ";";
  return `${head}${isIncomplete(sql, parameters) ? INCOMPLETE : ""}\n${settings.join("")}\n${query}${end}\n`;
}

/**
 * The question of a figure and its answer, with which `probelab postmortem verify --rerun` compares the
 * answer of today. Undefined where no single query of under 5,000 rows gave the figure's rows, and where
 * the query held what is masked: it can't be asked again.
 *
 * @param answer of the Result before it was masked. @param origin of the masked one.
 */
export function answerText(
  answer: Origin["answer"],
  origin: Origin,
  masked: boolean,
): string | undefined {
  const { sql, parameters, source } = questionOf(origin);
  if (answer === undefined || answer.sql !== sql || isIncomplete(sql, parameters)) return undefined;
  const columns = maskedAnswer(columnsOf(answer.table), masked);
  return `${toTaggedJson({ source, sql, parameters, columns })}\n`;
}

/** An answer as a folder holds it: when it is saved, and when it is compared. */
export function maskedAnswer<T>(columns: T, masked: boolean): T {
  return mapTexts(columns, (text) => (masked ? maskAddresses(redact(text)) : redact(text)));
}

function questionOf(origin: Origin) {
  return originRecord(origin) as {
    readonly sql: string;
    readonly parameters: Readonly<Record<string, Json>>;
    readonly source: string;
    readonly server: string;
    readonly askedAt: string;
  };
}

// In doubt it is incomplete: `***` also stands in some comments.
function isIncomplete(sql: string, parameters: Json): boolean {
  return /\[(?:IPv[46]|e-mail) \d+\]|\(left out\)|=…|(?<![/*])\*{3}(?![/*])/.test(
    JSON.stringify([sql, parameters]),
  );
}

const INCOMPLETE = `-- Addresses in it are masked, or secrets left out: put the values back, then remove the next line.
SELECT throwIf(1, 'This query is not complete: read the lines above it');
`;

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
