import type { CellOutput } from "./cell-output.js";
import type { CellOutcome } from "./cell-session.js";

/** What the runner tells the process of a notebook. */
export type ToWorker =
  | { readonly type: "run"; readonly cell: number; readonly code: string }
  | { readonly type: "interrupt" }
  | { readonly type: "end" };

/** What the process of a notebook tells the runner. `cell` counts the code cells from 1. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "output"; readonly cell: number; readonly output: CellOutput }
  | { readonly type: "ended"; readonly cell: number; readonly outcome: CellOutcome };
