import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import type { Compiled } from "./compile.js";

/** A place in a cell or in a file that it imports; line and column count from 1. */
export interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** The compiled code of a session: finds what the analyst wrote, the line of a frame of a stack and the text of a function. */
export class CellScripts {
  readonly #scripts = new Map<string, { source: string; compiled: Compiled }>();
  readonly #sources = new Map<string, string>();

  addCell(name: string, code: string, compiled: Compiled): void {
    this.addSource(name, code);
    this.addFile(name, name, compiled);
  }

  addSource(name: string, code: string): void {
    this.#sources.set(name, code);
  }

  /** Adds a file that cells import. @param name of its script in stacks */
  addFile(name: string, source: string, compiled: Compiled): void {
    this.#scripts.set(name, { source, compiled });
  }

  /** The place of a frame in a cell or in a file that it imports. */
  find(file: string, line: number, column: number): SourcePlace | undefined {
    const edited = this.#scripts.get(file)?.compiled.edited;
    // A line stands above it.
    if (!edited || line < 2) return undefined;
    const place = edited.positionOf({ line: line - 2, character: column - 1 });
    return this.findStripped(file, place.line + 1, place.character + 1);
  }

  /** The place of what stands there in the script's JavaScript before it was edited, such as an await. */
  findStripped(file: string, line: number, column: number): SourcePlace | undefined {
    const script = this.#scripts.get(file);
    if (!script) return undefined;
    const { source, compiled } = script;
    if (compiled.map === undefined) return { source, line, column };
    const map = new SourceMap(JSON.parse(compiled.map) as SourceMapPayload);
    const entry = map.findEntry(line - 1, column - 1);
    if (!("originalLine" in entry)) return undefined;
    return { source, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }

  /** The text of a function as it was written, without its types; undefined for one of another origin. */
  written(text: string): string | undefined {
    const newestFirst = [...this.#scripts.values()].reverse();
    for (const { compiled } of newestFirst) {
      const found = compiled.edited.written(text);
      if (found !== undefined) return found;
    }
    return undefined;
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
