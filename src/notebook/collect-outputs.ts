import type { CellOutput } from "./cell-output.js";
import type { CodeCell, NotebookOutput } from "./notebook-file.js";

type Display = Extract<NotebookOutput, { output_type: "display_data" }>;

/** Writes what cells put out into the cells of a notebook, as a frontend does. */
export class OutputCollector {
  readonly #displays = new Map<string, Set<Display>>();
  readonly #clearNext = new WeakSet<CodeCell>();

  add(cell: CodeCell, output: CellOutput): void {
    if (output.type === "clear") {
      if (output.wait) this.#clearNext.add(cell);
      else cell.outputs = [];
      return;
    }
    if (output.type === "display" && output.update) return this.#update(output);
    if (this.#clearNext.delete(cell)) cell.outputs = [];
    switch (output.type) {
      case "stream":
        return addStream(cell, output.name, output.text);
      case "display":
        return this.#display(cell, output);
      case "result":
        cell.outputs.push({
          output_type: "execute_result",
          ...output.bundle,
          execution_count: cell.execution_count,
        });
        return;
      case "error": {
        const { ename, evalue, traceback } = output.error;
        cell.outputs.push({ output_type: "error", ename, evalue, traceback: [...traceback] });
      }
    }
  }

  #display(cell: CodeCell, { bundle, displayId }: Extract<CellOutput, { type: "display" }>): void {
    const display: Display = { output_type: "display_data", ...bundle };
    cell.outputs.push(display);
    if (displayId === undefined) return;
    const same = this.#displays.get(displayId) ?? new Set();
    this.#displays.set(displayId, same.add(display));
  }

  #update({ bundle, displayId }: Extract<CellOutput, { type: "display" }>): void {
    for (const display of this.#displays.get(displayId ?? "") ?? []) {
      Object.assign(display, bundle);
    }
  }
}

function addStream(cell: CodeCell, name: "stdout" | "stderr", text: string): void {
  const last = cell.outputs.at(-1);
  if (last?.output_type === "stream" && last.name === name) {
    last.text = overwritten(last.text, text);
  } else {
    cell.outputs.push({ output_type: "stream", name, text: overwritten("", text) });
  }
}

/** Text as a terminal shows it: what follows a carriage return replaces the line before it. */
function overwritten(before: string, added: string): string {
  if (!added.includes("\r")) return before + added;
  const lineStart = before.lastIndexOf("\n") + 1;
  const lines = (before.slice(lineStart) + added).replaceAll("\r\n", "\n").split("\n");
  const shown = lines.map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1));
  return before.slice(0, lineStart) + shown.join("\n");
}
