import {
  bytesWords,
  instantWords,
  jsonObject,
  rangeWords,
  serverWords,
} from "../chart/origin-words.js";
import type { FoundOrigin } from "../chart/origin/found-origin.js";
import type { Json } from "../result/json.js";

const LONGEST = 2_000;
const INDENT = "  ";

/** What the record's members are called; others are printed under their own names. */
const TOLD = new Set([
  "sql",
  "parameters",
  "range",
  "source",
  "server",
  "filter",
  "rowsRead",
  "bytesRead",
  "seconds",
  "askedAt",
  "question",
  "reductions",
  "notes",
  "versions",
]);

/**
 * Where a chart comes from, for a reader at a terminal: the SQL whole and as it was sent, anything
 * else cut to 2,000 characters a line. What would steer the terminal is spelled out.
 */
export function originText({ title, origin }: FoundOrigin): string {
  const lines = [
    ...(title === undefined ? [] : [`${INDENT}${line(title)}`]),
    ...entry("Range", [rangeWords(origin.range)]),
    ...entry("Filter", [text(origin.filter)]),
    ...entry("Source", [joined([text(origin.source), serverWords(origin.server)])]),
    ...entry("Read", [readText(origin)]),
    ...entry("Asked at", [instantWords(origin.askedAt, "UTC")]),
    ...entry("Question", [questionText(origin.question)]),
    ...entry("Parameters", members(origin.parameters)),
    ...entry("Reductions", sentences(origin.reductions)),
    ...entry("Notes", sentences(origin.notes)),
    ...entry("Versions", [
      joined(members(origin.versions).map((part) => part.replace(" = ", " "))),
    ]),
    ...Object.entries(origin)
      .filter(([name]) => !TOLD.has(name))
      .flatMap(([name, value]) => entry(line(name, 20), [plainText(value)])),
    ...sqlLines(text(origin.sql)),
  ];
  return `${lines.join("\n")}\n`;
}

/** A text on one line of a terminal. */
export function line(value: string, longest = LONGEST): string {
  return inert(value.length > longest ? `${value.slice(0, longest - 1)}…` : value);
}

/** A text of several lines for a terminal. */
export function lines(value: string): string {
  return value.split("\n").map(inert).join("\n");
}

// Control characters, among them the beginning of ANSI sequences, and marks that turn the reading
// direction around or are line breaks to some terminals.
const STEERING =
  /[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu;

function inert(value: string): string {
  return value.replace(
    STEERING,
    (character) => `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

/** JSON in which what would steer a terminal stands as \u escapes: the same JSON. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(STEERING, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function entry(name: string, values: readonly string[]): string[] {
  return values
    .filter((value) => value !== "")
    .map((value, index) => `${INDENT}${(index === 0 ? name : "").padEnd(12)}${line(value)}`);
}

/** SQL for a terminal, whole and indented. */
export function sqlText(sql: string): string {
  return sqlLines(sql).slice(1).join("\n");
}

function sqlLines(sql: string): string[] {
  if (sql.trim() === "") return [];
  const lines = sql.replaceAll("\t", "    ").split(/\r?\n/);
  return [`${INDENT}SQL`, ...lines.map((part) => `${INDENT}${INDENT}${inert(part)}`)];
}

function readText({ rowsRead, bytesRead, seconds }: FoundOrigin["origin"]): string {
  return joined([
    typeof rowsRead === "number"
      ? `${rowsRead.toLocaleString("en-US")} ${rowsRead === 1 ? "row" : "rows"}`
      : "",
    typeof bytesRead === "number" ? bytesWords(bytesRead) : "",
    typeof seconds === "number" ? `in ${Number(seconds.toPrecision(3))} s` : "",
  ]);
}

/** `measurements.counts({…})`, as it was asked. */
function questionText(question: Json | undefined): string {
  const { ask, arguments: given } = jsonObject(question);
  if (typeof ask !== "string" || !Array.isArray(given)) return "";
  return `${ask}(${(given as readonly Json[]).map((part) => JSON.stringify(part)).join(", ")})`;
}

function members(value: Json | undefined): string[] {
  return Object.entries(jsonObject(value)).map(([name, inner]) => `${name} = ${plainText(inner)}`);
}

function sentences(value: Json | undefined): string[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(plainText) : [];
}

function plainText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(", ");
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
