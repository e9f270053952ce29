import { stripVTControlCharacters } from "node:util";
import type { NamedCode } from "./cell-compiler.js";
import type { Objection } from "./cell-session.js";
import type { CodeCell } from "./notebook-file.js";
import type { CellEnd } from "./notebook-process.js";
import type { CellError } from "./outputs.js";
import type { Parameters } from "./parameters.js";

/** The message for a cell that did not end well. */
export function endMessage(end: CellEnd, cell: number, of: number): string | undefined {
  const where = `Cell ${cell} of ${of}`;
  switch (end.status) {
    case "ok":
      return undefined;
    case "error":
      return `${where} failed.\n${tracebackText(end.error)}`;
    case "timeout":
      return `${where} took longer than ${end.seconds} s and was stopped. Allow more with --timeout, or ask for a shorter range.`;
    case "died":
      return `The notebook's process ended in cell ${cell} of ${of} (${end.how}). The cell itself may have ended it (process.exit), or the system, for want of memory.`;
  }
}

/** The message for what the cells started without an await, after the last of them. */
export function finishMessage(end: CellEnd): string | undefined {
  const started = "What the cells started and did not await";
  switch (end.status) {
    case "ok":
    case "error":
      return undefined;
    case "timeout":
      return `${started} took longer than ${end.seconds} s and was given up. Await it in its cell, or allow more with --timeout.`;
    case "died":
      return `The notebook's process ended after the last cell (${end.how}), before what the cells started and did not await was done. Await it in its cell.`;
  }
}

/** The message for an error in the background. @param cell that started it, if known */
export function backgroundMessage(error: CellError, cell: number | undefined, of: number): string {
  const where = cell === undefined ? `One of the ${of} cells` : `Cell ${cell} of ${of}`;
  return `${where} started something that failed later.\n${tracebackText(error)}`;
}

function tracebackText(error: CellError): string {
  return error.traceback.map(stripVTControlCharacters).join("\n");
}

/** A code cell of a run. */
export interface RunCell {
  readonly cell: CodeCell;
  readonly code: NamedCode;
  /** Counts the notebook's code cells from 1; the inserted cell has the number of the one before it. */
  readonly number: number;
  /** True for the inserted cell that sets the parameters. */
  readonly isInjected: boolean;
}

const mostObjections = 5;

/** The message for a notebook that was not run because TypeScript objects to some of its cells. */
export function objectionMessage(
  objections: readonly Objection[],
  cells: readonly RunCell[],
  of: number,
  parameters: Parameters,
): string {
  const at = (objection: Objection) => cells[objection.cell - 1];
  const injected = objections.find((objection) => at(objection)?.isInjected);
  if (injected) {
    const lines = injected.faults.map((fault) => parameterFault(fault, parameters));
    return [...new Set(lines), "Nothing was run."].join("\n");
  }
  const [first, ...more] = objections;
  if (!first) return "";
  const numbers = objections.map((objection) => at(objection)?.number);
  const last = numbers.pop();
  const which =
    numbers.length === 0
      ? `Cell ${last} of ${of} has a type error`
      : `Cells ${numbers.join(", ")} and ${last} of ${of} have type errors`;
  const list = more.slice(0, mostObjections).map((objection) => {
    const [fault] = objection.faults;
    return `Cell ${at(objection)?.number}, line ${fault?.line}: ${objection.error.evalue}`;
  });
  if (more.length > mostObjections) list.push(`… and ${more.length - mostObjections} more cells.`);
  return [`${which}; nothing was run.`, tracebackText(first.error), ...list].join("\n");
}

/** The message for a faulty line of the inserted cell: a comment, then a line for each parameter. */
function parameterFault(
  { line, text }: Objection["faults"][number],
  parameters: Parameters,
): string {
  const [name, value] = Object.entries(parameters)[line - 2] ?? [];
  if (name === undefined) return `Can't set the parameters: ${text}`;
  const given = JSON.stringify(value);
  const remedy =
    typeof value !== "string" && text.includes("'string'")
      ? `Write text in quotes where it looks like something else: --param '${name}=${JSON.stringify(given)}'.`
      : "Give a value of the type that the notebook's parameters cell declares.";
  return `Can't set the parameter ${name} with --param ${name}=${given}: ${text} ${remedy}`;
}
