import { InvalidArgumentError } from "commander";
import { greatest } from "../base/statistics.js";
import type { Telling } from "../change/finding.js";

const LONGEST = 2_000;

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

/** SQL for a terminal, whole and indented; empty where there is none. */
export function sqlText(sql: string): string {
  if (sql.trim() === "") return "";
  const all = sql.replaceAll("\t", "    ").split(/\r?\n/);
  return all.map((part) => `    ${inert(part)}`).join("\n");
}

/** Reads 5000000 or 5_000_000. */
export function wholeNumber(text: string): number {
  const value = /^\d[\d_]*$/.test(text) ? Number(text.replaceAll("_", "")) : NaN;
  if (!Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("Write a whole number, such as 5000000.");
  }
  return value;
}

/** Reads a severity of the incident policy. */
export function severity(text: string): 1 | 2 | 3 | 4 {
  const found = ([1, 2, 3, 4] as const).find((each) => String(each) === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError("Write 1, 2, 3 or 4; 1 is the highest.");
}

/** Column to the values that it may have. */
export type Conditions = Readonly<Record<string, readonly string[]>>;

/** Reads column=value, again for more. */
export function condition(text: string, before: Conditions): Conditions {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Write a column and its value: probe_cc=IT.");
  const column = text.slice(0, at).trim();
  return { ...before, [column]: [...(before[column] ?? []), text.slice(at + 1).trim()] };
}

/** Exit codes of commands that answer a question, for their help. */
export const EXIT_CODES =
  "\nThe exit code is 0 if all is as usual, 8 for a finding, 9 if there is not enough data, 1 for an error.";

/** A paragraph in lines of at most so many columns; a longer word stays whole, as does a number with its %. */
export function wrapped(text: string, columns = 100): string {
  return text.replace(new RegExp(`(?=\\S)(.{1,${columns}})(?: +(?!%)|$)`, "gm"), "$1\n").trimEnd();
}

/** What a finding says first: its headline, and its evidence below it. */
export function headText({ headline, evidence }: Telling): string {
  return [`${headline}.`, wrapped(evidence)].join("\n").trimEnd();
}

/** What it says last: details, a paragraph each, and notes. */
export function detailsText({ details }: Telling, notes: readonly string[]): string {
  return [...details, ...notes].map((text) => wrapped(text)).join("\n");
}

/** A line as paragraphs with an indent where a terminal shows it; as it is in a pipe or a file. */
export function forTerminal(text: string, stream: { isTTY?: boolean }, indent = 0): string {
  if (stream.isTTY !== true) return text;
  return wrapped(text, 100 - indent).replaceAll("\n", `\n${" ".repeat(indent)}`);
}

/** The exit code of an answer: no error has 8 or 9. */
export function exitCode(found: boolean, known = true): 0 | 8 | 9 {
  return found ? 8 : known ? 0 : 9;
}

/** Rows below their heads, the first columns to the left, numbers to the right; empty without rows. */
export function textTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  left = 1,
): string {
  if (rows.length === 0) return "";
  const widths = heads.map((head, at) =>
    greatest([head, ...rows.map((row) => row[at]!)].map(({ length }) => length)),
  );
  const text = [heads, ...rows].map((row) =>
    row
      .map((cell, at) => (at < left ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join("  ")
      .trimEnd(),
  );
  return text.join("\n");
}

/** A signal that is aborted when the user ends the command (SIGINT, SIGTERM, a pipe that is closed), until it is disposed. */
export function userInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // The reader of the output has enough: head, a pager.
  process.stdout.on("error", stop);
  return {
    signal: interrupt.signal,
    [Symbol.dispose]: () => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      process.stdout.off("error", stop);
    },
  };
}

/** Prints progress on stderr, once a second at most: nothing for a quick fill. */
export function progressEverySecond(): (message: string) => void {
  const began = performance.now();
  let last = began;
  return (message) => {
    const now = performance.now();
    if (now - last < 1_000) return;
    last = now;
    process.stderr.write(`  ${message} … (${Math.round((now - began) / 1000)} s)\n`);
  };
}
