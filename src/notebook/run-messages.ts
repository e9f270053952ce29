import { withoutColours } from "./ansi.js";
import type { CellEnd } from "./notebook-process.js";
import type { CellError } from "./outputs.js";
import type { Parameters } from "./parameters.js";
import type { Fault, Objection } from "./worker-messages.js";

/** What to tell the analyst of how a cell ended, where it wasn't well. */
export function endMessage(end: CellEnd, cell: number, of: number): string | undefined {
  const where = `Cell ${cell} of ${of}`;
  switch (end.status) {
    case "ok":
      return undefined;
    case "error":
      return `${where} failed.\n${tracebackText(end.error)}`;
    case "timeout":
      return `${where} took longer than ${end.seconds} s and was stopped. Allow more with --timeout, or ask for a shorter range.`;
    case "memory":
      return `${where} needed more than ${end.megabytes} MB and its process was ended. Allow more with --memory, or let the database aggregate first.`;
    case "died":
      return `The notebook's process ended in cell ${cell} of ${of} (${end.how}). The cell itself may have ended it (process.exit), or the system, for want of memory.`;
  }
}

/** The same of what the cells had begun and not awaited, after the last of them. */
export function finishMessage(end: CellEnd): string | undefined {
  const begun = "What the cells began and did not await";
  switch (end.status) {
    case "ok":
    case "error":
      return undefined;
    case "timeout":
      return `${begun} took longer than ${end.seconds} s and was given up. Await it in its cell, or allow more with --timeout.`;
    case "memory":
      return `${begun} needed more than ${end.megabytes} MB and its process was ended. Await it in its cell, or allow more with --memory.`;
    case "died":
      return `The notebook's process ended after the last cell (${end.how}), before what the cells began and did not await was done. Await it in its cell.`;
  }
}

/** What failed in the background. @param cell that began it, where that is known */
export function backgroundMessage(error: CellError, cell: number | undefined, of: number): string {
  const where = cell === undefined ? `One of the ${of} cells` : `Cell ${cell} of ${of}`;
  return `${where} began something that failed later.\n${tracebackText(error)}`;
}

function tracebackText(error: CellError): string {
  return error.traceback.map(withoutColours).join("\n");
}

/** A code cell of a run, in the numbers of the notebook as it was given. */
export interface RunCell {
  /** Counts the notebook's code cells from 1; the inserted cell has the number of the one before it. */
  readonly number: number;
  /** True for the cell that sets the parameters, which the notebook as given does not have. */
  readonly injected: boolean;
}

const mostObjections = 5;

/** What to tell of a notebook that was not run, because TypeScript objects to some of its cells. */
export function objectionMessage(
  objections: readonly Objection[],
  cells: readonly RunCell[],
  of: number,
  parameters: Parameters,
): string {
  const at = (objection: Objection) => cells[objection.cell - 1];
  const injected = objections.find((one) => at(one)?.injected);
  if (injected) {
    const lines = injected.faults.map((fault) => parameterFault(fault, parameters));
    return [...new Set(lines), "Nothing was run."].join("\n");
  }
  const [first, ...more] = objections;
  if (!first) return "";
  const numbers = objections.map((one) => at(one)?.number);
  const last = numbers.pop();
  const which =
    numbers.length === 0
      ? `Cell ${last} of ${of} has a type error`
      : `Cells ${numbers.join(", ")} and ${last} of ${of} have type errors`;
  const list = more.slice(0, mostObjections).map((one) => {
    const [fault] = one.faults;
    return `Cell ${at(one)?.number}, line ${fault?.line}: ${one.error.evalue}`;
  });
  if (more.length > mostObjections) list.push(`… and ${more.length - mostObjections} more cells.`);
  return [`${which}; nothing was run.`, tracebackText(first.error), ...list].join("\n");
}

/** The inserted cell has a comment in its first line, then a line for each parameter. */
function parameterFault({ line, text }: Fault, parameters: Parameters): string {
  const [name, value] = Object.entries(parameters)[line - 2] ?? [];
  if (name === undefined) return `Can't set the parameters: ${text}`;
  const given = JSON.stringify(value);
  const remedy =
    typeof value !== "string" && text.includes("'string'")
      ? `Write text in quotes where it looks like something else: --param '${name}=${JSON.stringify(given)}'.`
      : "Give a value of the type that the notebook's parameters cell declares.";
  return `Can't set the parameter ${name} with --param ${name}=${given}: ${text} ${remedy}`;
}
