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
  let text = sql;
  for (const each of texts) {
    if (each.text === undefined) inUrl[each.name] = each.value;
    else if (each.bytes <= FIELD_BYTES) parts.push({ name: `param_${each.name}`, text: each.text });
    else text = addTable(text, each.name, each.value, each.text);
  }
  parts.push({ name: "query", text });
  return { sql: text, parameters: inUrl, structures, form: formOf(parts) };

  function addTable(before: string, name: string, value: unknown, whole: string): string {
    const table = `_value_of_${name}`;
    const add = (suffix: string, type: string, lines: string) => {
      // A value that the SQL names twice is one table.
      if (`${table}${suffix}_structure` in structures)
        return `(SELECT value FROM ${table}${suffix})`;
      parts.push({ name: `${table}${suffix}`, text: lines, file: true });
      structures[`${table}${suffix}_structure`] = `value ${type}`;
      structures[`${table}${suffix}_format`] = "TSV";
      return `(SELECT value FROM ${table}${suffix})`;
    };
    const place = `\\{\\s*${name}\\s*:\\s*`;
    const list = `${place}Array\\(([^}]*)\\)\\s*\\}`;
    const replaced = !Array.isArray(value)
      ? before
      : replaceInCode(
          before,
          new RegExp(`\\bIN\\s*(?:${list}|\\(\\s*${list}\\s*\\))`, "gi"),
          (_, bare, inParentheses) => {
            const rows = value.map((one) => `${escaped(one, false) ?? ""}\n`);
            return `IN ${add("_rows", bare ?? inParentheses ?? "", rows.join(""))}`;
          },
        );
    return replaceInCode(replaced, new RegExp(`${place}([^}]*)\\}`, "g"), (_, type = "") => {
      const one = add("", type.trim(), `${whole}\n`);
      return /^(Array|Map|Tuple)\(/.test(type) ? one : `assumeNotNull(${one})`;
    });
  }
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
  for (const [key, one] of parts) {
    if (!Array.isArray(value)) checkText(name, key);
    checkText(name, one);
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
    const text = value.replace(inArray ? /[\\\t\n\r\0']/g : /[\\\t\n\r\0]/g, (one) => {
      return ESCAPES[one] ?? one;
    });
    return inArray ? `'${text}'` : text;
  }
  if (typeof value === "boolean") return inArray ? String(value) : value ? "1" : "0";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (!Array.isArray(value)) return undefined;
  const parts = value.map((one) => escaped(one, true));
  return parts.includes(undefined) ? undefined : `[${parts.join(",")}]`;
}
