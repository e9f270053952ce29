import { stripVTControlCharacters } from "node:util";
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kernelDisplayName, kernelName } from "../../src/kernel/kernelspec.js";
import type { CellOutput } from "../../src/kernel/outputs.js";
import {
  runNotebook,
  type RunNotebookOptions,
  type RunOutcome,
} from "../../src/kernel/run-notebook.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A folder whose notebooks find the packages of this project; removed by `remove`. */
export async function notebookFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "probelab-notebook-")));
  await symlink(join(root, "node_modules"), join(path, "node_modules"), "junction");
  // An embedded server writes until it notices that its last user has gone.
  const options = { recursive: true, force: true, maxRetries: 40, retryDelay: 100 };
  return { path, remove: () => rm(path, options) };
}

/** A cell: code, or `{ markdown }`, or code with tags. */
export type CellText = string | { markdown: string } | { code: string; tags: string[] };

/** Writes a notebook of the given cells. @returns its path */
export async function writeCells(
  folder: string,
  cells: readonly CellText[],
  name = "test.ipynb",
): Promise<string> {
  const path = join(folder, name);
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: kernelName, display_name: kernelDisplayName, language: "typescript" },
    },
    cells: cells.map((cell, index) => {
      const id = `cell-${index}`;
      if (typeof cell === "object" && "markdown" in cell) {
        return { cell_type: "markdown", id, metadata: {}, source: cell.markdown };
      }
      const code = typeof cell === "string" ? cell : cell.code;
      const metadata = typeof cell === "string" ? {} : { tags: cell.tags };
      return { cell_type: "code", id, metadata, source: code, outputs: [], execution_count: null };
    }),
  };
  await writeFile(path, JSON.stringify(notebook));
  return path;
}

/** A cell that makes `result`, as if a database had answered: two days with a number each. */
export const handMade = `import { between, chart, Result, show } from "probelab";
import { table } from "arquero";
const range = between("2026-02-01", "2026-02-03");
const result = new Result(table({ t: [range.start, new Date("2026-02-02")], n: [1, 2] }), {
  sql: "SELECT 1", parameters: {}, range, source: "embedded:x", server: "25.8", rowsRead: 0, bytesRead: 0,
  seconds: 0, askedAt: range.start, columns: { dimensions: [], measures: [] }, reductions: [], notes: [],
});`;

/** Runs a notebook of the given cells in the folder. @returns how it ended, and its outputs as `outputTexts` gives them */
export async function runCells(
  folder: string,
  cells: readonly CellText[],
  options: Omit<RunNotebookOptions, "out"> = {},
  name?: string,
): Promise<{ outcome: RunOutcome; outputs: string[][] }> {
  const path = await writeCells(folder, cells, name);
  const outcome = await runNotebook(path, { ...options, out: join(folder, "out") });
  return { outcome, outputs: await outputTexts(outcome.notebook) };
}

interface WrittenCell {
  cell_type: string;
  id: string;
  execution_count?: number | null;
  metadata: Record<string, unknown>;
  source: string[];
  outputs?: (CellOutput & { text?: string[]; data?: Record<string, string | string[]> })[];
}

export async function readCells(path: string): Promise<WrittenCell[]> {
  const notebook = JSON.parse(await readFile(path, "utf8")) as { cells: WrittenCell[] };
  return notebook.cells;
}

/** The outputs of each code cell as short texts: `stdout: hello`, `result: 42`, `Name: message`. */
export async function outputTexts(path: string): Promise<string[][]> {
  const cells = await readCells(path);
  return cells
    .filter((cell) => cell.cell_type === "code")
    .map((cell) => (cell.outputs ?? []).map((output) => outputText(output)));
}

/** An output as a short text, as in `outputTexts`. */
export function outputText(output: NonNullable<WrittenCell["outputs"]>[number]): string {
  if (output.output_type === "stream") return `${output.name}: ${joined(output.text)}`;
  if (output.output_type === "error")
    return output.traceback.map(stripVTControlCharacters).join("\n");
  const kind = output.output_type === "execute_result" ? "result" : "display";
  const text = output.data["text/plain"] ?? output.data["text/html"];
  return `${kind}: ${joined(text)}`;
}

function joined(text: string | string[] | undefined): string {
  return Array.isArray(text) ? text.join("") : (text ?? "");
}
