import type { Json } from "../../result/json.js";
import { formatInstant } from "../../time/time-zone.js";

/** A line about an origin: its name and what to say, one text a line. */
export type OriginEntry = readonly [name: string, texts: readonly string[]];

/** Members of a record that entries of other names tell, or that an entry tells in other words. */
const TOLD =
  /^(sql|range|source|server|filter|rowsRead|bytesRead|seconds|askedAt|question|versions|parameters|reductions|notes)$/;

/**
 * Where a chart comes from, for a reader, out of a record as `originRecord` writes it; a foreign one
 * may hold anything. Entries that say nothing are left out; the SQL stands last, as it was sent.
 */
export function originEntries(record: Readonly<Record<string, Json>>): OriginEntry[] {
  const { rowsRead, bytesRead, seconds, server } = record;
  const { ask, arguments: given } = jsonObject(record.question);
  const read = [
    typeof rowsRead === "number"
      ? `${rowsRead.toLocaleString("en-US")} ${rowsRead === 1 ? "row" : "rows"}`
      : "",
    typeof bytesRead === "number" ? bytesWords(bytesRead) : "",
    typeof seconds === "number" ? `in ${Number(seconds.toPrecision(3))} s` : "",
  ];
  const question =
    typeof ask === "string" && Array.isArray(given)
      ? `${ask}(${given.map((part) => JSON.stringify(part)).join(", ")})`
      : "";
  const entries: OriginEntry[] = [
    ["Range", [rangeWords(record.range)]],
    ["Filter", [textIn(record.filter)]],
    ["Source", [joined([textIn(record.source), textIn(server) && `ClickHouse ${textIn(server)}`])]],
    ["Read", [joined(read)]],
    ["Asked at", [instantWords(record.askedAt, "UTC")]],
    ["Question", [question]],
    ["Parameters", members(record.parameters, " = ")],
    ["Reductions", sentences(record.reductions)],
    ["Notes", sentences(record.notes)],
    ["Versions", [joined(members(record.versions, " "))]],
    ...Object.entries(record)
      .filter(([name]) => !TOLD.test(name))
      .map(([name, value]): OriginEntry => [name, [valueText(value)]]),
    ["SQL", [textIn(record.sql)]],
  ];
  return entries
    .map(([name, texts]): OriginEntry => [name, texts.filter((text) => text.trim() !== "")])
    .filter(([, texts]) => texts.length > 0);
}

/** `2026-02-01 to 2026-05-01 UTC`; "" for what is no range. */
function rangeWords(range: Json | undefined): string {
  const { start, end, timeZone } = jsonObject(range);
  const zone = typeof timeZone === "string" ? timeZone : "UTC";
  const [from, to] = [instantWords(start, zone), instantWords(end, zone)];
  if (from === "" || to === "") return "";
  // A file's moment, such as that of a component graph, is a range of a millisecond.
  if (Date.parse(textIn(end)) - Date.parse(textIn(start)) === 1) return from;
  return `${from.replace(` ${zone}`, "")} to ${to}`;
}

function instantWords(instant: Json | undefined, timeZone: string): string {
  if (typeof instant !== "string" || Number.isNaN(Date.parse(instant))) return "";
  try {
    return `${formatInstant(new Date(instant), timeZone)} ${timeZone}`;
  } catch {
    return `${instant} (${timeZone})`;
  }
}

function bytesWords(bytes: number): string {
  const step = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${["B", "kB", "MB", "GB", "TB"][step]}`;
}

function members(value: Json | undefined, between: string): string[] {
  return Object.entries(jsonObject(value)).map(
    ([name, inner]) => `${name}${between}${valueText(inner)}`,
  );
}

function sentences(value: Json | undefined): string[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(valueText) : [];
}

function jsonObject(value: Json | undefined): Readonly<Record<string, Json>> {
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

function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
