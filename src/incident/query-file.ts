import { cleanText, grouped } from "../base/text.js";
import { serverText } from "../database/long-values.js";
import { originRecord, originSpan } from "../chart/page.js";
import type { Json } from "../result/json.js";
import type { Origin } from "../result/origin.js";

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
    .map(([name, value]) => `SET param_${name} = ${quoted(serverText(value))};\n`);
  const query = sql.trimEnd().replace(/;$/, "");
  // In a comment at its end a semicolon would end nothing.
  const end = /(--|#|\/\/)[^\n]*$/.test(query) ? "\n;" : ";";
  return `${head}${isIncomplete(sql, parameters) ? INCOMPLETE : ""}\n${settings.join("")}\n${query}${end}\n`;
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

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`;
}
