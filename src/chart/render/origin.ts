import { createRequire } from "node:module";
import { inflateSync } from "node:zlib";
import { isPlain } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { isSecretName, redact } from "../../base/redact.js";
import { grouped } from "../../base/text.js";
import { unescapeXml } from "../../base/xml.js";
import type { Json } from "../../result/json.js";
import type { Origin } from "../../result/origin.js";
import { formatInstant } from "../../time/time-zone.js";

const require = createRequire(import.meta.url);

const LONGEST = 20_000;
const LONGEST_SQL = 1_000_000;
/** A record of more bytes is none; a text may unpack to anything. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * An Origin as JSON, as it stands inside every exported file, without secrets.
 * @param reductions of the picture, beside those of the origin.
 * @param title of the picture or the table.
 */
export function originRecord(
  origin: Origin,
  reductions: readonly string[] = [],
  title?: string,
): Record<string, Json> {
  const { range, filter } = origin;
  const { version } = require("../../../package.json") as { version: string };
  return {
    ...(title !== undefined && { title: withoutCredentials(title) }),
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

/**
 * The lines about an origin for a reader, as names with their texts, from a record as `originRecord`
 * writes it; a foreign one may hold anything. Empty ones are left out; the SQL stands last, as it was sent.
 */
export function originEntries(
  record: Readonly<Record<string, Json>>,
): (readonly [name: string, texts: readonly string[]])[] {
  const { rowsRead, bytesRead, seconds, server } = record;
  const range = membersOf(record.range);
  const zone = textOf(range.timeZone) || "UTC";
  const [start, end] = [instantText(range.start, zone), instantText(range.end, zone)];
  const members = (value: Json | undefined, between: string): string[] =>
    Object.entries(membersOf(value)).map(([name, inner]) => `${name}${between}${textOf(inner)}`);
  const read = [
    typeof rowsRead === "number" ? `${grouped(rowsRead)} rows` : "",
    typeof bytesRead === "number" ? `${grouped(Number((bytesRead / 1e6).toPrecision(3)))} MB` : "",
    typeof seconds === "number" ? `in ${Number(seconds.toPrecision(3))} s` : "",
  ];
  const entries: [string, readonly string[]][] = [
    ["Range", [start && end && `${start} to ${end} ${zone}`]],
    ["Filter", [textOf(record.filter)]],
    ["Source", [joined([textOf(record.source), textOf(server) && `ClickHouse ${textOf(server)}`])]],
    ["Read", [joined(read)]],
    ["Asked at", [record.askedAt ? `${instantText(record.askedAt, "UTC")} UTC` : ""]],
    ["Parameters", members(record.parameters, " = ")],
    ["Reductions", [record.reductions ?? []].flat().map(textOf)],
    ["Notes", [record.notes ?? []].flat().map(textOf)],
    ["Versions", [joined(members(record.versions, " "))]],
    ["SQL", [textOf(record.sql)]],
  ];
  return entries
    .map(([name, texts]) => [name, texts.filter((text) => text.trim() !== "")] as const)
    .filter(([, texts]) => texts.length > 0);
}

function membersOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return isPlain(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

/** The instant in its zone; as it is written where nobody knows either. */
function instantText(instant: Json | undefined, timeZone: string): string {
  try {
    return formatInstant(new Date(textOf(instant)), timeZone);
  } catch {
    return textOf(instant);
  }
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(", ");
}

const MARKUP =
  /<origin xmlns="urn:probelab:origin">([^<]*)<\/origin>|<script type="application\/json" class="probelab-origin">([^<]*)<\/script>/g;

/**
 * The origins of the charts in an SVG, a PNG or an HTML page, without credentials even where a foreign
 * record had some.
 *
 * @returns a record of `originRecord` for each chart, at least one.
 * @throws ProbelabError for another file, a damaged one, and one without an origin; the message
 *   follows the file's name.
 * @example
 * const [first] = readOrigins(await readFile("out/run-durations.svg"));
 * first?.sql;
 */
export function readOrigins(bytes: Buffer): Readonly<Record<string, Json>>[] {
  const isPng = bytes.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n";
  const text = isPng ? "" : bytes.toString("utf8");
  if (!isPng && !/<(svg|html)\b/i.test(text.slice(0, 65_536))) {
    throw new ProbelabError(
      "it is no SVG, PNG or HTML page, of which origins are read. In Parquet see the metadata probelab.origin, in a spec usermeta.probelab.",
    );
  }
  try {
    const found = isPng
      ? pngTexts(bytes)
      : [...text.matchAll(MARKUP)].map(([, xml, json = ""]) =>
          xml === undefined ? json : unescapeXml(xml),
        );
    const records = found.map((json) => JSON.parse(json) as Json).filter((value) => value !== null);
    const origins = records.filter((value) => Object.keys(value).length > 0);
    if (!origins.every((value) => typeof value === "object" && !Array.isArray(value))) {
      throw new TypeError("no record");
    }
    if (origins.length > 0)
      return origins.map((value) => redactedJson(value) as Record<string, Json>);
  } catch (cause) {
    throw new ProbelabError(
      "its origin isn't a record as probelab writes it: it was changed or damaged; export the chart again.",
      { cause },
    );
  }
  throw new ProbelabError(
    "no origin in it: was it exported by probelab, or saved again by a tool that strips metadata? Take the file that chart.save wrote.",
  );
}

/** The iTXt chunks `probelab`. Source: https://www.w3.org/TR/png-3/#11iTXt */
function pngTexts(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const data = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    const head = `iTXtprobelab\0\x01\0\0\0`;
    if (bytes.toString("latin1", at + 4, at + 4 + head.length) !== head) continue;
    const json = inflateSync(data.subarray(head.length - 4), { maxOutputLength: MOST_BYTES });
    texts.push(json.toString("utf8"));
  }
  return texts;
}
