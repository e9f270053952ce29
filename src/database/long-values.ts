import { randomUUID } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import { replaceInCode } from "./sql-text.js";

/** A question with its values placed in the URL, in a form, or in tables of the form. */
export interface Placed {
  readonly sql: string;
  /** Values for the URL. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The columns of the form's tables, as the server takes them in the URL. */
  readonly structures: Readonly<Record<string, string>>;
  readonly form: Form | undefined;
}

/** A request's body of several parts. */
export interface Form {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Proxies allow 8 KiB of URL, which also holds the settings. */
const URL_BYTES = 4_096;
/** ClickHouse takes 128 KiB of a field (http_max_field_value_size), also in a form. */
const FIELD_BYTES = 100_000;

/**
 * Places values of any length: short ones in the URL, longer ones in a form, and those that are too
 * long for a field as tables of the form: `IN {list:Array(String)}` becomes `IN (SELECT value FROM …)`,
 * which is also the quickest way to ask for a long list.
 */
export function placeValues(sql: string, parameters: Readonly<Record<string, unknown>>): Placed {
  const texts = Object.entries(parameters).map(([name, value]) => {
    checkText(name, value);
    const text = escaped(value, false);
    return { name, value, text, bytes: text === undefined ? 0 : Buffer.byteLength(text) };
  });
  if (texts.reduce((sum, { bytes }) => sum + bytes, 0) <= URL_BYTES) {
    return { sql, parameters, structures: {}, form: undefined };
  }
  const parts: Part[] = [];
  const inUrl: Record<string, unknown> = {};
  const structures: Record<string, string> = {};
  /** A table of the form; a value that the SQL names twice is one table. */
  const addTable = (name: string, type: string, lines: string) => {
    if (!(`${name}_structure` in structures)) parts.push({ name, text: lines, file: true });
    structures[`${name}_structure`] = `value ${type}`;
    structures[`${name}_format`] = "TSV";
    return `(SELECT value FROM ${name})`;
  };
  let query = sql;
  for (const { name, value, text, bytes } of texts) {
    if (text === undefined) inUrl[name] = value;
    else if (bytes <= FIELD_BYTES) parts.push({ name: `param_${name}`, text });
    if (text === undefined || bytes <= FIELD_BYTES) continue;
    const place = `\\{\\s*${name}\\s*:\\s*`;
    if (Array.isArray(value)) {
      const list = `${place}Array\\(([^}]*)\\)\\s*\\}`;
      const isIn = new RegExp(`\\bIN\\s*(?:${list}|\\(\\s*${list}\\s*\\))`, "gi");
      query = replaceInCode(query, isIn, (_, bare, inParentheses) => {
        const rows = value.map((item) => `${escaped(item, false) ?? ""}\n`).join("");
        return `IN ${addTable(`_value_of_${name}_rows`, bare ?? inParentheses ?? "", rows)}`;
      });
    }
    query = replaceInCode(query, new RegExp(`${place}([^}]*)\\}`, "g"), (_, type = "") => {
      const table = addTable(`_value_of_${name}`, type.trim(), `${text}\n`);
      return /^(Array|Map|Tuple)\(/.test(type) ? table : `assumeNotNull(${table})`;
    });
  }
  parts.push({ name: "query", text: query });
  return { sql: query, parameters: inUrl, structures, form: formOf(parts) };
}

/** Half of a pair would be sent as U+FFFD, which is another text. */
function checkText(name: string, value: unknown): void {
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new ProbelabError(
      `Can't ask with ${JSON.stringify(value)} in ${name}: it holds half of a surrogate pair, which no text of a database can. Leave that half out.`,
    );
  }
  if (typeof value !== "object" || value === null || value instanceof Date) return;
  const parts = value instanceof Map ? [...value.entries()] : Object.entries(value);
  for (const [key, item] of parts) {
    if (!Array.isArray(value)) checkText(name, key);
    checkText(name, item);
  }
}

interface Part {
  readonly name: string;
  readonly text: string;
  /** ClickHouse reads files as tables, and of any length. */
  readonly file?: true;
}

// The platform's FormData would change the line ends of the SQL.
function formOf(parts: readonly Part[]): Form {
  const boundary = `probelab-${randomUUID()}`;
  const text = parts.map((part) => {
    const file = part.file ? `; filename="${part.name}"` : "";
    return `--${boundary}\r\ncontent-disposition: form-data; name="${part.name}"${file}\r\n\r\n${part.text}\r\n`;
  });
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${text.join("")}--${boundary}--\r\n`),
  };
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
  "'": "\\'",
};

/** A value in the server's text form (TabSeparated); undefined where this knows no form of it. */
function escaped(value: unknown, inArray: boolean): string | undefined {
  if (value === null) return inArray ? "NULL" : "\\N";
  if (typeof value === "string") {
    const text = value.replace(inArray ? /[\\\t\n\r\0']/g : /[\\\t\n\r\0]/g, (sign) => {
      return ESCAPES[sign] ?? sign;
    });
    return inArray ? `'${text}'` : text;
  }
  if (typeof value === "boolean") return inArray ? String(value) : value ? "1" : "0";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (!Array.isArray(value)) return undefined;
  const parts = value.map((item) => escaped(item, true));
  return parts.includes(undefined) ? undefined : `[${parts.join(",")}]`;
}
