import { createRequire } from "node:module";
import type { Json } from "../result/json.js";
import type { Origin } from "../result/origin.js";
import type { Question } from "../result/question.js";
import { isSecretName, redact } from "../base/redact.js";

const require = createRequire(import.meta.url);

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
        isSecretName(name) ? "(left out)" : plain(value),
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

/** The text as `redact` gives it, cut after `longest` characters, which its last one tells. */
export function withoutCredentials(text: string, longest = LONGEST): string {
  return redact(text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
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
      isSecretName(name) ? "(left out)" : plain(inner),
    ]),
  );
}

function versionOf(path: string): string {
  return (require(path) as { version: string }).version;
}
