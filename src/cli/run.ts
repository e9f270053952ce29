import { Command } from "commander";
import { parseParameter, type ParameterValue } from "../kernel/parameters.js";
import {
  EXIT_CODES,
  runNotebook,
  type RunNotebookOptions,
  type RunOutcome,
  type RunProgress,
} from "../kernel/run-notebook.js";
import { line, lines, userInterrupt } from "./terminal.js";

interface Options {
  out: string;
  param?: Record<string, ParameterValue>;
  allowErrors?: boolean;
}

/** `probelab run NOTEBOOK…` */
export const runCommand = new Command("run")
  .description("Run notebooks and write them with their outputs, as .ipynb and as a page")
  .argument("<notebook...>", "the notebooks, run one after the other")
  .option("--out <dir>", "folder to write to; PROBELAB_OUT in the notebook", "out")
  .option("--param <name=value>", "set a parameter of the notebook; may be repeated", addParameter)
  .option("--allow-errors", "keep errors in the output and go on")
  .addHelpText(
    "after",
    "\nExit codes: 1 a cell failed, 5 the process died, 130 interrupted.\nFor a limit of time: timeout 10m npx probelab run …",
  )
  .action(async (notebooks: string[], options: Options) => {
    using interrupt = userInterrupt();
    for (const notebook of notebooks) {
      process.stderr.write(`${line(notebook)}\n`);
      const { out, param: params = {}, allowErrors = false } = options;
      const outcome = await runPrinted(notebook, { out, params, allowErrors }, interrupt.signal);
      if (interrupt.signal.aborted) break;
      process.stderr.write(
        `${outcome.cells} of ${outcome.of} cells, ${outcome.seconds.toFixed(1)} s\n`,
      );
      process.stdout.write(`${line(outcome.notebook)}\n${line(outcome.page)}\n`);
    }
  });

function addParameter(
  text: string,
  before: Record<string, ParameterValue> = {},
): Record<string, ParameterValue> {
  const [name, value] = parseParameter(text);
  return { ...before, [name]: value };
}

/** Runs a notebook and prints its progress, and why it failed; the first failure sets the exit code. */
export async function runPrinted(
  path: string,
  options: Pick<RunNotebookOptions, "out" | "params" | "allowErrors">,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const outcome = await runNotebook(path, { ...options, onProgress: printProgress, signal });
  if (signal.aborted) {
    process.stderr.write(
      `Interrupted: ${outcome.cells} of ${outcome.of} cells ran; they are in ${line(outcome.notebook)}.\n`,
    );
    process.exitCode = 130;
  } else if (outcome.message !== undefined) {
    process.stderr.write(`${lines(outcome.message)}\n`);
    process.exitCode ||= EXIT_CODES[outcome.status];
  }
  return outcome;
}

/** Prints a line per cell: on a terminal when it starts, elsewhere when it has ended. */
function printProgress({ cell, of, state, seconds }: RunProgress): void {
  const terminal = process.stderr.isTTY;
  const head = `cell ${cell}/${of} …`;
  if (state === "running") {
    if (terminal) process.stderr.write(head);
    return;
  }
  const note = state === "ok" ? "" : ` ${state}`;
  process.stderr.write(`${terminal ? "" : head} ${seconds.toFixed(1)} s${note}\n`);
}
