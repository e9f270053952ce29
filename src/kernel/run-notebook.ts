import { access, constants, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ProbelabError } from "../base/error.js";
import { projectRoot } from "../database/settings.js";
import { writeWhole } from "../base/files/write-whole.js";
import type { NamedCode } from "./check.js";
import type { Objection } from "./session.js";
import {
  hideSecretsIn,
  OutputCollector,
  readNotebook,
  writeNotebook,
  type CodeCell,
} from "./notebook-file.js";
import { NotebookProcess, type CellEnd } from "./notebook-process.js";
import type { CellError } from "./outputs.js";
import { kernelspecMetadata, languageInfo } from "./kernelspec.js";
import { injectParameters, isInjected, type Parameters } from "./parameters.js";

/** Options of `runNotebook`. */
export interface RunNotebookOptions {
  /** Folder for the executed notebook and its page; also `PROBELAB_OUT` in the notebook. Default `out`. */
  readonly out?: string;
  /** Values for the notebook's parameters, by name. */
  readonly params?: Parameters;
  /** Keep errors in the output and go on with the next cell. Default false. */
  readonly allowErrors?: boolean;
  /** Called as each code cell begins and ends. */
  readonly onProgress?: (progress: RunProgress) => void;
  /** Aborted to interrupt the running cell, and the run with it. */
  readonly signal?: AbortSignal;
  /** Variables that the notebook's process gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Called with the notebook's process as it starts. What the cells leave running is then ended with it. */
  readonly onProcess?: (child: NotebookProcess) => void;
}

/** A code cell of a run that begins, or that ended after `seconds`. */
export interface RunProgress {
  readonly cell: number;
  readonly of: number;
  readonly state: "running" | CellEnd["status"];
  readonly seconds: number;
}

/** The end of a run, and what it wrote. */
export interface RunOutcome {
  /** `ok`, or the status of the cell that the run stopped at. */
  readonly status: CellEnd["status"];
  /** The message for the analyst when it isn't `ok`; it names the cell. */
  readonly message: string | undefined;
  /** The executed notebook, with the outputs so far. */
  readonly notebook: string;
  /** The same as a page that needs nothing else. */
  readonly page: string;
  /** Code cells that ran to their end, and of how many. */
  readonly cells: number;
  readonly of: number;
  readonly seconds: number;
  /** Rows that the database read for its questions. */
  readonly rowsRead: number;
}

/** Exit codes of a run, of `probelab run` and in a schedule's history. */
export const EXIT_CODES: Record<RunOutcome["status"], number> = {
  ok: 0,
  error: 1,
  died: 5,
};

/**
 * Runs a notebook in a process of its own, in the notebook's folder, on the database of the project that
 * this process works in (the notebook may lie in a package), and writes it with its outputs as
 * `.ipynb` and as a self-contained page. What has run so far is on disk after every cell.
 * A type error in any cell is shown before anything runs.
 *
 * @throws ProbelabError where the notebook can't be read or a parameter can't be set; a cell that fails
 * does not throw, it is the outcome
 * @example
 * const outcome = await runNotebook("notebooks/measurement-drop.ipynb", { params: { span: "6 months" } });
 * if (outcome.status !== "ok") console.error(outcome.message);
 */
export async function runNotebook(
  path: string,
  options: RunNotebookOptions = {},
): Promise<RunOutcome> {
  const begun = performance.now();
  const { params = {}, allowErrors = false, signal } = options;
  const notebook = await readNotebook(path);
  await injectParameters(notebook, params);
  notebook.metadata = { ...kernelspecMetadata(notebook.metadata), language_info: languageInfo() };
  const out = await outFolder(options.out ?? "out", path);
  const name = basename(path, ".ipynb");
  const files = { notebook: join(out, `${name}.ipynb`), page: join(out, `${name}.html`) };
  const cells = numbered(
    notebook.cells.filter(
      (cell): cell is CodeCell => cell.cell_type === "code" && cell.source.trim() !== "",
    ),
  );
  const of = cells.filter(({ isInjected }) => !isInjected).length;
  const find = (name: string | undefined) => cells.find(({ code }) => code.name === name);
  const collector = new OutputCollector();
  let started: RunCell | undefined;
  let failedLater: { error: CellError; message: string } | undefined;
  const child = new NotebookProcess(
    {
      folder: dirname(resolve(path)),
      environment: {
        ...options.environment,
        PROBELAB_OUT: out,
        PROBELAB_PROJECT: projectRoot(process.cwd()),
      },
    },
    {
      onOutput: (name, output) => {
        const target = find(name);
        // The value of the last parameter is not shown.
        if (!target || (target.isInjected && output.output_type === "execute_result")) return;
        collector.add(target.cell, output);
      },
      onBackgroundError: ({ error, cell }) => {
        const origin = find(cell);
        const target = origin ?? started;
        if (target) collector.add(target.cell, { output_type: "error", ...error });
        const where = origin ? `Cell ${origin.number} of ${of}` : `One of the ${of} cells`;
        const message = `${where} started something that failed later.\n${tracebackText(error)}`;
        failedLater ??= { error, message };
      },
    },
  );
  // It loads while the process does.
  const page = import("./notebook-page.js");
  options.onProcess?.(child);
  const interrupt = () => child.interrupt();
  signal?.addEventListener("abort", interrupt);

  /** An error in the background fails a cell that is well otherwise. */
  const judged = (cellEnd: CellEnd): CellEnd =>
    cellEnd.status === "ok" && failedLater && !allowErrors
      ? { status: "error", error: failedLater.error }
      : cellEnd;
  /** Runs a cell, and writes the notebook so far. @returns how it ended, and what there is to say */
  const runCell = async (runCell: RunCell): Promise<{ end: CellEnd; note: string | undefined }> => {
    const { cell, number, code } = runCell;
    const cellBegun = performance.now();
    const report = (state: RunProgress["state"]) => {
      const seconds = (performance.now() - cellBegun) / 1000;
      if (!runCell.isInjected) options.onProgress?.({ cell: number, of, state, seconds });
    };
    cell.execution_count = number;
    started = runCell;
    report("running");
    const end = await child.run(code);
    report(end.status);
    const note =
      signal?.aborted && end.status === "died"
        ? "The run was interrupted; the cell did not end by itself and was ended with its process."
        : endMessage(end, number, of);
    if (note !== undefined && end.status !== "error") {
      const error = { ename: "NotebookStopped", evalue: note, traceback: [note] };
      collector.add(cell, { output_type: "error", ...error });
    }
    hideSecretsIn(cell);
    await writeNotebook(files.notebook, notebook);
    return { end, note };
  };

  let end: CellEnd = { status: "ok" };
  let message: string | undefined;
  let done = 0;
  try {
    const objections = allowErrors ? [] : await child.check(cells.map(({ code }) => code));
    for (const { cell, error } of objections) {
      const wrong = cells[cell - 1]?.cell;
      if (wrong) collector.add(wrong, { output_type: "error", ...error });
    }
    const [objection] = objections;
    if (objection) {
      end = { status: "error", error: objection.error };
      message = objectionMessage(objections, cells, of, params);
    }
    for (const cell of objection ? [] : cells) {
      if (signal?.aborted) {
        message = "The run was interrupted.";
        break;
      }
      const ran = await runCell(cell);
      const goOn = ran.end.status === "ok" || (ran.end.status === "error" && allowErrors);
      // An interrupt that comes when it has ended takes nothing from it.
      const isWhole = ran.end.status === "ok" || !signal?.aborted;
      if (goOn && !cell.isInjected && isWhole) done++;
      end = goOn ? judged({ status: "ok" }) : ran.end;
      if (end.status !== "ok" || signal?.aborted) {
        message = ran.note ?? failedLater?.message ?? "The run was interrupted.";
        break;
      }
    }
    const finish = await child.finish(signal);
    if (message === undefined) {
      end = judged(finish);
      if (finish.status === "died") {
        message = `The notebook's process ended after the last cell (${finish.how}), before what the cells started and did not await was done. Await it in its cell.`;
      } else if (end.status === "error") message = failedLater?.message;
    }
  } finally {
    signal?.removeEventListener("abort", interrupt);
    // What a complete run left running may be meant to stay.
    const isWhole = end.status === "ok" && signal?.aborted !== true;
    await child.close(!isWhole || options.onProcess !== undefined);
    for (const { cell } of cells) hideSecretsIn(cell);
    await writeNotebook(files.notebook, notebook);
    const { notebookPage } = await page;
    await writeWhole(files.page, await notebookPage(notebook, name));
  }
  const seconds = (performance.now() - begun) / 1000;
  const { rowsRead } = child;
  return { status: end.status, message, ...files, cells: done, of, seconds, rowsRead };
}

/** A code cell of a run. */
interface RunCell {
  readonly cell: CodeCell;
  readonly code: NamedCode;
  /** Counts the notebook's code cells from 1; the inserted cell has the number of the one before it. */
  readonly number: number;
  /** True for the inserted cell that sets the parameters. */
  readonly isInjected: boolean;
}

/** The code cells by their numbers in the notebook as it was given. */
function numbered(cells: readonly CodeCell[]): RunCell[] {
  let number = 0;
  return cells.map((cell) => {
    const injected = isInjected(cell);
    if (!injected) number++;
    const name = injected ? "--param" : `cell-${number}`;
    return { cell, number, isInjected: injected, code: { name, code: cell.source } };
  });
}

/** Makes the folder to write to. @throws ProbelabError where it can't be, or is the notebook's own */
async function outFolder(folder: string, notebook: string): Promise<string> {
  const out = resolve(folder);
  if (out === dirname(resolve(notebook))) {
    throw new ProbelabError(
      `Can't write to ${folder}: the executed notebook would replace ${notebook} itself. Name another folder with --out.`,
    );
  }
  try {
    await mkdir(out, { recursive: true });
    await access(out, constants.W_OK);
  } catch (error) {
    throw new ProbelabError(
      `Can't write to ${folder}: ${(error as Error).message}. Name another folder with --out.`,
      { cause: error },
    );
  }
  return out;
}

/** The message for a cell that did not end well. */
function endMessage(end: CellEnd, cell: number, of: number): string | undefined {
  if (end.status === "ok") return undefined;
  if (end.status === "error") return `Cell ${cell} of ${of} failed.\n${tracebackText(end.error)}`;
  return `The notebook's process ended in cell ${cell} of ${of} (${end.how}). The cell itself may have ended it (process.exit), or the system, for want of memory.`;
}

function tracebackText(error: CellError): string {
  return error.traceback.map(stripVTControlCharacters).join("\n");
}

const mostObjections = 5;

/** The message for a notebook that was not run because TypeScript objects to some of its cells. */
function objectionMessage(
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
