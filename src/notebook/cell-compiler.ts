import type TypeScript from "typescript";
import { ProbelabError } from "../base/error.js";
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
} from "./cell-declarations.js";
import type { TypeFault } from "./cell-error.js";
import { CellLanguage, ts } from "./cell-language.js";
import type { CellScripts } from "./cell-scripts.js";
import { runtimeName, transpile } from "./cell-transform.js";
import {
  isKnownGood,
  judgementOf,
  readJudgement,
  withColumns,
  writeJudgement,
  type Judgement,
} from "./judgement.js";

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

/** The cells of a headless notebook, compiled by the check before the run. */
interface Plan {
  readonly cells: readonly { readonly cell: NamedCode; readonly compiled: CompiledCell }[];
  /** Cells that were prepared so far. */
  prepared: number;
  /** Versions of the notebook's own files that the cells were compiled with, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** The one text that the cells were checked as; undefined where each was checked by itself. */
  readonly text: string | undefined;
  judgement: Judgement | undefined;
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
 * 0.06 s a cell. Where TypeScript objects to the one text, each cell is checked by itself.
 */
export class CellCompiler {
  readonly #language: CellLanguage;
  readonly #scripts: CellScripts;
  readonly #onFile: (path: string, code: string) => void;
  /** Versions of the notebook's own files that were compiled, by path. */
  readonly #files = new Map<string, string>();
  #declarations: readonly Declaration[] = [];
  #prepared: CompiledCell | undefined;
  #plan: Plan | undefined;

  /**
   * @param folder the notebook's
   * @param onFile receives the compiled code of a file beside the notebook whenever it has changed
   */
  constructor(folder: string, scripts: CellScripts, onFile: (path: string, code: string) => void) {
    this.#language = new CellLanguage(folder);
    this.#scripts = scripts;
    this.#onFile = onFile;
  }

  /** Compiles a cell without running it. @throws ProbelabError where TypeScript can't handle it */
  prepare(cell: NamedCode): CompiledCell {
    const plan = this.#plan;
    const planned = plan?.cells[plan.prepared];
    if (plan && planned?.cell.code === cell.code && this.#isUnchanged(plan.files)) {
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
      if (moduleName(cell.code) !== undefined) break;
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
    if (objections.length === 0) {
      const files = new Map(this.#files);
      this.#plan = { cells: planned, prepared: 0, files, text: undefined, judgement: undefined };
    }
    return objections;
  }

  /** Adds a cell with `@module NAME` in its comment as the module `./NAME`. @returns undefined for other cells */
  addModule({ code }: NamedCode): readonly TypeFault[] | undefined {
    const name = moduleName(code);
    if (name === undefined) return undefined;
    return this.#withRecovery(`Can't compile the module ${name}`, () => {
      const path = this.#language.pathOf(name);
      this.#scripts.addSource(path, code);
      return this.#tryText(path, code);
    });
  }

  /** Makes `types`, the text of a declaration file, known to all later cells in place of those before. */
  setColumnTypes(types: string): void {
    this.#withRecovery("Can't use the types of the tables' columns", () => {
      const path = this.#language.columns;
      const plan = this.#plan;
      if (plan?.text === undefined) {
        this.#plan = undefined;
        this.#tryText(path, types);
        return;
      }
      if (plan.judgement && isKnownGood(plan.judgement, types)) {
        this.#language.setText(path, types, true);
        return;
      }
      const before = this.#language.textOf(path);
      this.#language.setText(this.#language.cell, plan.text);
      if (this.#tryText(path, types).length > 0) return;
      if (this.#check(plan.text)) {
        if (!plan.judgement) return;
        plan.judgement = withColumns(plan.judgement, types);
        writeJudgement(plan.text, plan.judgement);
        return;
      }
      // The cells that ran are declared with the types that they were checked with.
      this.#language.setText(path, before, true);
      this.#leavePlan();
      this.#tryText(path, types);
    });
  }

  /** The signature and documentation at `position`. */
  inspect(code: string, position: number): TypeScript.QuickInfo | undefined {
    return this.#withRecovery("Can't inspect the cell", () => {
      const start = this.#show(code);
      return this.#language.service.getQuickInfoAtPosition(this.#language.cell, start + position);
    });
  }

  /** All names that TypeScript knows at `position`. */
  completions(code: string, position: number): readonly TypeScript.CompletionEntry[] {
    return this.#withRecovery("Can't complete the cell", () => {
      const start = this.#show(code);
      const { cell, service } = this.#language;
      return service.getCompletionsAtPosition(cell, start + position, {})?.entries ?? [];
    });
  }

  /** Reads the declarations that most cells need: the first program takes longest. */
  warmUp(): void {
    this.#language.setText(this.#language.cell, `import "probelab";`);
    this.#language.program().getGlobalDiagnostics();
  }

  /** Compiles all cells, if TypeScript accepts them as one text. */
  #acceptAsOneText(cells: readonly NamedCode[]): boolean {
    try {
      return this.#withRecovery("Can't compile the notebook", () => {
        const parsed = cells.map(({ code }) => parse(code));
        const text = cells.some(({ code }) => moduleName(code)) ? undefined : inOneText(parsed);
        if (text === undefined) return false;
        const known = readJudgement(text);
        const program = known ? undefined : this.#check(text);
        if (!known && !program) return false;
        const types = new Set(known ? known.types : program && this.#importedTypes(program));
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
        const files = program ? this.#versions(program) : new Map<string, string>();
        let judgement = known;
        // A notebook with source files of its own is checked each time: they are compiled along with it.
        if (program && files.size === 0) {
          judgement = judgementOf(types, this.#language.filesOf(program));
          writeJudgement(text, judgement);
        }
        this.#plan = { cells: compiled, prepared: 0, files, text, judgement };
        if (program) this.#emitFiles(program);
        return true;
      });
    } catch (error) {
      if (error instanceof ProbelabError) return false;
      throw error;
    }
  }

  /** The program of a text in the cell's place; undefined if TypeScript objects to it. */
  #check(text: string): TypeScript.Program | undefined {
    this.#language.setText(this.#language.cell, text);
    const program = this.#language.program();
    const files = [program.getSourceFile(this.#language.cell), ...this.#changedFiles(program)];
    const isFaulty = files.some((file) => file && this.#faults("", file, program, 0).length > 0);
    if (!isFaulty) return program;
    return this.#language.useAllOfNode() ? this.#check(text) : undefined;
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

  /** Adds a file in memory to all later programs; if it is faulty, its text before stays. */
  #tryText(path: string, text: string): readonly TypeFault[] {
    const before = this.#language.textOf(path);
    this.#language.setText(path, text, true);
    let isGood = false;
    try {
      const program = this.#language.program();
      const file = program.getSourceFile(path);
      const faults = file ? this.#faults(path, file, program, 0) : [];
      if (faults.length > 0 && this.#language.useAllOfNode()) return this.#tryText(path, text);
      isGood = faults.length === 0;
      return faults;
    } finally {
      if (!isGood) this.#language.setText(path, before, true);
    }
  }

  /** Puts `code` below the declarations of earlier cells. @returns where it starts */
  #show(code: string): number {
    // Completion needs all of Node's types.
    this.#language.useAllOfNode();
    const head = headOf(this.#declarations, topNames(parse(code).statements));
    this.#language.setText(this.#language.cell, head + code);
    return head.length;
  }

  #compile({ name, code }: NamedCode, earlier: readonly Declaration[]): CompiledCell {
    const { statements } = parse(code);
    const names = topNames(statements);
    const head = headOf(earlier, names);
    this.#language.setText(this.#language.cell, `${head}${code}${tailOf(statements)}`);
    const program = this.#language.program();
    const file = program.getSourceFile(this.#language.cell);
    if (!file) throw new Error("TypeScript lost the cell");

    const faults = this.#changedFiles(program).flatMap((changed) =>
      this.#faults(changed.fileName, changed, program, 0),
    );
    faults.push(...this.#faults(name, file, program, head.length, code.length));
    let dts = "";
    const emitted =
      faults.length === 0
        ? program.emit(file, (_path, written) => (dts = written), undefined, true)
        : undefined;
    for (const diagnostic of emitted?.diagnostics ?? []) {
      const fault = faultOf(diagnostic, name, head.length, code.length);
      if (fault) faults.push(fault);
    }
    if (faults.length > 0) {
      // It may need more of Node's types.
      if (this.#language.useAllOfNode()) return this.#compile({ name, code }, earlier);
      this.#scripts.addSource(name, code);
      return { script: "", namesToSet: [], faults, declarations: earlier };
    }
    this.#emitFiles(program);
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

  /** The versions of the notebook's own files in a program. */
  #versions(program: TypeScript.Program): Map<string, string> {
    const files = this.#language.ownFiles(program);
    return new Map(files.map(({ fileName: path }) => [path, this.#language.versionOf(path)]));
  }

  #isUnchanged(files: ReadonlyMap<string, string>): boolean {
    return [...files].every(([path, version]) => this.#language.versionOf(path) === version);
  }

  #faults(
    name: string,
    file: TypeScript.SourceFile,
    program: TypeScript.Program,
    start: number,
    length = file.text.length,
  ): TypeFault[] {
    const syntactic = program.getSyntacticDiagnostics(file);
    const diagnostics = syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(file);
    const isCell = file.fileName === this.#language.cell;
    return diagnostics
      .filter(({ code }) => !isCell || !TOP_AWAIT.has(code))
      .flatMap((diagnostic) => faultOf(diagnostic, name, start, length) ?? []);
  }

  #changedFiles(program: TypeScript.Program): TypeScript.SourceFile[] {
    return this.#language
      .ownFiles(program)
      .filter(({ fileName }) => this.#files.get(fileName) !== this.#language.versionOf(fileName));
  }

  #emitFiles(program: TypeScript.Program): void {
    for (const file of this.#changedFiles(program)) {
      const { js, map } = transpile(file.fileName, file.text);
      const path = file.fileName.replace(/\.([cm]?)tsx?$/, ".$1js");
      this.#files.set(file.fileName, this.#language.versionOf(file.fileName));
      this.#scripts.addFile(path, file.fileName, map);
      this.#onFile(path, js);
    }
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
      if (error instanceof RangeError) {
        throw new ProbelabError(
          `${action}: it is nested or chained more deeply than TypeScript can follow (some hundred levels). Name parts of it, one statement each, or build it in a loop.`,
        );
      }
      const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
      throw new ProbelabError(
        `${action}: TypeScript crashed (${reason}). Try splitting the cell into smaller statements.`,
        { cause: error },
      );
    }
  }
}

function actionOf({ name }: NamedCode): string {
  return `Can't compile ${name.replace("-", " ")}`;
}

/** The NAME in `@module NAME` of a cell's first doc comment, which makes the cell the module `./NAME`. */
function moduleName(code: string): string | undefined {
  return /^\s*(?:\/\/.*\n\s*)*\/\*\*(?:(?!\*\/)[^])*?@module\s+(\w+)(?:(?!\*\/)[^])*\*\//.exec(
    code,
  )?.[1];
}

function parse(code: string): TypeScript.SourceFile {
  return ts.createSourceFile("cell.ts", code, ts.ScriptTarget.Latest);
}

/** A diagnostic as a fault of the cell; undefined where it points outside of the cell's own text. */
function faultOf(
  { file, start = 0, length = 1, code, messageText }: TypeScript.Diagnostic,
  name: string,
  above: number,
  size: number,
): TypeFault | undefined {
  if (!file || start < above || start > above + size + 1) return undefined;
  const at = Math.min(start, above + size);
  const place = file.getLineAndCharacterOfPosition(at);
  const end = file.getLineAndCharacterOfPosition(Math.min(at + length, above + size));
  const details = (chain: readonly TypeScript.DiagnosticMessageChain[] = []): string[] =>
    chain.flatMap(({ messageText: text, next }) => [text, ...details(next)]);
  return {
    source: name,
    line: place.line + 1 - file.getLineAndCharacterOfPosition(above).line,
    column: place.character + 1,
    length: Math.max(1, end.line === place.line ? end.character - place.character : 1),
    code,
    text: typeof messageText === "string" ? messageText : messageText.messageText,
    details: typeof messageText === "string" ? [] : details(messageText.next),
  };
}
