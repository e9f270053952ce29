import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";

/** A place in a cell or in a file that it imports; line and column count from 1. */
export interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

interface Script {
  /** JSON, parsed only for an error: a notebook has many cells and few errors. */
  readonly map: string;
  readonly source: string;
  /** Lines above the compiled code in the script, and above the source in the text that was compiled. */
  readonly above: { readonly compiled: number; readonly source: number };
  /** Lines of the compiled code. */
  readonly lines: number;
}

/** The compiled code of a session: finds the analyst's own line for a frame of a stack. */
export class CellScripts {
  readonly #scripts = new Map<string, Script>();
  readonly #sources = new Map<string, string>();

  /** @param linesAbove lines of declarations above the cell in the text that was compiled */
  addCell(name: string, code: string, compiled: string, map: string, linesAbove: number): void {
    this.addSource(name, code);
    const lines = compiled.split("\n").length;
    const above = { compiled: 1, source: linesAbove };
    this.#scripts.set(name, { map, source: name, above, lines });
  }

  addSource(name: string, code: string): void {
    this.#sources.set(name, code);
  }

  /** Adds a file that cells import. @param compiled its name in stacks */
  addFile(compiled: string, source: string, map: string): void {
    const above = { compiled: 0, source: 0 };
    this.#scripts.set(compiled, { map, source, above, lines: Infinity });
  }

  /** The place of a frame in a cell or in a file that it imports. */
  find(file: string, line: number, column: number): SourcePlace | undefined {
    const script = this.#scripts.get(file);
    if (!script) return undefined;
    const compiledLine = line - 1 - script.above.compiled;
    if (compiledLine < 0 || compiledLine >= script.lines) return undefined;
    const map = new SourceMap(JSON.parse(script.map) as SourceMapPayload);
    const entry = map.findEntry(compiledLine, column - 1);
    if (!("originalLine" in entry) || entry.originalLine < script.above.source) return undefined;
    return {
      source: script.source,
      line: entry.originalLine + 1 - script.above.source,
      column: entry.originalColumn + 1,
    };
  }

  /** The text of a cell or a file; undefined where it can't be read. */
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
