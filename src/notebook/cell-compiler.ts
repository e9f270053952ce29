import type TypeScript from "typescript";
import { ProbelabError } from "../base/error.js";
import { readAccepted, writeAccepted } from "./accepted.js";
import type { CellScripts } from "./cell-error.js";
import { CellLanguage, ts } from "./cell-language.js";
import {
  declarationsOf,
  headOf,
  importsOf,
  inOneText,
  mentions,
  tailOf,
  topNames,
  untyped,
  type Declaration,
} from "./cell-text.js";
import { runtimeName, transpile } from "./cell-transform.js";
import { typeFault, type TypeFault } from "./type-fault.js";

/** The code of a cell, and the name of the cell in tracebacks, such as `cell-3`. */
export interface NamedCode {
  readonly name: string;
  readonly code: string;
}

/** Type errors of a cell, or the reason why it can't be compiled at all. */
export type CellObjection = readonly TypeFault[] | ProbelabError;

/** A cell that is ready to run. */
export interface CompiledCell {
  readonly faults: readonly TypeFault[];
  /** A script that passes the cell's code to `CellRuntime.run`. */
  readonly script: string;
  /** Names that the cell declares and sets only while it runs. */
  readonly namesToSet: readonly string[];
  /** The declarations after this cell; undefined for a cell of a notebook that was checked as one text. */
  readonly declarations: readonly Declaration[] | undefined;
}

/** Completions, and the part of the code that one of them replaces. */
export interface Completions {
  readonly entries: readonly TypeScript.CompletionEntry[];
  readonly start: number;
  readonly end: number;
}

/** The cells of a headless notebook, compiled by the check before the run. */
interface Plan {
  readonly cells: readonly { readonly cell: NamedCode; readonly compiled: CompiledCell }[];
  /** Cells that were prepared so far. */
  prepared: number;
  /** The one text that the cells were checked as; undefined where each was checked by itself. */
  readonly text: string | undefined;
}

/** TypeScript's "Cannot find module …". */
const MODULE_NOT_FOUND = 2307;

/** Its objections to `await`, `for await` and `await using` at the top: a cell runs in an async function. */
const TOP_AWAIT = new Set([1378, 1432, 2854]);

const INITIALISED = /^((?:exports\.[\w$]+ = )+)void 0;$/m;

/**
 * Compiles cells. Above the text of a cell stand the declarations of earlier cells, below it its own names
 * are exported, and TypeScript makes one CommonJS module of it, whose `exports` all cells share.
 *
 * The cells of a headless notebook are checked as one text: one program instead of one per cell, which saves
 * 0.6 s of seven cells. Where TypeScript objects to the one text, each cell is checked by itself.
 */
export class CellCompiler {
  readonly #language: CellLanguage;
  readonly #scripts: CellScripts;
  /** Versions of the files beside the notebook that were checked, by path. */
  readonly #checked = new Map<string, string>();
  #declarations: readonly Declaration[] = [];
  #prepared: CompiledCell | undefined;
  #plan: Plan | undefined;

  /** @param folder the notebook's */
  constructor(folder: string, scripts: CellScripts) {
    this.#language = new CellLanguage(folder);
    this.#scripts = scripts;
  }

  /** Compiles a cell without running it. @throws ProbelabError where TypeScript can't handle it */
  prepare(cell: NamedCode): CompiledCell {
    const plan = this.#plan;
    const planned = plan?.cells[plan.prepared];
    if (plan && planned?.cell.code === cell.code) {
      plan.prepared++;
      this.#prepared = planned.compiled;
    } else {
      this.#leavePlan();
      this.#prepared = this.#withRecovery(actionOf(cell), () =>
        this.#compile(cell, this.#declarations),
      );
    }
    return this.#prepared;
  }

  /** Makes the declarations of the prepared cell known to later cells, without the names in `missing`. */
  commit(missing: ReadonlySet<string>): void {
    const after = this.#prepared?.declarations;
    if (!after) return;
    this.#declarations = [
      ...this.#declarations.filter(({ name }) => missing.has(name)),
      ...after.filter(({ name }) => !missing.has(name)),
    ];
  }

  /**
   * The objections to `cells`, each as if those before it had run. Skips a cell that uses a name of a cell
   * with an objection. Ends at a cell that can't be checked yet (an earlier cell may write the module that it
   * imports) and after one that can't be compiled.
   */
  check(cells: readonly NamedCode[]): { index: number; objection: CellObjection }[] {
    if (this.#acceptAsOneText(cells)) return [];
    const objections: { index: number; objection: CellObjection }[] = [];
    const planned: Plan["cells"][number][] = [];
    const unknown = new Set<string>();
    let declarations: readonly Declaration[] = [];
    for (const [index, cell] of cells.entries()) {
      try {
        const file = this.#withRecovery(actionOf(cell), () => parse(cell.code));
        if (unknown.size === 0 || !mentions(file).some((name) => unknown.has(name))) {
          const compiled = this.#withRecovery(actionOf(cell), () =>
            this.#compile(cell, declarations),
          );
          if (compiled.faults.some(({ code }) => code === MODULE_NOT_FOUND)) break;
          declarations = compiled.declarations ?? declarations;
          planned.push({ cell, compiled });
          if (compiled.faults.length === 0) continue;
          objections.push({ index, objection: compiled.faults });
        }
        for (const name of topNames(file.statements)) unknown.add(name);
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        objections.push({ index, objection: error });
        break;
      }
    }
    if (objections.length === 0) this.#plan = { cells: planned, prepared: 0, text: undefined };
    return objections;
  }

  /** Makes `types`, the text of a declaration file, known to all later cells in place of those before. */
  setColumnTypes(types: string): void {
    const language = this.#language;
    const before = language.columnTypes;
    language.columnTypes = types;
    const text = this.#plan?.text;
    if (text !== undefined) {
      if (this.#withRecovery("Can't use the columns' types", () => this.#accept(text))) return;
      // The cells that ran are declared with the types that they were checked with.
      language.columnTypes = before;
      this.#leavePlan();
      language.columnTypes = types;
    }
    this.#plan = undefined;
  }

  /** The signature and documentation at `position`. */
  inspect(code: string, position: number): TypeScript.QuickInfo | undefined {
    return this.#withRecovery("Can't inspect the cell", () => {
      const start = this.#show(code);
      return this.#language.service.getQuickInfoAtPosition(this.#language.cell, start + position);
    });
  }

  /** TypeScript's completions at `position`, and the part of the text that they replace. */
  completions(code: string, position: number): Completions {
    return this.#withRecovery("Can't complete the cell", () => {
      const above = this.#show(code);
      const { cell, service } = this.#language;
      const found = service.getCompletionsAtPosition(cell, above + position, {});
      const word = /[\w$]*$/.exec(code.slice(0, position))?.[0].length ?? 0;
      const span = found?.optionalReplacementSpan;
      const start = span ? span.start - above : position - word;
      const end = span ? start + span.length : position;
      return { entries: found?.entries ?? [], start, end };
    });
  }

  /** Reads the declarations that most cells need: the first program takes longest. */
  warmUp(): void {
    this.#language.setCell(`import "probelab";`);
    this.#language.program().getGlobalDiagnostics();
  }

  /** Compiles all cells, if TypeScript accepts them as one text. */
  #acceptAsOneText(cells: readonly NamedCode[]): boolean {
    try {
      return this.#withRecovery("Can't compile the notebook", () => {
        const parsed = cells.map(({ code }) => parse(code));
        const text = inOneText(parsed);
        const types = text === undefined ? undefined : this.#accept(text);
        if (!types) return false;
        let earlier: readonly Declaration[] = [];
        const compiled = cells.map((cell, index) => {
          const statements = parsed[index]?.statements ?? [];
          const script = this.#transpiled(cell, statements, earlier, types);
          const imports = importsOf(statements);
          const variables = [...topNames(statements)]
            .filter((name) => imports.every((imported) => imported.name !== name))
            .map((name) => ({ name, text: "" }));
          earlier = [...earlier, ...imports, ...variables];
          return { cell, compiled: { ...script, declarations: undefined } };
        });
        this.#plan = { cells: compiled, prepared: 0, text };
        return true;
      });
    } catch (error) {
      if (error instanceof ProbelabError) return false;
      throw error;
    }
  }

  /** The names that a text imports and that are only types; undefined if TypeScript objects to the text. */
  #accept(text: string): ReadonlySet<string> | undefined {
    const key = `${this.#language.columnTypes}\0${text}`;
    const known = readAccepted(key);
    if (known) return known;
    this.#language.setCell(text);
    const program = this.#language.program();
    const cell = program.getSourceFile(this.#language.cell);
    if (
      this.#fileFaults(program).length > 0 ||
      (cell && this.#faults("", cell, program).length > 0)
    ) {
      return this.#language.useAllOfNode() ? this.#accept(text) : undefined;
    }
    const types = this.#importedTypes(program);
    writeAccepted(key, types, this.#language.filesOf(program));
    return types;
  }

  /** Compiles each cell by itself from now on; those of one text that were prepared are declared. */
  #leavePlan(): void {
    const plan = this.#plan;
    this.#plan = undefined;
    if (plan?.text === undefined) return;
    for (const { cell } of plan.cells.slice(0, plan.prepared)) {
      this.prepare(cell);
      this.commit(new Set());
    }
  }

  /** Puts `code` below the declarations of earlier cells. @returns where it starts */
  #show(code: string): number {
    // Completion needs all of Node's types.
    this.#language.useAllOfNode();
    const head = headOf(this.#declarations, topNames(parse(code).statements));
    this.#language.setCell(head + code);
    return head.length;
  }

  #compile({ name, code }: NamedCode, earlier: readonly Declaration[]): CompiledCell {
    const { statements } = parse(code);
    const names = topNames(statements);
    const head = headOf(earlier, names);
    this.#language.setCell(`${head}${code}${tailOf(statements)}`);
    const program = this.#language.program();
    const file = program.getSourceFile(this.#language.cell);
    if (!file) throw new Error("TypeScript lost the cell");
    const faults = [
      ...this.#fileFaults(program),
      ...this.#faults(name, file, program, head.length, code.length),
    ];
    if (faults.length > 0) {
      // It may need more of Node's types.
      if (this.#language.useAllOfNode()) return this.#compile({ name, code }, earlier);
      this.#scripts.addSource(name, code);
      return { script: "", namesToSet: [], faults, declarations: earlier };
    }
    let dts = "";
    const { emitSkipped } = program.emit(file, (_path, text) => (dts = text), undefined, true);
    // Forced: a variable whose type has no name outside of its package is declared as `any`.
    if (emitSkipped) {
      const forced = this.#language.service.getEmitOutput(file.fileName, true, true);
      dts = forced.outputFiles[0]?.text ?? "";
    }
    const types = this.#importedTypes(program);
    const compiled = this.#transpiled({ name, code }, statements, earlier, types);
    const declarations = [
      ...earlier.filter((declaration) => !names.has(declaration.name)),
      ...importsOf(statements),
      ...declarationsOf(dts, names),
    ];
    return { ...compiled, declarations };
  }

  /** The JavaScript of a cell that TypeScript accepts. */
  #transpiled(
    { name, code }: NamedCode,
    statements: readonly TypeScript.Statement[],
    earlier: readonly Declaration[],
    types: ReadonlySet<string>,
  ): Omit<CompiledCell, "declarations"> {
    const head = headOf(earlier.map(untyped), topNames(statements));
    const text = head + code + tailOf(statements, types);
    const { js, map, isSound } = transpile(name, text, head.length);
    if (!isSound) throw new ProbelabError(`Can't compile ${name}: it has a syntax error.`);
    const compiled = js.replace(INITIALISED, "");
    this.#scripts.addCell(name, code, compiled, map, head.split("\n").length - 1);
    const namesToSet = (INITIALISED.exec(js)?.[1] ?? "").match(/(?<=exports\.)[\w$]+/g) ?? [];
    const script = `${runtimeName}.run(async (exports, require) => {\n${compiled}\n});`;
    return { faults: [], script, namesToSet };
  }

  /** Names that the cell's text imports and that are only types: they don't exist at run time. */
  #importedTypes(program: TypeScript.Program): Set<string> {
    const checker = program.getTypeChecker();
    const imports = program
      .getSourceFile(this.#language.cell)
      ?.statements.filter(ts.isImportDeclaration);
    const names = (imports ?? []).flatMap(({ importClause }) => {
      const named = importClause?.namedBindings;
      const elements = named && ts.isNamedImports(named) ? named.elements : [];
      return [importClause?.name, ...elements.map(({ name }) => name)].filter((name) => !!name);
    });
    const isType = (name: TypeScript.Identifier) => {
      const symbol = checker.getSymbolAtLocation(name);
      return symbol && (checker.getAliasedSymbol(symbol).flags & ts.SymbolFlags.Value) === 0;
    };
    return new Set(names.filter(isType).map(({ text }) => text));
  }

  /** The faults of files beside the notebook that are new or have changed. */
  #fileFaults(program: TypeScript.Program): TypeFault[] {
    return this.#language.ownFiles(program).flatMap((file) => {
      const version = this.#language.versionOf(file.fileName);
      if (this.#checked.get(file.fileName) === version) return [];
      const faults = this.#faults(file.fileName, file, program);
      if (faults.length === 0) this.#checked.set(file.fileName, version);
      return faults;
    });
  }

  #faults(
    name: string,
    file: TypeScript.SourceFile,
    program: TypeScript.Program,
    start = 0,
    length = file.text.length,
  ): TypeFault[] {
    const syntactic = program.getSyntacticDiagnostics(file);
    const diagnostics = syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(file);
    const isCell = file.fileName === this.#language.cell;
    return diagnostics
      .filter(({ code }) => !isCell || !TOP_AWAIT.has(code))
      .flatMap((diagnostic) => typeFault(diagnostic, name, start, length) ?? []);
  }

  /**
   * Runs `work`, a second time with a new service if TypeScript throws: it does on code that is nested too
   * deeply, and sometimes where a program omits a package of which the one before had two copies.
   *
   * @throws ProbelabError where it throws again
   */
  #withRecovery<T>(action: string, work: () => T, isRetry = false): T {
    try {
      return work();
    } catch (error) {
      this.#language.restart();
      if (error instanceof ProbelabError) throw error;
      if (!isRetry && !(error instanceof RangeError)) return this.#withRecovery(action, work, true);
      const reason =
        error instanceof RangeError
          ? "it is nested or chained more deeply than TypeScript can follow (some hundred levels). Name parts of it, one statement each, or build it in a loop."
          : `TypeScript crashed (${String(error).split("\n")[0]}). Try splitting the cell into smaller statements.`;
      throw new ProbelabError(`${action}: ${reason}`, { cause: error });
    }
  }
}

function actionOf({ name }: NamedCode): string {
  return `Can't compile ${name.replace("-", " ")}`;
}

function parse(code: string): TypeScript.SourceFile {
  return ts.createSourceFile("cell.ts", code, ts.ScriptTarget.Latest);
}
