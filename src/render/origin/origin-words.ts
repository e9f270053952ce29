import type { Json } from "../../result/json.js";
import { formatInstant } from "../../time/time-zone.js";
import { grouped } from "../../base/text.js";

/** A line about an origin: its name and its texts, one a line. */
export type OriginEntry = readonly [name: string, texts: readonly string[]];

/**
 * An origin for a reader, from a record as `originRecord` writes it; a foreign one may hold anything.
 * Empty entries are left out; the SQL stands last, as it was sent.
 */
export function originEntries(record: Readonly<Record<string, Json>>): OriginEntry[] {
  const { rowsRead, bytesRead, seconds, server } = record;
  const entries: OriginEntry[] = [
    ["Range", [rangeWords(objectOf(record.range))]],
    ["Filter", [textOf(record.filter)]],
    ["Source", [joined([textOf(record.source), textOf(server) && `ClickHouse ${textOf(server)}`])]],
    [
      "Read",
      [
        joined([
          typeof rowsRead === "number" ? `${grouped(rowsRead)} rows` : "",
          typeof bytesRead === "number" ? bytesWords(bytesRead) : "",
          typeof seconds === "number" ? `in ${Number(seconds.toPrecision(3))} s` : "",
        ]),
      ],
    ],
    ["Asked at", [instantWords(record.askedAt, "UTC")]],
    ["Parameters", members(record.parameters, " = ")],
    ["Reductions", list(record.reductions)],
    ["Notes", list(record.notes)],
    ["Versions", [joined(members(record.versions, " "))]],
    ["SQL", [textOf(record.sql)]],
  ];
  return entries
    .map(([name, texts]): OriginEntry => [name, texts.filter((text) => text.trim() !== "")])
    .filter(([, texts]) => texts.length > 0);
}

/** `2026-02-01 to 2026-05-01 UTC`; "" for anything else. */
function rangeWords({ start, end, timeZone }: Readonly<Record<string, Json>>): string {
  const zone = typeof timeZone === "string" ? timeZone : "UTC";
  const [from, to] = [instantWords(start, zone), instantWords(end, zone)];
  return from === "" || to === "" ? "" : `${from.replace(` ${zone}`, "")} to ${to}`;
}

function instantWords(instant: Json | undefined, timeZone: string): string {
  if (typeof instant !== "string" || Number.isNaN(Date.parse(instant))) return "";
  try {
    return `${formatInstant(new Date(instant), timeZone)} ${timeZone}`;
  } catch {
    return `${instant} (${timeZone})`; // a zone that nobody knows
  }
}

function bytesWords(bytes: number): string {
  const step = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${["B", "kB", "MB", "GB", "TB"][step]}`;
}

function members(value: Json | undefined, between: string): string[] {
  return Object.entries(objectOf(value)).map(
    ([name, inner]) => `${name}${between}${valueText(inner)}`,
  );
}

function list(value: Json | undefined): string[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(valueText) : [];
}

function objectOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}

function valueText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(", ");
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
