import type { CellError, CellOutcome, CellOutput } from "./outputs.js";

/** The code of a cell, and the name of the cell in tracebacks, such as `cell-3`. */
export interface NamedCode {
  readonly name: string;
  readonly code: string;
}

/** What TypeScript says of a line, which counts from 1. */
export interface Fault {
  readonly line: number;
  readonly text: string;
}

/** The type errors of a cell, found before anything ran. `cell` counts the code cells from 1. */
export interface Objection {
  readonly cell: number;
  readonly error: CellError;
  readonly faults: readonly Fault[];
}

/** What the runner tells the process of a notebook. */
export type ToWorker =
  | { readonly type: "check"; readonly cells: readonly NamedCode[] }
  | { readonly type: "run"; readonly cell: number; readonly code: NamedCode }
  | { readonly type: "interrupt" }
  | { readonly type: "finish" }
  | { readonly type: "end" };

/** What the process of a notebook tells the runner. `cell` counts the code cells from 1. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "checked"; readonly objections: readonly Objection[] }
  | { readonly type: "output"; readonly cell: number; readonly output: CellOutput }
  | { readonly type: "background"; readonly cell: number | undefined; readonly error: CellError }
  | {
      readonly type: "ended";
      readonly cell: number;
      readonly outcome: CellOutcome;
      /** By all queries so far. */
      readonly rowsRead: number;
    }
  | { readonly type: "finished"; readonly rowsRead: number };
