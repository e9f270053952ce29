import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ProbelabError } from "../base/error.js";
import { hideSecrets } from "../base/redact.js";
import { writeWhole } from "../base/files/write-whole.js";
import type { CellOutput } from "./outputs.js";

interface BaseCell {
  id: string;
  source: string;
  metadata: Record<string, unknown> & { tags?: string[] };
}

export interface CodeCell extends BaseCell {
  cell_type: "code";
  execution_count: number | null;
  outputs: CellOutput[];
}

export interface TextCell extends BaseCell {
  cell_type: "markdown" | "raw";
  attachments?: Record<string, Record<string, string>>;
}

export type NotebookCell = CodeCell | TextCell;

/** A notebook of nbformat 4.5; texts are whole strings. */
export interface Notebook {
  nbformat: 4;
  nbformat_minor: number;
  metadata: Record<string, unknown>;
  cells: NotebookCell[];
}

/**
 * Reads a notebook of nbformat 4, without its outputs. Cells that have no id get one.
 *
 * @throws ProbelabError where the file can't be read or is no such notebook
 */
export async function readNotebook(path: string): Promise<Notebook> {
  const parsed = parseNotebook(await readNotebookText(path), path);
  return {
    nbformat: 4,
    nbformat_minor: Math.max(5, parsed.nbformat_minor),
    metadata: parsed.metadata,
    cells: parsed.cells.map((cell, index) => withoutOutputs(cell, index)),
  };
}

/** Writes a notebook; a reader sees the old file or the new one, never a part. */
export async function writeNotebook(path: string, notebook: Notebook): Promise<void> {
  const cells = notebook.cells.map((cell) => ({
    ...cell,
    source: lines(cell.source),
    ...(cell.cell_type === "code" ? { outputs: cell.outputs.map(outputLines) } : {}),
  }));
  await writeWhole(path, `${JSON.stringify({ ...notebook, cells }, null, 1)}\n`);
}

async function readNotebookText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      ENOENT: "there is no such file. Check the path.",
      EISDIR: "it is a folder: name the .ipynb in it.",
      EACCES: "you may not read it. Change its permissions.",
    };
    const reason = reasons[code ?? ""] ?? `${message}.`;
    throw new ProbelabError(`Can't read the notebook ${path}: ${reason}`, { cause: error });
  }
}

interface RawNotebook {
  nbformat: 4;
  nbformat_minor: number;
  metadata: Record<string, unknown>;
  cells: (Omit<NotebookCell, "source" | "id"> & { source: string | string[]; id?: string })[];
}

function parseNotebook(text: string, path: string): RawNotebook {
  let parsed: Partial<RawNotebook> | null;
  try {
    parsed = JSON.parse(text) as Partial<RawNotebook> | null;
  } catch (error) {
    throw new ProbelabError(
      `Can't read the notebook ${path}: it is not a notebook (no JSON). Name an .ipynb file; one that was cut short has to be restored.`,
      { cause: error },
    );
  }
  if (parsed?.nbformat === 4 && Array.isArray(parsed.cells)) return parsed as RawNotebook;
  throw new ProbelabError(
    `Can't read the notebook ${path}: it is JSON, but not a notebook of nbformat 4. Name an .ipynb file; open one of an older format in Jupyter and save it anew.`,
  );
}

function withoutOutputs(cell: RawNotebook["cells"][number], index: number): NotebookCell {
  const source = Array.isArray(cell.source) ? cell.source.join("") : cell.source;
  const id =
    cell.id ?? createHash("sha256").update(`${index}\0${source}`).digest("hex").slice(0, 8);
  const rest = { ...cell, id, source, metadata: cell.metadata ?? {} };
  if (rest.cell_type !== "code") return rest as TextCell;
  return { ...rest, cell_type: "code", execution_count: null, outputs: [] };
}

/** nbformat keeps long texts as lists of lines, so that a change of one line is a change of one line. */
function lines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function outputLines(output: CellOutput): object {
  if (output.output_type === "stream") return { ...output, text: lines(output.text) };
  if (output.output_type === "error") return output;
  const data = Object.entries(output.data).map(([type, value]) => {
    const isText = typeof value === "string" && (type.startsWith("text/") || type.endsWith("+xml"));
    return [type, isText ? lines(value) : value] as const;
  });
  return { ...output, data: Object.fromEntries(data) };
}

/** Takes secrets out of what a cell printed: one may be in two pieces, or printed by another process. */
export function hideSecretsIn(cell: CodeCell): void {
  for (const output of cell.outputs) {
    if (output.output_type === "stream") output.text = hideSecrets(output.text);
  }
}

/** Characters that a notebook keeps of what its cells print in a run, and of one output as text. */
const mostPrintedOfRun = 5_000_000;
const mostText = 1_000_000;

/** Puts the outputs of a run's cells into a notebook, as a frontend does, but for what makes it too large. */
export class OutputCollector {
  readonly #displays = new Map<string, CellOutput>();
  #printed = 0;

  add(cell: CodeCell, output: CellOutput): void {
    if (output.output_type === "stream") return this.#print(cell, output.name, output.text);
    if (output.output_type === "error") return void cell.outputs.push(output);
    const data = withShortText(output.data);
    if (output.output_type === "execute_result") {
      const { execution_count } = cell;
      return void cell.outputs.push({ ...output, data, execution_count });
    }
    const { transient, update, ...added } = { ...output, data };
    const shown = this.#displays.get(transient?.display_id ?? "");
    if (update) return void (shown && Object.assign(shown, added));
    if (transient) this.#displays.set(transient.display_id, added);
    cell.outputs.push(added);
  }

  #print(cell: CodeCell, name: "stdout" | "stderr", text: string): void {
    if (this.#printed > mostPrintedOfRun) return;
    const last = cell.outputs.at(-1);
    const isSame = last?.output_type === "stream" && last.name === name;
    const before = isSame ? last.text : "";
    const all = overwritten(before, text);
    this.#printed += all.length - before.length;
    const kept = all.slice(0, mostPrintedOfRun - this.#printed + all.length);
    if (isSame) last.text = kept;
    else cell.outputs.push({ output_type: "stream", name, text: kept });
    if (this.#printed <= mostPrintedOfRun) return;
    const note = `\nThis run printed more than ${mostPrintedOfRun / 1_000_000} MB: the rest is left out, of later cells too.\n`;
    cell.outputs.push({ output_type: "stream", name: "stderr", text: note });
  }
}

function withShortText(data: Record<string, unknown>): Record<string, unknown> {
  const text = data["text/plain"];
  if (typeof text !== "string" || text.length <= mostText) return data;
  const note = `\nThis text is longer than ${mostText / 1_000_000} MB: the rest is left out.`;
  return { ...data, "text/plain": text.slice(0, mostText) + note };
}

/** Text as a terminal shows it: a carriage return goes back to the start of the line. */
function overwritten(before: string, added: string): string {
  if (!added.includes("\r")) return before + added;
  const lineStart = before.lastIndexOf("\n") + 1;
  const lines = (before.slice(lineStart) + added).replaceAll("\r\n", "\n").split("\n");
  const shown = lines.map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1));
  return before.slice(0, lineStart) + shown.join("\n");
}
