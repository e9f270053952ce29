import { createRequire } from "node:module";
import { isSecretName, redact } from "../../base/redact.js";
import type { Json } from "../../result/json.js";
import type { Origin } from "../../result/origin.js";

const require = createRequire(import.meta.url);

const LONGEST = 20_000;
const LONGEST_SQL = 1_000_000;

/**
 * An Origin as JSON, as it stands inside every exported file, without secrets.
 * @param reductions of the picture, beside those of the origin.
 */
export function originRecord(
  origin: Origin,
  reductions: readonly string[] = [],
): Record<string, Json> {
  const { range, filter } = origin;
  const { version } = require("../../../package.json") as { version: string };
  return {
    sql: withoutCredentials(origin.sql, LONGEST_SQL),
    parameters: redactedJson(origin.parameters),
    ...(range && {
      range: {
        start: range.start.toISOString(),
        end: range.end.toISOString(),
        timeZone: range.timeZone,
      },
    }),
    ...(filter !== undefined && { filter: withoutCredentials(filter) }),
    source: withoutCredentials(origin.source),
    server: withoutCredentials(origin.server),
    rowsRead: origin.rowsRead,
    bytesRead: origin.bytesRead,
    seconds: origin.seconds,
    askedAt: origin.askedAt.toISOString(),
    ...(origin.retries !== undefined && { retries: origin.retries }),
    reductions: redactedJson([...new Set([...origin.reductions, ...reductions])]),
    notes: redactedJson(origin.notes),
    versions: { probelab: version, node: process.versions.node },
  };
}

/** The text as `redact` gives it, cut after `longest` characters. */
export function withoutCredentials(text: string, longest = LONGEST): string {
  return redact(text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
}

/** A value as JSON, without the secrets of its texts and members. */
export function redactedJson(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string") return withoutCredentials(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(redactedJson);
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      withoutCredentials(name),
      isSecretName(name) ? "(left out)" : redactedJson(inner),
    ]),
  );
}
