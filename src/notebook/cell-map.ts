import { existsSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { resolve } from "node:path";

/** A place in what the analyst wrote: a cell or a file that it imports; line and column count from 1. */
export interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** tslab puts `export {};` on a line of its own before each cell, also before one that is a module. */
const prefixLines = 1;
/** Where tslab has TypeScript write to, in the working directory; there is no such folder. */
const outputFolder = "outDir";
const cellFile = "__tslab__.ts";

/** Finds the line of a cell that a line of its compiled code came from. */
export class CellMap {
  readonly #label: string;
  // As text, parsed when an error asks for it: a notebook has many cells and few errors.
  readonly #toTypeScript: string;
  #toModule: string | undefined;

  /** @param json the source map of the first step, TypeScript to an ES module */
  constructor(label: string, json: string) {
    this.#label = label;
    this.#toTypeScript = json;
  }

  /** @param json the source map of the second step, the ES module to CommonJS */
  addStep(json: string): void {
    this.#toModule = json;
  }

  /** The place for a position in the ES module; both count from 0. */
  fromModule(line: number, column: number): SourcePlace | undefined {
    const entry = parse(this.#toTypeScript).findEntry(line, column);
    if (!("originalLine" in entry)) return undefined;
    const isCell = entry.originalSource.endsWith(cellFile);
    const file = resolve(outputFolder, entry.originalSource);
    const hasPrefix = isCell || !existsSync(file);
    return {
      source: isCell ? this.#label : file,
      line: entry.originalLine + 1 - (hasPrefix ? prefixLines : 0),
      column: entry.originalColumn + 1,
    };
  }

  /** The place for a position in the compiled code; both count from 0. */
  fromCompiled(line: number, column: number): SourcePlace | undefined {
    const entry = this.#toModule && parse(this.#toModule).findEntry(line, column);
    if (!entry || !("originalLine" in entry)) return undefined;
    return this.fromModule(entry.originalLine, entry.originalColumn);
  }
}

let parsed: { json: string; map: SourceMap } | undefined;

/** Keeps the last one: a transformation asks for many places of one map. */
function parse(json: string): SourceMap {
  if (parsed?.json !== json) {
    parsed = { json, map: new SourceMap(JSON.parse(json) as SourceMapPayload) };
  }
  return parsed.map;
}
