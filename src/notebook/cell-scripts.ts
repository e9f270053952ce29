import { readFileSync } from "node:fs";
import type { CellMap, SourcePlace } from "./cell-map.js";

interface Script {
  readonly map: CellMap;
  /** Lines that stand above the compiled code in what is run. */
  readonly linesAbove: number;
  /** Lines of the compiled code; what stands below it is no part of the cell. */
  readonly lines: number;
}

/** What was compiled in a session: finds the analyst's own line for a frame of a stack. */
export class CellScripts {
  readonly #scripts = new Map<string, Script>();
  readonly #sources = new Map<string, string>();

  addCell(name: string, source: string, compiled: string, map: CellMap | undefined): void {
    this.#sources.set(name, source);
    const lines = compiled.split("\n").length;
    if (map) this.#scripts.set(name, { map, linesAbove: 1, lines });
  }

  addFile(filename: string, map: CellMap): void {
    this.#scripts.set(filename, { map, linesAbove: 0, lines: Infinity });
  }

  /** The place in a cell, or in a file that it imports, of a frame; line and column count from 1. */
  find(file: string, line: number, column: number): SourcePlace | undefined {
    const script = this.#scripts.get(file);
    if (!script) return undefined;
    const compiledLine = line - 1 - script.linesAbove;
    if (compiledLine < 0 || compiledLine >= script.lines) return undefined;
    return script.map.fromCompiled(compiledLine, column - 1);
  }

  /** The text of a cell or a file, where it can be had. */
  source(name: string): string | undefined {
    const known = this.#sources.get(name);
    if (known !== undefined) return known;
    try {
      return readFileSync(name, "utf8");
    } catch {
      return undefined;
    }
  }
}
