import { plain } from "./ansi.js";
import type { CellError } from "./cell-output.js";
import type { CellEnd } from "./notebook-process.js";

/** What to tell the analyst of how a cell ended, where it wasn't well. */
export function endMessage(end: CellEnd, cell: number, of: number): string | undefined {
  const where = `Cell ${cell} of ${of}`;
  switch (end.status) {
    case "ok":
      return undefined;
    case "error":
      return `${where} failed.\n${text(end.error)}`;
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
  return `${where} began something that failed later.\n${text(error)}`;
}

function text(error: CellError): string {
  return error.traceback.map(plain).join("\n");
}
