import { randomUUID } from "node:crypto";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";

/** A request's body of several parts. */
export interface Form {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Proxies allow 8 KiB of URL, which also holds the settings. */
const URL_BYTES = 4_096;
/** ClickHouse takes 128 KiB of a value (http_max_field_value_size). */
export const MOST_BYTES = 100_000;

/**
 * The form that a question with long values is sent as; undefined where they fit into the URL.
 *
 * @throws ProbelabError for a value that is longer than a server takes.
 */
export function formOf(
  query: string,
  parameters: Readonly<Record<string, unknown>>,
): Form | undefined {
  const texts = Object.entries(parameters).map(([name, value]) => {
    checkText(name, value);
    const text = serverText(value);
    const bytes = Buffer.byteLength(text);
    if (bytes <= MOST_BYTES) return { name: `param_${name}`, text, bytes };
    throw new ProbelabError(
      `Can't ask with ${grouped(bytes)} bytes in ${name}: a server takes ${grouped(MOST_BYTES)} of one value. Pass a long list in several, or as where: { column: list }.`,
    );
  });
  if (texts.reduce((sum, { bytes }) => sum + bytes, 0) <= URL_BYTES) return undefined;
  // The platform's FormData would change the line ends of the SQL.
  const boundary = `probelab-${randomUUID()}`;
  const parts = [...texts, { name: "query", text: query }].map(
    ({ name, text }) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${parts.join("")}--${boundary}--\r\n`),
  };
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

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
  "'": "\\'",
};

/** A value as the server reads parameters: its text form (TabSeparated), quoted inside of others. */
export function serverText(value: unknown, inside = false): string {
  const part = (item: unknown) => serverText(item, true);
  if (value === null || value === undefined) return inside ? "NULL" : "\\N";
  if (typeof value === "string") {
    const text = value.replace(
      inside ? /[\\\t\n\r\0']/g : /[\\\t\n\r\0]/g,
      (sign) => ESCAPES[sign] ?? sign,
    );
    return inside ? `'${text}'` : text;
  }
  if (typeof value === "boolean") return inside ? String(value) : value ? "1" : "0";
  if (value instanceof Date) return (value.getTime() / 1000).toFixed(3);
  if (typeof value !== "object") return `${value as number}`;
  if (Array.isArray(value)) return `[${value.map(part).join(",")}]`;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return `{${entries.map((entry) => entry.map(part).join(":")).join(",")}}`;
}
