import { basename, dirname, join, resolve } from "node:path";
import { access, constants, mkdir } from "node:fs/promises";
import { projectRoot } from "../database/settings.js";
import { ProbelabError } from "../base/error.js";
import { writeWhole } from "../files/write-whole.js";
import {
  hideSecretsIn,
  OutputCollector,
  readNotebook,
  writeNotebook,
  type CodeCell,
} from "./notebook-file.js";
import { notebookPage } from "./notebook-page.js";
import { NotebookProcess, type CellEnd } from "./notebook-process.js";
import type { CellError, CellOutput } from "./outputs.js";
import { kernelspecMetadata, languageInfo } from "./own-package.js";
import { injectParameters, isInjected, type Parameters } from "./parameters.js";
import {
  backgroundMessage,
  endMessage,
  finishMessage,
  objectionMessage,
  type RunCell,
} from "./run-messages.js";

/** Options of `runNotebook`. */
export interface RunNotebookOptions {
  /** Folder for the executed notebook and its page; also `PROBELAB_OUT` in the notebook. Default `out`. */
  readonly out?: string;
  /** Values for the notebook's parameters, by name. */
  readonly params?: Parameters;
  /** Most seconds that a cell may take. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Most memory that the notebook's process may hold, in MB. Default: no limit. */
  readonly memory?: number | undefined;
  /** Keep errors in the output and go on with the next cell. Default false. */
  readonly allowErrors?: boolean;
  /** Called as each code cell begins and ends. */
  readonly onProgress?: (progress: RunProgress) => void;
  /** Aborted to interrupt the running cell, and the run with it. */
  readonly signal?: AbortSignal;
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
  timeout: 3,
  memory: 4,
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
  const notebook = await readNotebook(path);
  await injectParameters(notebook, options.params ?? {});
  notebook.metadata = { ...kernelspecMetadata(notebook.metadata), language_info: languageInfo() };
  const out = await outFolder(options.out ?? "out", path);
  const name = basename(path, ".ipynb");
  const files = { notebook: join(out, `${name}.ipynb`), page: join(out, `${name}.html`) };
  const cells = notebook.cells.filter(
    (cell): cell is CodeCell => cell.cell_type === "code" && cell.source.trim() !== "",
  );
  const places = numbered(cells);
  const of = places.filter((place) => !place.injected).length;
  const named = cells.map(({ source: code }, index) => ({ name: nameOf(places[index]), code }));
  const collector = new OutputCollector();
  let startedCells = 0;
  let failedLater: { error: CellError; message: string } | undefined;
  const child = new NotebookProcess({
    folder: dirname(resolve(path)),
    memory: options.memory,
    environment: { PROBELAB_OUT: out, PROBELAB_PROJECT: projectRoot(process.cwd()) },
    onOutput: (cell, output) => {
      const target = cells[cell - 1];
      if (target && !isAssignmentShown(target, output)) collector.add(target, output);
    },
    onBackgroundError: (cell, error) => {
      const target = cells[(cell ?? startedCells) - 1];
      if (target) collector.add(target, { type: "error", error });
      const place = cell === undefined ? undefined : places[cell - 1]?.number;
      failedLater ??= { error, message: backgroundMessage(error, place, of) };
    },
  });
  const interrupt = () => child.interrupt();
  options.signal?.addEventListener("abort", interrupt);

  const save = async () => {
    cells.forEach(hideSecretsIn);
    await writeNotebook(files.notebook, notebook);
    await writeWhole(files.page, await notebookPage(notebook, name));
  };
  /** An error in the background fails a cell that is well otherwise. */
  const judged = (cellEnd: CellEnd): CellEnd =>
    cellEnd.status === "ok" && failedLater && options.allowErrors !== true
      ? { status: "error", error: failedLater.error }
      : cellEnd;
  let end: CellEnd = { status: "ok" };
  let message: string | undefined;
  let done = 0;
  try {
    const objections = options.allowErrors ? [] : await child.check(named);
    for (const { cell, error } of objections) {
      const wrong = cells[cell - 1];
      if (wrong) collector.add(wrong, { type: "error", error });
    }
    const [objection] = objections;
    if (objection) {
      end = { status: "error", error: objection.error };
      message = objectionMessage(objections, places, of, options.params ?? {});
    }
    for (const [index, cell] of objection ? [] : cells.entries()) {
      if (options.signal?.aborted) {
        message = "The run was interrupted.";
        break;
      }
      const { number = 0, injected = false } = places[index] ?? {};
      const cellBegun = performance.now();
      const report = (state: RunProgress["state"]) => {
        const seconds = (performance.now() - cellBegun) / 1000;
        if (!injected) options.onProgress?.({ cell: number, of, state, seconds });
      };
      cell.execution_count = number;
      startedCells = index + 1;
      report("running");
      end = await child.run(index + 1, named[index] ?? { name: "", code: "" }, options.timeout);
      report(end.status);
      const note =
        options.signal?.aborted && end.status === "died"
          ? "The run was interrupted; the cell did not end by itself and was ended with its process."
          : endMessage(end, number, of);
      if (note !== undefined && end.status !== "error") {
        collector.add(cell, {
          type: "error",
          error: { ename: "NotebookStopped", evalue: note, traceback: [note] },
        });
      }
      hideSecretsIn(cell);
      await writeNotebook(files.notebook, notebook);
      const goOn = end.status === "ok" || (end.status === "error" && options.allowErrors === true);
      if (goOn && !injected && !options.signal?.aborted) done++;
      end = goOn ? judged({ status: "ok" }) : end;
      if (end.status !== "ok" || options.signal?.aborted) {
        message = note ?? failedLater?.message ?? "The run was interrupted.";
        break;
      }
    }
    const over = end.status === "timeout" ? AbortSignal.abort() : options.signal;
    const finish = await child.finish(options.timeout, over);
    if (message === undefined) {
      end = judged(finish);
      message =
        finishMessage(finish) ?? (end.status === "error" ? failedLater?.message : undefined);
    }
  } finally {
    options.signal?.removeEventListener("abort", interrupt);
    // What a complete run left running may be meant to stay.
    await child.close(end.status !== "ok" || options.signal?.aborted === true);
    await save();
  }
  const seconds = (performance.now() - begun) / 1000;
  const { rowsRead } = child;
  return { status: end.status, message, ...files, cells: done, of, seconds, rowsRead };
}

/** The numbers of cells in the notebook as it was given. */
function numbered(cells: readonly CodeCell[]): RunCell[] {
  let number = 0;
  return cells.map((cell) => {
    const injected = isInjected(cell);
    if (!injected) number++;
    return { number, injected };
  });
}

function nameOf(place: RunCell | undefined): string {
  return place?.injected ? "--param" : `cell-${place?.number}`;
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

/** True for the value of the last assignment in the cell of parameters, which is not shown. */
function isAssignmentShown(cell: CodeCell, output: CellOutput): boolean {
  return output.type === "result" && isInjected(cell);
}
