import type { MimeBundle } from "../base/mime-bundle.js";

/** A value in several forms, by MIME type; the frontend picks the richest one that it knows. */
export type MimeData = Record<string, unknown>;

/** An error as Jupyter shows it. */
export interface CellError {
  /** The error's name, such as `TypeError`. */
  readonly ename: string;
  /** Its message. */
  readonly evalue: string;
  /** Lines with ANSI colours: the message, the place in the cell, its code. */
  readonly traceback: readonly string[];
}

/** One thing that a running cell puts out. */
export type CellOutput =
  | { readonly type: "stream"; readonly name: "stdout" | "stderr"; readonly text: string }
  | {
      readonly type: "display";
      readonly bundle: MimeBundle;
      /** Later displays with this id and `update` replace this one. */
      readonly displayId?: string | undefined;
      readonly update?: boolean | undefined;
    }
  | { readonly type: "result"; readonly bundle: MimeBundle }
  | { readonly type: "error"; readonly error: CellError }
  | { readonly type: "clear"; readonly wait: boolean };

export type OutputSink = (output: CellOutput) => void;
