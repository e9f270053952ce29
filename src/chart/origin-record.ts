import { createRequire } from "node:module";
import type { Json } from "../result/json.js";
import type { Origin } from "../result/origin.js";
import type { Question } from "../result/question.js";

const require = createRequire(import.meta.url);

// Names of parameters, of a query or of an address, whose values are secrets.
const SECRET =
  "passw(?:or)?d|passwd|passphrase|pwd?|pass|secret|token|credentials?|(?:api|access|private)[_-]?key|key|auth(?:orization)?|session(?:[_-]?id)?|cookie|sig(?:nature)?";
// Also as a part of a name: userPassword, x_api_key.
const SECRET_NAME = new RegExp(
  `^(?:${SECRET})$|passw|secret|token|credential|(?:api|access|private)[_-]?key|authorization`,
  "i",
);
const SECRET_IN_ADDRESS = new RegExp(
  `([?&;](?:[\\w-]*(?:passw|secret|token|credential|key)[\\w-]*|user(?:name)?|${SECRET})=)[^&\\s'"#;]*`,
  "gi",
);
const LONGEST = 20_000;
const LONGEST_SQL = 1_000_000;

/**
 * An Origin as JSON, as it stands inside every exported file: SQL, parameters, range, source,
 * server, rows read, reductions, versions. User names and passwords in addresses, and parameters
 * with a secret's name, are left out.
 */
export function originRecord(
  origin: Origin,
  reductions: readonly string[] = [],
): Record<string, Json> {
  const { range } = origin;
  return {
    sql: withoutCredentials(origin.sql, LONGEST_SQL),
    parameters: Object.fromEntries(
      Object.entries(origin.parameters).map(([name, value]) => [
        withoutCredentials(name),
        SECRET_NAME.test(name) ? "(left out)" : plain(value),
      ]),
    ),
    ...(range && {
      range: {
        start: range.start.toISOString(),
        end: range.end.toISOString(),
        timeZone: range.timeZone,
      },
    }),
    ...(origin.filter !== undefined && { filter: withoutCredentials(origin.filter) }),
    source: withoutCredentials(origin.source),
    server: withoutCredentials(origin.server),
    rowsRead: origin.rowsRead,
    bytesRead: origin.bytesRead,
    seconds: origin.seconds,
    askedAt: origin.askedAt.toISOString(),
    ...(origin.question && askable(origin.question)),
    reductions: [...new Set([...origin.reductions, ...reductions])].map((text) =>
      withoutCredentials(text),
    ),
    notes: origin.notes.map((text) => withoutCredentials(text)),
    versions: { probelab: versionOf("../../package.json"), node: process.versions.node },
  };
}

/** A question as it can be asked again: none where something had to be left out of it. */
function askable(question: Question): { question?: Json } {
  const asked = JSON.stringify(question);
  return JSON.stringify(plain(question)) === asked ? { question: JSON.parse(asked) as Json } : {};
}

/**
 * The text with user names, passwords and secret query parameters of its addresses left out; cut
 * after `longest` characters, which its last one tells.
 */
export function withoutCredentials(text: string, longest = LONGEST): string {
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  // Word by word, which keeps the search of long texts short: no address holds a space.
  return cut.replace(/\S+/g, (word) =>
    word.includes("://") || word.includes("=")
      ? word
          .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"']|'(?![,)\s]))*@/gi, "$1")
          .replace(SECRET_IN_ADDRESS, "$1…")
      : word,
  );
}

/** A value as JSON, without the secrets of its texts and members. */
export function plain(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string") return withoutCredentials(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      withoutCredentials(name),
      SECRET_NAME.test(name) ? "(left out)" : plain(inner),
    ]),
  );
}

function versionOf(path: string): string {
  return (require(path) as { version: string }).version;
}
