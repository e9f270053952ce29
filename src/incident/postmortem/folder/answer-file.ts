import type { ColumnTable } from "arquero";
import { z } from "zod";
import { redact } from "../../../base/redact.js";
import { textOf } from "../../../base/text.js";
import { maskAddresses } from "../../../mask/addresses.js";
import { mapTexts } from "../../../mask/mask-result.js";
import { originRecord } from "../../../render/origin/origin-record.js";
import type { Json } from "../../../result/json.js";
import type { Origin } from "../../../result/origin.js";
import { readParquet, readParquetMetadata } from "../../../result/parquet-read.js";
import { parquet } from "../../../result/parquet-write.js";
import type { Value } from "../../../result/result.js";
import { formatInstant } from "../../../time/time-zone.js";
import { isIncomplete } from "./query-file.js";

/** A figure's SQL, its parameters and the database that answered. */
export interface Question {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly source: string;
}

/** Rows as a database gives them. */
export interface Rows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

const ORIGIN = "probelab.origin";
const question = z.object({
  sql: z.string(),
  parameters: z.record(z.string(), z.custom<Json>()),
  source: z.string(),
});

/** The rows of an answer. The start of a bucket, which built SQL gives in milliseconds, is a Date. */
export function rowsOf(table: ColumnTable): Rows {
  const names = table.columnNames();
  const getters = names.map((name) => table.getter(name));
  const rows = Array.from({ length: table.numRows() }, (_, row) =>
    getters.map((get, at): Value => {
      const value = get(row) as Value;
      return names[at] === "_t" && typeof value === "number" ? new Date(value) : value;
    }),
  );
  return { names, rows };
}

/** Changes a text of an answer as the folder holds it: when it is saved, and when it is compared. */
export function answerText(text: string, masked: boolean): string {
  return masked ? maskAddresses(redact(text)) : redact(text);
}

/**
 * The answer to a figure's SQL as a Parquet file, with the question as metadata. Undefined where no
 * single SQL gave it, where it had more rows than a Result keeps, and where the SQL or a column's name
 * held what is masked: it can't be asked again.
 *
 * @param answer of the Result before it was masked.
 */
export function answerFile(
  answer: Origin["answer"],
  origin: Origin,
  masked: boolean,
): Buffer | undefined {
  if (answer === undefined) return undefined;
  const { names, rows } = rowsOf(answer.table);
  const { sql, parameters } = originRecord(origin);
  if (isIncomplete(JSON.stringify([sql, parameters]))) return undefined;
  const mask = (text: string) => answerText(text, masked);
  if (names.some((name) => mask(name) !== name)) return undefined;
  return parquet(names, mapTexts(rows, mask), { [ORIGIN]: JSON.stringify(originRecord(origin)) });
}

/** The question of such a file. @throws where probelab did not write it. */
export function readQuestion(bytes: Uint8Array): Question {
  return question.parse(JSON.parse(readParquetMetadata(bytes)[ORIGIN] ?? "null"));
}

/** The rows of such a file. @throws ProbelabError for a damaged one. */
export async function readAnswer(bytes: Uint8Array): Promise<Rows> {
  const { names, rows } = await readParquet(bytes);
  return { names, rows };
}

/**
 * The cells that differ between two answers to one SQL, a text each: `2026-04-13, 3.10.0: n 44,708 →
 * 44,709`. A row is known by its texts and times; rows with the same ones are compared in the
 * order of their numbers. The order of the rows is not compared: without `ORDER BY` a server gives any.
 */
export function differences(before: Rows, now: Rows): string[] {
  const shared = before.names.filter((name) => now.names.includes(name));
  const apart = [...before.names, ...now.names].filter((name) => !shared.includes(name));
  const [then, today] = [pick(before, shared), pick(now, shared)];
  const isKey = shared.map((_, at) => [...then, ...today].every((row) => isName(row[at])));
  const [earlier, later] = [rowsByKey(then, isKey), rowsByKey(today, isKey)];
  const cells = [...earlier].flatMap(([key, row]) => {
    const name = nameOf(row, isKey);
    const other = later.get(key);
    if (other === undefined) return [`${name}is gone`];
    return row.flatMap((value, at) =>
      isSame(value, other[at])
        ? []
        : [`${name}${shared[at]} ${cellText(value)} → ${cellText(other[at])}`],
    );
  });
  const added = [...later].filter(([key]) => !earlier.has(key));
  return [
    ...apart.map((name) => `column ${name} is in only one of the answers`),
    ...cells,
    ...added.map(([, row]) => `${nameOf(row, isKey)}is new`),
  ];
}

function pick({ names, rows }: Rows, wanted: readonly string[]): (readonly Value[])[] {
  const places = wanted.map((name) => names.indexOf(name));
  return rows.map((row) => places.map((at) => row[at]));
}

/** True for a value that can name a row: a text, a time, or nothing. */
function isName(value: Value): boolean {
  return (
    value === null ||
    value === undefined ||
    typeof value === "string" ||
    typeof value === "boolean" ||
    value instanceof Date
  );
}

/** Rows by their keys; of rows with one key each has a number, in the order of their other values. */
function rowsByKey(rows: readonly (readonly Value[])[], isKey: readonly boolean[]) {
  const found = new Map<string, readonly Value[]>();
  const sorted = rows
    .map((row) => ({ row, key: JSON.stringify(row.filter((_, at) => isKey[at]).map(cellText)) }))
    .sort((a, b) => (a.key === b.key ? compareRows(a.row, b.row) : a.key < b.key ? -1 : 1));
  let count = 0;
  sorted.forEach(({ row, key }, at) => {
    count = sorted[at - 1]?.key === key ? count + 1 : 0;
    found.set(`${key} ${count}`, row);
  });
  return found;
}

function compareRows(a: readonly Value[], b: readonly Value[]): number {
  for (const [at, value] of a.entries()) {
    if (isSame(value, b[at])) continue;
    const [mine, other] = [plain(value), plain(b[at])];
    return mine < other ? -1 : 1;
  }
  return 0;
}

function nameOf(row: readonly Value[], isKey: readonly boolean[]): string {
  const names = row.filter((_, at) => isKey[at]).map(cellText);
  return names.length === 0 ? "a row " : `${names.join(", ")}: `;
}

// Sums of fractions depend on the order in which the server's threads add them up.
const SAME_NUMBER = 1e-9;

function isSame(one: Value, other: Value): boolean {
  const [a, b] = [plain(one), plain(other)];
  if (typeof a === "number" && typeof b === "number" && Number.isFinite(a)) {
    return Math.abs(a - b) <= SAME_NUMBER * Math.max(Math.abs(a), Math.abs(b));
  }
  return Object.is(a, b);
}

/** A value as a number or a text; within a text numbers have nine digits. */
function plain(value: Value): number | string {
  if (typeof value === "number") return value;
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (value === null || value === undefined || typeof value !== "object")
    return textOf(value ?? "");
  if (value instanceof Date) return textOf(value);
  return textOf(value).replace(/-?\d+\.\d+(?:e[+-]?\d+)?/gi, (number) =>
    String(Number(Number(number).toPrecision(9))),
  );
}

function cellText(value: Value): string {
  if (value === null || value === undefined) return "(none)";
  if (value instanceof Date) return formatInstant(value, "UTC");
  return typeof value === "number"
    ? value.toLocaleString("en-US", { maximumSignificantDigits: 12 })
    : textOf(value);
}
