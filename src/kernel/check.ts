import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ProbelabError } from "../base/error.js";
import { typeFault, TypeFaults, type TypeFault } from "./faults.js";
import { declarationOf, isRelative, sourceOf } from "./imports.js";
import { compileCell } from "./compile.js";
import { offsetOf, positionOf, type Position } from "./edited-text.js";
import {
  LanguageServer,
  ServerEnded,
  type CompletionItem,
  type Diagnostic,
} from "./language-server.js";
import { compilerPath } from "./mirror.js";
import { parse, TooDeepError, wordsIn, type Name, type Parsed } from "./parse.js";
import type { CellScripts } from "./scripts.js";

/** The code of a cell, and the name of the cell in tracebacks, such as `cell-3`. */
export interface NamedCode {
  readonly name: string;
  readonly code: string;
}

/** Why a cell isn't run: its type errors, or the reason why it can't be compiled at all. */
interface CellObjection {
  readonly index: number;
  readonly objection: TypeFaults | ProbelabError;
}

/** A cell that is ready to run. */
export interface CompiledCell {
  /** A script that passes the cell's code to its session. */
  readonly script: string;
  /** What it imports from. */
  readonly imports: readonly string[];
}

/** Completions, and the part of the code that one of them replaces. */
export interface Completions {
  readonly items: readonly CompletionItem[];
  readonly start: number;
  readonly end: number;
}

/** A name that a cell declares for later cells. */
interface Declaration extends Pick<Name, "name" | "kind"> {
  /** The module that declares it, such as `cell-3`: modules have numbers of their own, not those of the cells. */
  readonly moduleName: string;
}

type Declarations = ReadonlyMap<string, Declaration>;

/** A cell as a module. */
interface CellModule extends NamedCode {
  readonly moduleName: string;
  readonly parsed: Parsed;
  /** What TypeScript reads: the cell below one line, and its exports below it. */
  readonly text: string;
  /** The declarations of earlier cells that it mentions, and all that follow it. */
  readonly used: readonly Declaration[];
  readonly after: Declarations;
}

/** TypeScript's "Cannot find module …". */
const MODULE_NOT_FOUND = 2307;

/**
 * Compiles cells. For TypeScript each is a module that imports what it takes from earlier cells, so that one
 * program holds a whole notebook; their JavaScript is a script each.
 */
export class CellCompiler {
  readonly #server: LanguageServer;
  readonly #folder: string;
  readonly #scripts: CellScripts;
  /** The texts of files beside the notebook that were checked, by path. */
  readonly #checked = new Map<string, string>();
  /** The names of the modules that a module takes names from, by its own. */
  readonly #uses = new Map<string, readonly string[]>();
  #declarations: Declarations = new Map();
  #modules = 0;
  #prepared: CellModule | undefined;
  /** The cells of a headless notebook that TypeScript accepts with the column types of now. */
  #accepted: readonly CellModule[] = [];

  /** @param folder the notebook's */
  constructor(folder: string, scripts: CellScripts) {
    this.#folder = folder;
    this.#server = new LanguageServer(folder);
    this.#scripts = scripts;
  }

  /** Starts TypeScript beside this process. */
  start(): void {
    try {
      this.#server.start();
    } catch {
      // The first cell says why.
    }
  }

  /** Ends what TypeScript works on. */
  stop(): void {
    this.#server.stop(new Error("the cell was interrupted"));
  }

  /**
   * Compiles a cell without running it.
   *
   * @throws TypeFaults for a cell that TypeScript objects to, ProbelabError where it can't handle it
   */
  async prepare(cell: NamedCode): Promise<CompiledCell> {
    this.#prepared = undefined;
    const module = this.#moduleOf(cell, this.#modules + 1, this.#declarations);
    const isAccepted = this.#accepted.some(
      ({ moduleName, text }) => moduleName === module.moduleName && text === module.text,
    );
    const faults = isAccepted ? [] : await this.#faultsOf(module);
    if (faults.length > 0) {
      this.#scripts.addSource(cell.name, cell.code);
      throw new TypeFaults(faults);
    }
    const compiled = attempt(cell, () =>
      compileCell(
        cell.name,
        module.parsed,
        module.used.map(({ name }) => name),
      ),
    );
    this.#scripts.addCell(cell.name, cell.code, compiled);
    this.#prepared = module;
    return { script: compiled.script, imports: module.parsed.imports };
  }

  /** Makes the declarations of the prepared cell known to later cells, without variables that have no value. */
  commit(hasValue: (name: string) => boolean): void {
    const cell = this.#prepared;
    if (!cell) return;
    const { names } = cell.parsed;
    const isMissing = (name: string) => names.get(name)?.isValue === true && !hasValue(name);
    const kept = [...cell.after].filter(([name]) => !isMissing(name));
    const before = [...this.#declarations].filter(([name]) => isMissing(name));
    this.#declarations = new Map([...kept, ...before]);
    this.#uses.set(
      cell.moduleName,
      cell.used.map(({ moduleName }) => moduleName),
    );
    // The next cell takes the place of one that declares nothing.
    if (names.size > 0) this.#modules++;
    this.#closeUnused();
  }

  /**
   * The objections to the cells of a headless notebook, each as if those before it had run. Ends at a cell that
   * can't be checked yet (an earlier cell may write the module that it imports) and after one that can't be
   * compiled.
   */
  async check(cells: readonly NamedCode[]): Promise<CellObjection[]> {
    const modules: CellModule[] = [];
    const objections: CellObjection[] = [];
    let number = this.#modules;
    try {
      for (const cell of cells) {
        const declared = modules.at(-1)?.after ?? this.#declarations;
        const module = this.#moduleOf(cell, number + 1, declared);
        modules.push(module);
        if (module.parsed.names.size > 0) number++;
      }
    } catch (error) {
      if (!(error instanceof ProbelabError)) throw error;
      objections.push({ index: modules.length, objection: error });
    }
    for (const { moduleName, text } of modules)
      this.#server.setText(this.#pathOf(moduleName), text);
    for (const [index, module] of modules.entries()) {
      try {
        const faults = await this.#faultsOf(module);
        if (faults.some(({ code }) => code === MODULE_NOT_FOUND)) return objections;
        if (faults.length === 0) continue;
        this.#scripts.addSource(module.name, module.code);
        objections.push({ index, objection: new TypeFaults(faults) });
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        return [...objections, { index, objection: error }];
      }
    }
    objections.sort((a, b) => a.index - b.index);
    if (objections.length === 0) this.#accepted = modules;
    return objections;
  }

  /** Makes `types`, the text of a declaration file, known to all later cells in place of those before. */
  setColumnTypes(types: string): void {
    this.#server.setText(this.#server.pathOf("columns.d.ts"), types);
    this.#accepted = [];
  }

  /** The signature and documentation at `position`, in Markdown. */
  async inspect(code: string, position: number): Promise<string | undefined> {
    return this.#retried("Can't inspect the cell", () => {
      const { path, at } = this.#openTyped(code);
      return this.#server.hover(path, at(position));
    });
  }

  /** TypeScript's completions at `position`, and the part of the text that they replace. */
  async completions(code: string, position: number): Promise<Completions> {
    const { items, range } = await this.#retried("Can't complete the cell", () => {
      const { path, at } = this.#openTyped(code);
      return this.#server.completions(path, at(position));
    });
    const word = /[\w$]*$/.exec(code.slice(0, position))?.[0].length ?? 0;
    const offset = ({ line, character }: Position) => offsetOf(code, { line: line - 1, character });
    return range
      ? { items, start: offset(range.start), end: offset(range.end) }
      : { items, start: position - word, end: position };
  }

  /** The names that cells declare as variables. */
  variables(): string[] {
    const declared = [...this.#declarations.values()];
    return declared.filter(({ kind }) => kind !== "other").map(({ name }) => name);
  }

  /** Makes a module of a cell. */
  #moduleOf(cell: NamedCode, number: number, declared: Declarations): CellModule {
    const moduleName = `cell-${number}`;
    const parsed = attempt(cell, () => parse("cell.ts", cell.code));
    const words = wordsIn(cell.code);
    const used = [...declared.values()].filter(
      ({ name }) => words.has(name) && !parsed.names.has(name),
    );
    // Below a fault of syntax another statement would be a second one.
    const text = `${headOf(used)}${parsed.code}${parsed.error ? "" : tailOf(parsed)}`;
    const declares = [...parsed.names.values()].map(
      ({ name, kind }) => [name, { name, moduleName, kind }] as const,
    );
    const after = new Map([...declared, ...declares]);
    return { ...cell, moduleName, parsed, text, used, after };
  }

  #pathOf(moduleName: string): string {
    return this.#server.pathOf(`${moduleName}.ts`);
  }

  /** Opens code that is being typed below the declarations of earlier cells. */
  #openTyped(code: string): { path: string; at: (position: number) => Position } {
    const path = this.#server.pathOf("cell.ts");
    this.#server.setText(path, headOf([...this.#declarations.values()]) + code);
    const at = (position: number) => {
      const { line, character } = positionOf(code, position);
      return { line: line + 1, character };
    };
    return { path, at };
  }

  /** TypeScript's objections to a cell, and to the files that it imports. */
  async #faultsOf(cell: CellModule): Promise<readonly TypeFault[]> {
    const path = this.#pathOf(cell.moduleName);
    return this.#retried(actionOf(cell), async () => {
      this.#server.setText(path, cell.text);
      const files = this.#openFiles(cell.parsed.imports, this.#folder, new Set());
      let diagnostics = await this.#server.diagnostics(path);
      const missing = diagnostics.filter(({ code }) => code === MODULE_NOT_FOUND);
      if (missing.length > 0) {
        this.#server.packagesChanged(
          missing.flatMap(({ message }) => /'([^'./][^']*)'/.exec(message)?.[1] ?? []),
        );
        diagnostics = await this.#server.diagnostics(path);
      }
      const faults: TypeFault[] = [];
      for (const [file, { text, document }] of files) {
        if (this.#checked.get(file) === text) continue;
        const inFile = await this.#server.diagnostics(document);
        if (inFile.length === 0) this.#checked.set(file, text);
        faults.push(...inFile.map((each) => typeFault(each, file, text, 0)));
      }
      const { error } = cell.parsed;
      const lines = cell.code.split("\n").length;
      const sound = error ? syntaxAlone(diagnostics) : diagnostics;
      const inCell = sound.filter(({ range: { start } }) => start.line > 0 && start.line <= lines);
      faults.push(...inCell.map((each) => typeFault(each, cell.name, cell.code, 1)));
      if (faults.length === 0 && error) {
        const start = positionOf(cell.code, error.at);
        faults.push(
          typeFault(
            { range: { start, end: start }, code: 1005, message: `${error.text}.` },
            cell.name,
            cell.code,
            0,
          ),
        );
      }
      return faults;
    });
  }

  /** Opens the source files that `imports` name, and those that they import. @returns their texts by path */
  #openFiles(
    imports: readonly string[],
    folder: string,
    seen: Set<string>,
  ): Map<string, { text: string; document: string }> {
    const files = new Map<string, { text: string; document: string }>();
    for (const specifier of imports) {
      if (!isRelative(specifier)) continue;
      const path = declarationOf(specifier, folder) ?? sourceOf(specifier, folder);
      if (path === undefined || seen.has(path)) continue;
      seen.add(path);
      const text = readSource(path);
      const document = this.#server.mirrored(path);
      this.#server.setText(document, text);
      if (!path.endsWith(".d.ts")) files.set(path, { text, document });
      const inner = attempt({ name: path }, () => parse(path, text)).imports;
      for (const [each, file] of this.#openFiles(inner, dirname(path), seen)) files.set(each, file);
    }
    return files;
  }

  /** Closes the cells whose names were all declared anew and that no other cell takes types from. */
  #closeUnused(): void {
    const kept = new Set<string>();
    const keep = (moduleName: string): void => {
      if (kept.has(moduleName)) return;
      kept.add(moduleName);
      this.#uses.get(moduleName)?.forEach(keep);
    };
    for (const { moduleName } of this.#declarations.values()) keep(moduleName);
    for (const moduleName of [...this.#uses.keys()]) {
      if (kept.has(moduleName)) continue;
      this.#uses.delete(moduleName);
      if (moduleName !== `cell-${this.#modules + 1}`) this.#server.close(this.#pathOf(moduleName));
    }
  }

  /**
   * Runs `work`, a second time where the server ends before it answers.
   *
   * @throws ProbelabError where it ends again
   */
  async #retried<T>(action: string, work: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ServerEnded)) throw error;
        this.#server.stop();
        if (attempts === 1 && !error.isLate) continue;
        const what = error.isLate
          ? "worked on it for more than a minute"
          : "ended twice while it read it";
        throw new ProbelabError(
          `${action}: TypeScript ${what}. It is started again with the next cell: split this one into smaller statements. If every cell fails, see what this prints: ${compilerPath()} --version.`,
          { cause: error },
        );
      }
    }
  }
}

/** True for a cell that is whole, false for one that goes on, undefined where no more text would mend it. */
export function isComplete(code: string): boolean | undefined {
  const { error } = attempt({ name: "the cell" }, () => parse("cell.ts", code));
  if (!error) return true;
  const isAtEnd = error.at >= code.trimEnd().length;
  const isOpen = /^Unterminated/.test(error.text) && /^(`|}|\/\*)/.test(code.slice(error.at));
  return isAtEnd || isOpen ? false : undefined;
}

/** Errors of syntax alone where there are some: what follows from them says nothing. */
function syntaxAlone(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const syntax = all.filter(({ code }) => code >= 1000 && code < 1500);
  return syntax.length > 0 ? syntax : all;
}

function actionOf({ name }: { readonly name: string }): string {
  return `Can't compile ${name.replace("-", " ")}`;
}

function attempt<T>(cell: { readonly name: string }, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TooDeepError || error instanceof RangeError) {
      throw new ProbelabError(
        `${actionOf(cell)}: it is nested or chained more deeply than TypeScript can follow (some hundred levels). Name parts of it, one statement each, or build it in a loop.`,
        { cause: error },
      );
    }
    if (!(error instanceof SyntaxError)) throw error;
    throw new ProbelabError(`${actionOf(cell)}: ${error.message}.`, { cause: error });
  }
}

function readSource(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ProbelabError(
      `Can't import ${path}: ${(error as Error).message}. Let its owner make it readable, or leave the import out.`,
      { cause: error },
    );
  }
}

/** A line above a cell that takes the names of earlier cells from their modules, for TypeScript to check. */
function headOf(earlier: readonly Declaration[]): string {
  const lines = earlier.map(({ name, moduleName, kind }) =>
    kind === "other"
      ? `import { ${name} } from "./${moduleName}";`
      : `declare ${kind} ${name}: typeof import("./${moduleName}").${name};`,
  );
  return `export {};${lines.join("")}\n`;
}

/** The text below a cell: exports all names that it declares. */
function tailOf({ names }: Parsed): string {
  const hidden = [...names.values()]
    .filter(({ isExported }) => !isExported)
    .map(({ name }) => name);
  return `\nexport { ${hidden.join(", ")} };\n`;
}
