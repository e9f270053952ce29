import type { CellError, CellOutput } from "./cell-output.js";
import type { CellOutcome } from "./cell-session.js";

/** What the runner tells the process of a notebook. */
export type ToWorker =
  | { readonly type: "check"; readonly codes: readonly string[] }
  | { readonly type: "run"; readonly cell: number; readonly code: string }
  | { readonly type: "interrupt" }
  | { readonly type: "end" };

/** A type error of a cell, found before anything ran. */
export interface Objection {
  readonly cell: number;
  readonly error: CellError;
}

/** What the process of a notebook tells the runner. `cell` counts the code cells from 1. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "checked"; readonly objection: Objection | undefined }
  | { readonly type: "output"; readonly cell: number; readonly output: CellOutput }
  | { readonly type: "ended"; readonly cell: number; readonly outcome: CellOutcome };
