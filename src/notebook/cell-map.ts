import { SourceMap, type SourceMapPayload } from "node:module";

/** A place in what the analyst wrote: a cell or a file that it imports; line and column count from 1. */
export interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** tslab puts `export {};` on a line of its own before each cell. */
const prefixLines = 1;
const cellFile = "__tslab__.ts";

/** Finds the line of a cell that a line of its compiled code came from. */
export class CellMap {
  readonly #label: string;
  readonly #toTypeScript: SourceMap;
  #toModule: SourceMap | undefined;

  /** @param payload the source map of the first step, TypeScript to an ES module */
  constructor(label: string, payload: SourceMapPayload) {
    this.#label = label;
    this.#toTypeScript = new SourceMap(payload);
  }

  /** @param payload the source map of the second step, the ES module to CommonJS */
  addStep(payload: SourceMapPayload): void {
    this.#toModule = new SourceMap(payload);
  }

  /** The place for a position in the ES module; both count from 0. */
  fromModule(line: number, column: number): SourcePlace | undefined {
    const entry = this.#toTypeScript.findEntry(line, column);
    if (!("originalLine" in entry)) return undefined;
    const isCell = entry.originalSource.endsWith(cellFile);
    return {
      source: isCell ? this.#label : entry.originalSource,
      line: entry.originalLine + 1 - prefixLines,
      column: entry.originalColumn + 1,
    };
  }

  /** The place for a position in the compiled code; both count from 0. */
  fromCompiled(line: number, column: number): SourcePlace | undefined {
    const entry = this.#toModule?.findEntry(line, column);
    if (!entry || !("originalLine" in entry)) return undefined;
    return this.fromModule(entry.originalLine, entry.originalColumn);
  }
}
