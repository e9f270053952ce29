import { InvalidArgumentError } from "commander";

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

/** A signal that is aborted when the user ends the command (SIGINT, SIGTERM), until it is disposed. */
export function userInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  return {
    signal: interrupt.signal,
    [Symbol.dispose]: () => void process.off("SIGINT", stop).off("SIGTERM", stop),
  };
}

/** Tells on stderr what is being made, once a second at most, so that a quick fill tells nothing. */
export function tellEverySecond(): (message: string) => void {
  const began = performance.now();
  let last = began;
  return (message) => {
    const now = performance.now();
    if (now - last < 1_000) return;
    last = now;
    process.stderr.write(`  ${message} … (${Math.round((now - began) / 1000)} s)\n`);
  };
}
