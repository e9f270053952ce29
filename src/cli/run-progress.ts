import { line, lines } from "./origin-text.js";
import type { RunOutcome, RunProgress } from "../notebook/run-notebook.js";

/** Exit codes by how a run ended; the first notebook that fails decides. */
const exitCodes: Record<RunOutcome["status"], number> = {
  ok: 0,
  error: 1,
  timeout: 3,
  memory: 4,
  died: 5,
};

/** Prints why a run did not get to its end, and sets the exit code; the first that fails decides. */
export function tellWhereItStopped(outcome: RunOutcome): void {
  if (outcome.message === undefined) return;
  process.stderr.write(`${lines(outcome.message)}\n`);
  process.exitCode ||= exitCodes[outcome.status] || 130;
}

/** Tells in one line that the analyst ended a run, and where what ran is; exit code 130. */
export function tellInterrupted(outcome: RunOutcome): void {
  process.stderr.write(
    `Interrupted: ${outcome.cells} of ${outcome.of} cells ran; they are in ${line(outcome.notebook)}.\n`,
  );
  process.exitCode = 130;
}

/** One line a cell: on a terminal it stands there while the cell runs, elsewhere it is written at the end. */
export function printProgress({ cell, of, state, seconds }: RunProgress): void {
  const terminal = process.stderr.isTTY;
  const head = `cell ${cell}/${of} …`;
  if (state === "running") {
    if (terminal) process.stderr.write(head);
    return;
  }
  const note = state === "ok" ? "" : ` ${state}`;
  process.stderr.write(`${terminal ? "" : head} ${seconds.toFixed(1)} s${note}\n`);
}
