import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { redact } from "../base/redact.js";
import { bold, cyan, dim, red } from "./ansi.js";
import { awaitedPlaces } from "./cell-runtime.js";
import type { CellScripts, SourcePlace } from "./cell-scripts.js";
import type { CellError } from "./outputs.js";

/** TypeScript's objection to a line of a cell or of a file that it imports; line and column count from 1. */
export interface TypeFault {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly code: number;
  readonly text: string;
  /** The reasons, from the outside in. */
  readonly details: readonly string[];
}

const mostCauses = 10;

/** A thrown value as Jupyter shows it: name, message, and a traceback in the cell's own lines. */
export function cellError(thrown: unknown, scripts: CellScripts): CellError {
  try {
    const { ename, evalue } = nameAndMessage(thrown);
    const traceback = [...errorLines(thrown, scripts), ...causes(thrown, scripts)];
    return withoutSecrets({ ename, evalue, traceback });
  } catch {
    return unreadableError(thrown);
  }
}

/** The readable part of a Proxy, or of an Error with a getter that throws. */
function unreadableError(thrown: unknown): CellError {
  const read = (key: "name" | "message"): string | undefined => {
    try {
      const value: unknown = (thrown as Error)[key];
      return typeof value === "string" ? value : undefined;
    } catch {
      return undefined;
    }
  };
  const ename = read("name") ?? "Thrown";
  const evalue = read("message") ?? "a value that throws an error when it is read";
  return withoutSecrets({ ename, evalue, traceback: [`${bold(red(ename))}: ${evalue}`] });
}

/** TypeScript's objections to a cell as an error; the cell was not run. */
export function typeError(faults: readonly TypeFault[], scripts: CellScripts): CellError {
  const [first, ...others] = faults;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  const evalue = first ? `${first.text} TS${first.code}${more}` : "";
  const traceback = faults.flatMap((fault) => [
    `${bold(red("TypeScriptError"))}: ${fault.text} ${dim(`TS${fault.code}`)}`,
    ...fault.details.map((detail) => `    ${detail}`),
    ...placeLines(fault, scripts, fault.length),
  ]);
  return withoutSecrets({ ename: "TypeScriptError", evalue, traceback });
}

/** Errors of a cell are printed and kept with the notebook's outputs. */
function withoutSecrets({ ename, evalue, traceback }: CellError): CellError {
  return { ename: redact(ename), evalue: redact(evalue), traceback: traceback.map(redact) };
}

function errorLines(thrown: unknown, scripts: CellScripts): string[] {
  const { ename, evalue } = nameAndMessage(thrown);
  const frames = stackPlaces(thrown, scripts);
  const focus = frames.find((frame) => frame.place)?.place;
  const lines = [`${bold(red(ename))}: ${evalue}`];
  for (const frame of frames) {
    if (!frame.place) lines.push(dim(`    at ${frame.call}`));
    else if (frame.place === focus) lines.push(...placeLines(focus, scripts, 1));
    else lines.push(`    at ${placeName(frame.place)}`);
  }
  return lines;
}

function causes(thrown: unknown, scripts: CellScripts): string[] {
  const lines: string[] = [];
  const seen = new Set([thrown]);
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  while (cause !== undefined && cause !== null && !seen.has(cause) && seen.size <= mostCauses) {
    seen.add(cause);
    if (!repeatsCause(thrown, cause)) lines.push("", "Caused by:", ...errorLines(cause, scripts));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  if (thrown instanceof AggregateError) {
    for (const error of thrown.errors.slice(0, 5)) lines.push("", ...errorLines(error, scripts));
  }
  return lines;
}

/** True if the message of a ProbelabError repeats the server's error, which is its cause. */
function repeatsCause(thrown: unknown, cause: unknown): boolean {
  if (!isProbelabError(thrown)) return false;
  // The message holds it on one line, without the full stop and ClickHouse's version.
  const words = nameAndMessage(cause)
    .evalue.replace(/\s+/g, " ")
    .replace(/\s*\(version [^)]*\)\)?\s*$/, "")
    .replace(/[.:]?\s*$/, "");
  return nameAndMessage(thrown).evalue.includes(words.slice(0, 600));
}

function placeLines(place: SourcePlace, scripts: CellScripts, length: number): string[] {
  const source = scripts.source(place.source);
  const frame = source === undefined ? [] : codeFrame(source, place, length);
  return [`    at ${placeName(place)}`, ...frame.map((line) => `    ${line}`)];
}

function placeName(place: SourcePlace): string {
  const name = isAbsolute(place.source)
    ? relative(process.cwd(), place.source)
    : place.source.replace(/^cell-/, "cell ");
  return cyan(`${name}, line ${place.line}`);
}

function nameAndMessage(thrown: unknown): { ename: string; evalue: string } {
  if (thrown instanceof Error)
    return { ename: String(thrown.name), evalue: String(thrown.message) };
  return { ename: "Thrown", evalue: inspect(thrown) };
}

/** Lines of code around a place, with a mark: `> 4 | await lab.query()` and a caret below it. */
function codeFrame(
  code: string,
  place: { line: number; column: number },
  length: number,
): string[] {
  const lines = code.split("\n");
  const first = Math.max(1, place.line - 2);
  const last = Math.min(lines.length, place.line + 2);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = (lines[number - 1] ?? "").replaceAll("\t", " ");
    const gutter = String(number).padStart(width);
    if (number !== place.line) {
      frame.push(dim(`  ${gutter} | ${text}`));
      continue;
    }
    const room = Math.max(1, text.length - place.column + 1);
    const carets = "^".repeat(Math.min(length, room));
    frame.push(`${bold(red(">"))} ${gutter} | ${text}`);
    frame.push(`  ${" ".repeat(width)} | ${" ".repeat(place.column - 1)}${bold(red(carets))}`);
  }
  return frame;
}

/** A frame of a stack: a place in the analyst's code, or a call elsewhere. */
interface Frame {
  readonly call: string;
  readonly place: SourcePlace | undefined;
}

const framePattern =
  /^\s+at (?:(?:async )?(.*?) \()?(?:async )?(?:file:\/\/)?(.+?):(\d+):(\d+)\)?$/;
const machinery = dirname(fileURLToPath(import.meta.url));
const library = join(machinery, "..", sep);
const mostLibraryFrames = 5;

/** The frames of an error down to the cell's own code, then the awaits that it passed. */
function stackPlaces(error: unknown, scripts: CellScripts): Frame[] {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack : "";
  const frames: Frame[] = [];
  // Its message says what to do: the frames in the library are of no use.
  const known = isProbelabError(error);
  for (const line of stack.split("\n")) {
    const [, call = "", file = "", row = "", column = ""] = framePattern.exec(line) ?? [];
    if (file === "" || isMachinery(file) || (known && isOfProbelab(file))) continue;
    frames.push({
      call: call || `${file}:${row}`,
      place: scripts.find(file, Number(row), Number(column)),
    });
  }
  const lastOwn = frames.findLastIndex((frame) => frame.place);
  const own = frames.slice(0, lastOwn < 0 ? mostLibraryFrames : lastOwn + 1);
  for (const text of awaitedPlaces(error)) {
    const [, source = "", line = "", column = ""] = /^(.*):(\d+):(\d+)$/.exec(text) ?? [];
    const place = { source, line: Number(line), column: Number(column) };
    const known = own.some(
      (frame) => frame.place?.source === source && frame.place.line === place.line,
    );
    if (source !== "" && !known) own.push({ call: "await", place });
  }
  const firstOwn = own.findIndex((frame) => frame.place);
  return own.filter((frame, index) => frame.place ?? index < Math.min(firstOwn, mostLibraryFrames));
}

function isOfProbelab(file: string): boolean {
  return file.startsWith(library) || /\/node_modules\/probelab\/dist\//.test(file);
}

function isMachinery(file: string): boolean {
  return file.startsWith("node:") || file.startsWith(machinery);
}

/** By name: a notebook may hold another copy of probelab than the kernel that runs it. */
function isProbelabError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ProbelabError";
}
