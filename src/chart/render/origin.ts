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

const LONGEST_TEXT = 20_000;
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
function withoutCredentials(text: string, longest = LONGEST_TEXT): string {
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

/** What `originRecord` writes, as far as a file of another version holds it. */
export type OriginRecord = Readonly<Record<string, Json>>;

/** The lines about an origin for a reader, as names with their texts, without empty ones; the SQL, as it was sent, is the last. */
export function originEntries(record: OriginRecord): (readonly [string, readonly string[]])[] {
  const { range, rowsRead, bytesRead, seconds, askedAt, server } = record;
  const said = (value: Json = ""): string =>
    typeof value === "string" ? value : JSON.stringify(value);
  const members = (value: Json = {}, between = " "): string[] =>
    Object.entries(value ?? {}).map(([name, inner]) => `${name}${between}${said(inner as Json)}`);
  const joined = (...parts: (string | false)[]): string => parts.filter(Boolean).join(", ");
  const { start, end, timeZone: zone } = Object(range) as Record<string, string>;
  const instant = (time: Json = "", zone = "UTC"): string =>
    formatInstant(new Date(said(time)), zone);
  const entries: [string, string[]][] = [
    ["Range", range ? [`${instant(start, zone)} to ${instant(end, zone)} ${zone}`] : []],
    ["Filter", [said(record.filter)]],
    ["Source", [joined(said(record.source), said(server) !== "" && `ClickHouse ${said(server)}`)]],
    [
      "Read",
      [
        joined(
          typeof rowsRead === "number" && `${grouped(rowsRead)} rows`,
          typeof bytesRead === "number" &&
            `${grouped(Number((bytesRead / 1e6).toPrecision(3)))} MB`,
          typeof seconds === "number" && `in ${Number(seconds.toPrecision(3))} s`,
        ),
      ],
    ],
    ["Asked at", askedAt ? [`${instant(askedAt)} UTC`] : []],
    ["Parameters", members(record.parameters, " = ")],
    ["Reductions", [record.reductions ?? []].flat().map(said)],
    ["Notes", [record.notes ?? []].flat().map(said)],
    ["Versions", [members(record.versions).join(", ")]],
    ["SQL", [said(record.sql)]],
  ];
  return entries
    .map(([name, texts]) => [name, texts.filter((text) => text.trim() !== "")] as const)
    .filter(([, texts]) => texts.length > 0);
}

const MARKUP =
  /<origin xmlns="urn:probelab:origin">([^<]*)<\/origin>|<script type="application\/json" class="probelab-origin">([^<]*)<\/script>/g;
/** How a PNG begins, as Latin-1. */
export const PNG_SIGNATURE = "\x89PNG\r\n\x1a\n";

/**
 * The origins of the charts in an SVG, a PNG or an HTML page, a record of `originRecord` each, without
 * credentials even where a foreign one had some.
 *
 * @throws ProbelabError for a file without one, or a damaged one; the message follows the file's name.
 * @example
 * const [first] = readOrigins(await readFile("out/run-durations.svg"));
 * first?.sql;
 */
export function readOrigins(bytes: Buffer): OriginRecord[] {
  const isPng = bytes.toString("latin1", 0, PNG_SIGNATURE.length) === PNG_SIGNATURE;
  let cause: unknown;
  try {
    const found = isPng
      ? pngTexts(bytes)
      : [...bytes.toString("utf8").matchAll(MARKUP)].map(([, xml, json = ""]) =>
          xml === undefined ? json : unescapeXml(xml),
        );
    const records = found.map((json) => redactedJson(JSON.parse(json)));
    const origins = records.filter((each) => isPlain(each) && Object.keys(each).length > 0);
    if (origins.length > 0) return origins as OriginRecord[];
  } catch (error) {
    cause = error;
  }
  throw new ProbelabError(
    `${cause === undefined ? "no" : "a damaged"} origin in it: pass an SVG, a PNG or a page as chart.save wrote it (a tool that saves it again may strip it). In Parquet see the metadata probelab.origin, in a spec usermeta.probelab.`,
    { cause },
  );
}

/** The iTXt chunks `probelab`. Source: https://www.w3.org/TR/png-3/#11iTXt */
function pngTexts(bytes: Buffer): string[] {
  const texts: string[] = [];
  const head = "iTXtprobelab\0\x01\0\0\0";
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString("latin1", at + 4, at + 4 + head.length) !== head) continue;
    const data = bytes.subarray(at + 4 + head.length, at + 8 + bytes.readUInt32BE(at));
    texts.push(inflateSync(data, { maxOutputLength: MOST_BYTES }).toString("utf8"));
  }
  return texts;
}
