import type { Json } from "../result/json.js";
import { formatInstant } from "../time/time-zone.js";

/** A record's range: `2026-02-01 to 2026-05-01 UTC`; "" for what is none, as a foreign file may hold. */
export function rangeWords(range: Json | undefined): string {
  const { start, end, timeZone } = jsonObject(range);
  const zone = typeof timeZone === "string" ? timeZone : "UTC";
  const [from, to] = [instantWords(start, zone), instantWords(end, zone)];
  if (from === "" || to === "") return "";
  // A file's moment, such as that of a component graph, is a range of a millisecond.
  if (milliseconds(end) - milliseconds(start) === 1) return from;
  return `${from.replace(` ${zone}`, "")} to ${to}`;
}

/** `2026-05-01 09:30 UTC`; "" for what is no instant. */
export function instantWords(instant: Json | undefined, timeZone: string): string {
  if (typeof instant !== "string" || Number.isNaN(Date.parse(instant))) return "";
  try {
    return `${formatInstant(new Date(instant), timeZone)} ${timeZone}`;
  } catch {
    return `${instant} (${timeZone})`;
  }
}

/** `14.1 MB`. */
export function bytesWords(bytes: number): string {
  const step = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${["B", "kB", "MB", "GB", "TB"][step]}`;
}

/** `ClickHouse 26.7.2.1`; "" where no server was asked. */
export function serverWords(server: Json | undefined): string {
  return typeof server === "string" && server !== "" ? `ClickHouse ${server}` : "";
}

/** The members of a JSON object; none of anything else. */
export function jsonObject(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}

function milliseconds(instant: Json | undefined): number {
  return typeof instant === "string" ? Date.parse(instant) : NaN;
}
