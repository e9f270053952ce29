import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { redact } from "../base/redact.js";
import { awaitedPlaces } from "./run.js";
import type { Diagnostic } from "./language-server.js";
import type { CellError } from "./outputs.js";
import type { CellScripts, SourcePlace } from "./scripts.js";

const paint = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
const bold = paint(1, 22);
const dim = paint(2, 22);
const red = paint(31, 39);
const cyan = paint(36, 39);

const mostCauses = 10;
const mostFaults = 20;

/** A thrown value as Jupyter shows it: name, message, and a traceback in the cell's own lines. */
export function cellError(thrown: unknown, scripts: CellScripts): CellError {
  try {
    if (thrown instanceof TypeFaults) return typeError(thrown.faults, scripts);
    const { ename, evalue } = nameAndMessage(thrown);
    const traceback = [...errorLines(thrown, scripts), ...causes(thrown, scripts)];
    return withoutSecrets({ ename, evalue, traceback });
  } catch {
    const evalue = "a value that throws an error when it is read";
    return { ename: "Thrown", evalue, traceback: [`${bold(red("Thrown"))}: ${evalue}`] };
  }
}

/** TypeScript's objections to a cell, which was not run. */
export class TypeFaults extends Error {
  constructor(readonly faults: readonly TypeFault[]) {
    super("TypeScript objects to the cell");
  }
}

function typeError(faults: readonly TypeFault[], scripts: CellScripts): CellError {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  const words = first && [first.hint, first.text].filter((text) => text !== undefined).join(" ");
  const evalue = first ? `${words} TS${first.code}${more}` : "";
  const untold = faults.length - mostFaults;
  const traceback = faults.slice(0, mostFaults).flatMap((fault) => {
    const { hint, text, details, code, length } = fault;
    const [head, ...rest] = hint === undefined ? [text, ...details] : [hint, text, ...details];
    return [
      `${bold(red("TypeScriptError"))}: ${head} ${dim(`TS${code}`)}`,
      ...rest.map((line) => `    ${line}`),
      ...placeLines(fault, scripts, length),
    ];
  });
  if (untold > 0) traceback.push(dim(`… and ${untold} more.`));
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
    if (frame.place && frame.place === focus) lines.push(...placeLines(focus, scripts, 1));
    else {
      const line = frame.place ? `    at ${placeName(frame.place)}` : dim(`    at ${frame.call}`);
      if (line !== lines.at(-1)) lines.push(line); // A recursion is one.
    }
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
  return lines;
}

/** True if the message of a ProbelabError repeats the server's error, which is its cause. */
function repeatsCause(thrown: unknown, cause: unknown): boolean {
  // By name: a notebook may hold another copy of probelab than the kernel that runs it.
  if (!(thrown instanceof Error) || thrown.name !== "ProbelabError") return false;
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

const longestLine = 400;

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
    const line = (lines[number - 1] ?? "").replaceAll("\t", " ");
    // Of a long line the part before the place and behind it.
    const from = line.length <= longestLine ? 0 : Math.max(0, place.column - longestLine / 2);
    const text = line.slice(from, from + longestLine);
    const gutter = String(number).padStart(width);
    if (number !== place.line) {
      frame.push(dim(`  ${gutter} | ${text}`));
      continue;
    }
    const column = place.column - from;
    const room = Math.max(1, text.length - column + 1);
    const carets = "^".repeat(Math.min(length, room));
    frame.push(`${bold(red(">"))} ${gutter} | ${text}`);
    frame.push(`  ${" ".repeat(width)} | ${" ".repeat(column - 1)}${bold(red(carets))}`);
  }
  return frame;
}

/** A frame of a stack: a place in the analyst's code, or a call elsewhere. */
interface StackFrame {
  readonly call: string;
  readonly place: SourcePlace | undefined;
}

const framePattern =
  /^\s+at (?:(?:async )?(.*?) \()?(?:async )?(?:file:\/\/)?(.+?):(\d+):(\d+)\)?$/;
const library = join(dirname(fileURLToPath(import.meta.url)), "..", sep);
const mostLibraryFrames = 5;
/** No path is longer, and the pattern's time grows with the square. */
const longestFrame = 4_000;

/**
 * The frames of an error down to the cell's own code, then the awaits that it passed. What Node and probelab
 * called is left out.
 */
function stackPlaces(error: unknown, scripts: CellScripts): StackFrame[] {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack : "";
  const lines = stack.split("\n").filter((line) => line.length < longestFrame);
  const frames = lines.flatMap((line): StackFrame[] => {
    const [, call = "", file = "", row = "", column = ""] = framePattern.exec(line) ?? [];
    const isOurs = file.startsWith(library) || /\/node_modules\/probelab\/dist\//.test(file);
    if (file === "" || file.startsWith("node:") || isOurs) return [];
    return [
      { call: call || `${file}:${row}`, place: scripts.find(file, Number(row), Number(column)) },
    ];
  });
  const told = frames.slice(0, frames.findLastIndex(({ place }) => place) + 1);
  for (const text of awaitedPlaces(error)) {
    const [, file = "", line = "", column = ""] = /^(.*):(\d+):(\d+)$/.exec(text) ?? [];
    const place = scripts.findStripped(file, Number(line), Number(column));
    const isTold = told.some(
      (frame) => frame.place?.source === place?.source && frame.place?.line === place?.line,
    );
    if (place && !isTold) told.push({ call: "await", place });
  }
  const first = told.findIndex((frame) => frame.place);
  return told.filter((frame, index) => frame.place ?? index < Math.min(first, mostLibraryFrames));
}

/** TypeScript's objection to a line of a cell or of a file that it imports; line and column count from 1. */
export interface TypeFault {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly code: number;
  /** The remedy, if TypeScript gives none. */
  readonly hint: string | undefined;
  readonly text: string;
  /** The reasons, from the outside in. */
  readonly details: readonly string[];
}

/** Our options by the names that other libraries give them. */
const OUR_OPTIONS: Readonly<Record<string, string>> = {
  ...{ groupBy: "by", groupby: "by", group_by: "by", group: "by" },
  ...{ interval: "every", granularity: "every", freq: "every", resolution: "every" },
  ...{ colour: "color", hue: "color", series: "color" },
};

/**
 * A pattern of TypeScript's words, what to write, and a pattern of the code that they point to, else of its
 * line; `$1` is its group, else that of the words. `alone` says all: TypeScript's own words, which name the
 * types of half the library, are left out.
 */
type Hint = readonly [
  words: RegExp,
  hint: string,
  more?: { readonly code?: RegExp; readonly alone?: true },
];

/** Errors that TypeScript words badly. */
const HINTS: readonly Hint[] = [
  [
    /^(?:Property '.*' does not exist on type|Argument of type|Type) 'Promise</,
    "Did you forget await? This is a Promise, not yet its value.",
  ],
  [
    /^Type 'string' is not assignable to type 'TimeRange'/,
    "Write range: last($1), or range: between(start, end).",
    { code: /^(?:range\s*:\s*)?("[^"]*"|'[^']*'|[\w.]+)/ },
  ],
  [
    /Property 'range' is missing in type/,
    'The range is missing: write { range: last("3 months", { now: lab.now }), … }.',
    { alone: true },
  ],
  [
    /^Expected 2 arguments, but got 1/,
    'The range is missing: write lab.query("SELECT … WHERE {range}", { range: last("3 months", { now: lab.now }) }).',
    { code: /^query\b/, alone: true },
  ],
  [
    /^(?:Argument of t|T)ype '"(.*)"' is not assignable to (?:parameter of type 'ColumnName|type '.*[XY]Options)</,
    "There is no column $1: result.columnNames() lists them.",
  ],
  [
    /^(?:Argument of t|T)ype '"(.*)"' is not assignable to .*'(?:Names|GroupBy<|.*Dimension)/,
    "There is no column $1: await lab.columns() lists them.",
    { alone: true },
  ],
  [
    /^Type 'string' is not assignable to type 'Where</,
    'Write columns and their values, where: { probe_cc: "IT" }; a condition in SQL goes into lab.query.',
    { alone: true },
  ],
  [
    /'(\w*)' does not exist in type 'Comparison\b/,
    'There is no $1: write prefix("…"), a list, or lt, lte, gt, gte, ne or in; a pattern goes into lab.query.',
    { alone: true },
  ],
  [
    /^Type 'Measure<.*is not assignable to type 'Readonly<Record</,
    "Name it: measures: { $1: … }.",
    { code: /measures\s*:\s*(\w+)/, alone: true },
  ],
  [
    /^Property '(.*)' does not exist on type '\{ line</,
    "There is no chart.$1. The charts are line, area, bar, dot, dotPlot, heatmap and histogram; chart.vegaLite draws any other.",
    { alone: true },
  ],
  [/^Cannot find name '(.*)'/, "Declare it: const $1 = ….", { code: /^(\w+)\s*=[^=>]/ }],
  [
    /^'[=;]' expected/,
    'This is Python. Write import * as name from "$1".',
    { code: /^\s*import\s+([\w.]+)(?:\s+as\s+\w+)?\s*$/, alone: true },
  ],
];

/**
 * A diagnostic as a fault.
 *
 * @param text of the source
 * @param above lines above it in the text that TypeScript read
 */
export function typeFault(
  { range, code, message, relatedInformation = [] }: Diagnostic,
  source: string,
  text: string,
  above: number,
): TypeFault {
  // Types of earlier cells are told by their names alone, files beside the notebook by their own paths.
  const [head = "", ...details] = cut(message)
    .replace(/import\("[^"]*"\)\./g, "")
    .replace(/[^\s'"]{0,300}probelab-cells-[^\\/'"]*/g, "")
    .split(/\n */);
  const lines = text.split("\n");
  const opened = relatedInformation.find((each) => NOT_CLOSED.test(each.message));
  const { start, end } = opened?.location.range ?? range;
  const line = Math.min(start.line - above, lines.length - 1);
  const written = lines.slice(line).join("\n").slice(start.character);
  const isForgotten = relatedInformation.some((each) => FORGOTTEN_AWAIT.test(each.message));
  const [hint, alone] = opened
    ? [`This ${written[0]} is never closed.`]
    : hintFor([head, ...details].join("\n"), [written, lines[line] ?? ""], isForgotten);
  return {
    source,
    line: line + 1,
    column: start.character + 1,
    length: Math.max(1, end.line === start.line ? end.character - start.character : 1),
    code,
    ...(alone && hint !== undefined
      ? { hint: undefined, text: hint, details: [] }
      : { hint, text: head, details }),
  };
}

const longestMessage = 10_000;

function cut(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}

/** TypeScript's "The parser expected to find a '}' to match the '{' token here." */
const NOT_CLOSED = /^The parser expected to find/;

/** TypeScript's own "Did you forget to use 'await'?" */
const FORGOTTEN_AWAIT = /forget to use 'await'/;

/** What to write instead, and whether that says all. */
function hintFor(
  text: string,
  code: readonly string[],
  isForgotten: boolean,
): readonly [string, true] | readonly [string | undefined] {
  const [, option = ""] = /'(\w+)' does not exist in type '\w*Options\b/.exec(text) ?? [];
  if (OUR_OPTIONS[option]) return [`Write ${OUR_OPTIONS[option]}: there is no option ${option}.`];
  for (const [words, hint, { code: pattern, alone } = {}] of HINTS) {
    const said = words.exec(text);
    const written = pattern && code.map((each) => pattern.exec(each)).find((match) => match);
    if (!said || (pattern && !written)) continue;
    const full = hint.replaceAll("$1", () => written?.[1] ?? said[1] ?? "");
    return alone ? [full, true] : [full];
  }
  return [isForgotten ? "Did you forget await?" : undefined];
}
