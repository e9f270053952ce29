import { isAbsolute, relative } from "node:path";
import { inspect } from "node:util";
import type { Diagnostic } from "tslab/dist/converter.js";
import { bold, cyan, dim, red } from "./ansi.js";
import type { CellError } from "./cell-output.js";
import type { SourcePlace } from "./cell-map.js";
import type { CellScripts } from "./cell-scripts.js";
import { codeFrame } from "./code-frame.js";
import { redact } from "../base/redact.js";
import { isProbelabError } from "./is-probelab-error.js";
import { stackPlaces } from "./stack-places.js";

const mostCauses = 10;

/** What a cell threw, as Jupyter shows it: name, message, and the way to it in the cell's own lines. */
export function cellError(thrown: unknown, scripts: CellScripts): CellError {
  try {
    const { ename, evalue } = nameAndMessage(thrown);
    const traceback = [...errorLines(thrown, scripts), ...causes(thrown, scripts)];
    return withoutSecrets({ ename, evalue, traceback });
  } catch {
    return unreadableError(thrown);
  }
}

/** A Proxy, or an Error with a getter that throws: what can be read of it. */
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

/** TypeScript's objections to a cell, which was not run because of them. */
export function typeError(
  diagnostics: readonly Diagnostic[],
  cell: string,
  scripts: CellScripts,
): CellError {
  const groups = groupByPlace(diagnostics);
  const first = diagnostics[0];
  const more = groups.length > 1 ? ` (and ${groups.length - 1} more)` : "";
  const evalue = first ? `${first.messageText} TS${first.code}${more}` : "";
  const traceback = groups.flatMap((group) => {
    const [head, ...details] = group;
    if (!head) return [];
    const place = {
      source: head.fileName ?? cell,
      line: head.start.line + 1,
      column: head.start.character + 1,
    };
    const length = head.end.line === head.start.line ? head.end.offset - head.start.offset : 1;
    return [
      `${bold(red("TypeScriptError"))}: ${head.messageText} ${dim(`TS${head.code}`)}`,
      ...details.map((detail) => `    ${detail.messageText}`),
      ...placeLines(place, scripts, Math.max(1, length)),
    ];
  });
  return withoutSecrets({ ename: "TypeScriptError", evalue, traceback });
}

/** Errors of a cell are also printed, and kept with the notebook's outputs. */
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
    if (!saysAlready(thrown, cause)) lines.push("", "Caused by:", ...errorLines(cause, scripts));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  if (thrown instanceof AggregateError) {
    for (const error of thrown.errors.slice(0, 5)) lines.push("", ...errorLines(error, scripts));
  }
  return lines;
}

/** A ProbelabError tells what the server said; the same again as its cause is of no use. */
function saysAlready(thrown: unknown, cause: unknown): boolean {
  if (!isProbelabError(thrown)) return false;
  // The house writes what was said in one line, without the full stop and ClickHouse's version.
  const words = nameAndMessage(cause)
    .evalue.replace(/\s+/g, " ")
    .replace(/\s*\(version [^)]*\)\)?\s*$/, "")
    .replace(/[.:]?\s*$/, "");
  return nameAndMessage(thrown).evalue.includes(words.slice(0, 600));
}

function placeLines(place: SourcePlace, scripts: CellScripts, length: number): string[] {
  const source = scripts.source(place.source);
  const frame = source === undefined ? [] : codeFrame(source, place, { length });
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

function groupByPlace(diagnostics: readonly Diagnostic[]): Diagnostic[][] {
  const groups: Diagnostic[][] = [];
  for (const diagnostic of diagnostics) {
    const group = groups.at(-1);
    const same = group?.[0]?.start.offset === diagnostic.start.offset;
    if (group && same) group.push(diagnostic);
    else groups.push([diagnostic]);
  }
  return groups;
}
