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
import { CellLanguage } from "./cell-language.js";
import type { CellScripts } from "./cell-scripts.js";
import { runtimeName, transpile } from "./cell-transform.js";
import {
  hashOf,
  judgementOf,
  readJudgement,
  withColumns,
  writeJudgement,
  type Judgement,
} from "./judgement.js";
import { ts } from "./typescript.js";
import type { NamedCode } from "./worker-messages.js";

/** TypeScript's objection to a line of a cell or of a file that it imports; line and column count from 1. */
export interface TypeFault {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly code: number;
  readonly text: string;
  /** Why, from the outside in. */
  readonly details: readonly string[];
}

/** What stands against running a cell: type errors, or why it can't be compiled at all. */
export type CellObjection = readonly TypeFault[] | ProbelabError;

/** A cell as it will run. */
export interface CompiledCell {
  readonly faults: readonly TypeFault[];
  /** A script that hands the cell's code to `CellRuntime.run`. */
  readonly script: string;
  /** Names that the cell declares and that its code has yet to set when it begins. */
  readonly namesToSet: readonly string[];
}

interface Compilation extends CompiledCell {
  readonly name: string;
  /** Names that it imports and that are types alone. */
  readonly types: ReadonlySet<string>;
  /** Versions of the notebook's own files that it was compiled with, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** Which of the texts in memory it was judged by. */
  readonly judgedBy: number;
  /** What later cells know after this one: what they knew before it, and what it declares. */
  readonly declarations: readonly Declaration[];
}

/** A notebook whose cells were judged at once, and how many of them were prepared. */
interface Whole {
  readonly cells: readonly { readonly cell: NamedCode; readonly compiled: CompiledCell }[];
  readonly text: string;
  readonly files: ReadonlyMap<string, string>;
  judgement: Judgement | undefined;
  prepared: number;
}

/** What a completion replaces, and with what, the best first. */
export interface Completions {
  readonly start: number;
  readonly end: number;
  readonly entries: readonly { readonly name: string; readonly kind: string }[];
}

const MOST_COMPILED = 200;

/** TypeScript's "Cannot find module …". */
const MODULE_NOT_FOUND = 2307;

/** Its objections to `await`, `for await` and `await using` at the top: a cell runs in an async function. */
const TOP_AWAIT = new Set([1378, 1432, 2854]);

const INITIALISED = /^((?:exports\.[\w$]+ = )+)void 0;$/m;

/**
 * Compiles cells, each once: above a cell's text stand the declarations that earlier cells left, below it
 * its own names are exported, and TypeScript makes of it one CommonJS module, whose `exports` all cells share.
 *
 * The cells of a notebook that runs headless are judged at once, as one text, which takes one program where
 * each for itself takes one of its own. Where TypeScript objects to the one text, each is judged for itself.
 */
export class CellCompiler {
  readonly #language: CellLanguage;
  readonly #scripts: CellScripts;
  readonly #onFile: (path: string, code: string) => void;
  /** Versions of the notebook's own files that were compiled, by path. */
  readonly #files = new Map<string, string>();
  /**
   * What was compiled last, by text: the check before a run compiles what the run takes, and a cell that runs
   * again below the same declarations isn't judged again.
   */
  readonly #compiled = new Map<string, Compilation>();
  #texts = 0;
  #declarations: readonly Declaration[] = [];
  #prepared: Compilation | undefined;
  #whole: Whole | undefined;

  /**
   * @param folder the notebook's
   * @param onFile takes the compiled code of a file beside the notebook whenever it is another one
   */
  constructor(folder: string, scripts: CellScripts, onFile: (path: string, code: string) => void) {
    this.#language = new CellLanguage(folder);
    this.#scripts = scripts;
    this.#onFile = onFile;
  }

  /** Compiles a cell; nothing of it runs. @throws ProbelabError where TypeScript can't follow it */
  prepare(cell: NamedCode): CompiledCell {
    const whole = this.#whole;
    const next = whole?.cells[whole.prepared];
    if (whole && next?.cell.code === cell.code && this.#isUnchanged(whole.files)) {
      whole.prepared++;
      return next.compiled;
    }
    this.#leaveWhole();
    this.#prepared = this.#follow(`Can't compile ${cell.name.replace("-", " ")}`, () =>
      this.#compile(cell, this.#declarations),
    );
    return this.#prepared;
  }

  /** Takes over what the prepared cell declares; `missing` is what it failed to reach. */
  commit(missing: ReadonlySet<string>): void {
    if (missing.size > 0) this.#leaveWhole();
    if (this.#whole) return;
    const after = this.#prepared?.declarations ?? this.#declarations;
    this.#declarations = [
      ...this.#declarations.filter(({ name }) => missing.has(name)),
      ...after.filter(({ name }) => !missing.has(name)),
    ];
  }

  /**
   * The objections to `cells`, each as if those before it had run. A cell that uses what an objectionable
   * one declares is passed over. It ends at a cell that can't be judged yet: a module that isn't there may
   * be made by an earlier cell. It ends as well after one that can't be compiled.
   */
  check(cells: readonly NamedCode[]): { index: number; name: string; objection: CellObjection }[] {
    if (this.#declarations.length === 0 && this.#acceptWhole(cells)) return [];
    const found: { index: number; name: string; objection: CellObjection }[] = [];
    const unknown = new Set<string>();
    let declarations = this.#declarations;
    for (const [index, cell] of cells.entries()) {
      if (moduleName(cell.code) !== undefined) break;
      try {
        const action = `Can't compile ${cell.name.replace("-", " ")}`;
        const file = this.#follow(action, () => parse(cell.code));
        if (unknown.size === 0 || !mentions(file).some((each) => unknown.has(each))) {
          const compiled = this.#follow(action, () => this.#compile(cell, declarations));
          if (compiled.faults.some(({ code }) => code === MODULE_NOT_FOUND)) break;
          declarations = compiled.declarations;
          if (compiled.faults.length === 0) continue;
          found.push({ index, name: cell.name, objection: compiled.faults });
        }
        for (const each of topNames(file.statements)) unknown.add(each);
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        found.push({ index, name: cell.name, objection: error });
        break;
      }
    }
    return found;
  }

  /** Keeps a cell as a module for later cells, as its `@module` says. @returns undefined where it says nothing */
  addModule({ code }: NamedCode): readonly TypeFault[] | undefined {
    const name = moduleName(code);
    if (name === undefined) return undefined;
    return this.#follow(`Can't compile the module ${name}`, () => {
      const path = this.#language.pathOf(name);
      this.#scripts.addSource(path, code);
      return this.#tryText(path, code);
    });
  }

  /** Makes `types`, the text of a declaration file, known to all cells from now on, in the place of what it was before. */
  setColumnTypes(types: string): void {
    this.#follow("Can't use the types of the tables' columns", () => {
      const path = this.#language.columns;
      const whole = this.#whole;
      if (whole?.judgement?.columns.includes(hashOf(types))) {
        this.#language.setText(path, types, true);
        return;
      }
      const before = this.#language.textOf(path);
      if (whole) this.#language.setText(this.#language.cell, whole.text);
      const isGood = this.#tryText(path, types).length === 0;
      if (!whole || !isGood) return;
      if (this.#judged(whole.text)) {
        if (!whole.judgement) return;
        whole.judgement = withColumns(whole.judgement, types);
        writeJudgement(whole.text, whole.judgement);
        return;
      }
      // The cells that ran are declared as they were judged.
      this.#language.setText(path, before, true);
      this.#leaveWhole();
      this.#tryText(path, types);
    });
  }

  /** Compiles all cells, where TypeScript objects to none of them in one text. */
  #acceptWhole(cells: readonly NamedCode[]): boolean {
    try {
      return this.#follow("Can't compile the notebook", () => {
        const parsed = cells.map(({ code }) => parse(code));
        const text = cells.some(({ code }) => moduleName(code)) ? undefined : inOneText(parsed);
        if (text === undefined) return false;
        const known = readJudgement(text);
        const program = known ? undefined : this.#judged(text);
        if (!known && !program) return false;
        const types = new Set(known ? known.types : program && this.#importedTypes(program));
        let earlier: readonly Declaration[] = [];
        const compiled = cells.map((cell, index) => {
          const own = parsed[index]?.statements ?? [];
          const one = { cell, compiled: this.#transpiled(cell, own, earlier, types) };
          const imports = importsOf(own);
          const others = [...topNames(own)].filter((name) => imports.every((i) => i.name !== name));
          earlier = [...earlier, ...imports, ...others.map((name) => ({ name, text: "" }))];
          return one;
        });
        const files = program ? this.#versions(program) : new Map<string, string>();
        let judgement = known;
        // The notebook's own files are compiled along with it.
        if (program && files.size === 0) {
          judgement = judgementOf(types, this.#language.filesOf(program));
          writeJudgement(text, judgement);
        }
        this.#whole = { cells: compiled, text, files, judgement, prepared: 0 };
        if (program) this.#emitFiles(program);
        return true;
      });
    } catch (error) {
      if (error instanceof ProbelabError) return false;
      throw error;
    }
  }

  /** The program of a text in the cell's place, where TypeScript objects to nothing in it. */
  #judged(text: string): TypeScript.Program | undefined {
    this.#language.setText(this.#language.cell, text);
    const program = this.#language.program();
    const files = [program.getSourceFile(this.#language.cell), ...this.#changedFiles(program)];
    const isFaulty = files.some((file) => file && this.#faults("", file, program, 0).length > 0);
    if (!isFaulty) return program;
    return this.#language.useAllOfNode() ? this.#judged(text) : undefined;
  }

  /** From now on each cell is judged for itself; those that were prepared are declared. */
  #leaveWhole(): void {
    const { cells = [], prepared = 0 } = this.#whole ?? {};
    this.#whole = undefined;
    for (const { cell } of cells.slice(0, prepared)) {
      this.prepare(cell);
      this.commit(new Set());
    }
  }

  /** Writes a file in memory that is there from now on; where it is faulty, what was there before stays. */
  #tryText(path: string, text: string): readonly TypeFault[] {
    this.#texts++;
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

  inspect(code: string, position: number): TypeScript.QuickInfo | undefined {
    return this.#follow("Can't inspect the cell", () => {
      const start = this.#show(code);
      return this.#language.service.getQuickInfoAtPosition(this.#language.cell, start + position);
    });
  }

  /** What may stand at `position`: names that begin with what stands there, then those that hold it. */
  complete(code: string, position: number): Completions {
    return this.#follow("Can't complete the cell", () => {
      const at = this.#show(code) + position;
      const { cell, service } = this.#language;
      const entries = service.getCompletionsAtPosition(cell, at, {})?.entries ?? [];
      const start = position - (/[\w$]*$/.exec(code.slice(0, position))?.[0].length ?? 0);
      const end = position + (/^[\w$]*/.exec(code.slice(position))?.[0].length ?? 0);
      const word = code.slice(start, end);
      const fits = [
        (name: string) => name.startsWith(word),
        (name: string) => name.toLowerCase().startsWith(word.toLowerCase()),
        (name: string) => name.toLowerCase().includes(word.toLowerCase()),
      ];
      const ranked = entries.flatMap(({ name, kind, sortText }) => {
        const rank = fits.findIndex((fit) => fit(name));
        return rank < 0 ? [] : [{ name, kind, order: `${rank}${sortText}` }];
      });
      return { start, end, entries: ranked.sort((a, b) => a.order.localeCompare(b.order)) };
    });
  }

  /** Reads the declarations that most cells need: the first program takes longer than all that follow. */
  warmUp(): void {
    this.#language.setText(this.#language.cell, `import "probelab";`);
    this.#language.program().getGlobalDiagnostics();
  }

  /** Puts `code` below the declarations of earlier cells, as it is. @returns where it begins */
  #show(code: string): number {
    // Who looks names up wants to see all that Node has.
    this.#language.useAllOfNode();
    const head = headOf(this.#declarations, topNames(parse(code).statements));
    this.#language.setText(this.#language.cell, head + code);
    return head.length;
  }

  #compile({ name, code }: NamedCode, earlier: readonly Declaration[]): Compilation {
    const { statements } = parse(code);
    const own = topNames(statements);
    const head = headOf(earlier, own);
    const body = `${head}${code}${tailOf(statements)}`;
    const known = this.#compiled.get(body);
    if (known?.judgedBy === this.#texts && this.#isUnchanged(known.files)) {
      if (known.name === name) return known;
      const { types } = known;
      return { ...known, ...this.#transpiled({ name, code }, statements, earlier, types), name };
    }
    this.#language.setText(this.#language.cell, body);
    const program = this.#language.program();
    const file = program.getSourceFile(this.#language.cell);
    if (!file) throw new Error("TypeScript lost the cell");

    const faults = this.#changedFiles(program).flatMap((one) =>
      this.#faults(one.fileName, one, program, 0),
    );
    faults.push(...this.#faults(name, file, program, head.length, code.length));
    let dts = "";
    const emitted =
      faults.length === 0
        ? program.emit(file, (_path, written) => (dts = written), undefined, true)
        : undefined;
    for (const one of emitted?.diagnostics ?? []) {
      const fault = faultOf(one, name, head.length, code.length);
      if (fault) faults.push(fault);
    }
    if (faults.length > 0) {
      // It may use more of Node than is known so far.
      if (this.#language.useAllOfNode()) return this.#compile({ name, code }, earlier);
      this.#scripts.addSource(name, code);
      const nothing = { script: "", namesToSet: [], files: new Map<string, string>(), judgedBy: 0 };
      return { ...nothing, name, types: new Set(), faults, declarations: earlier };
    }
    this.#emitFiles(program);
    const types = this.#importedTypes(program);
    const compiled = this.#transpiled({ name, code }, statements, earlier, types);
    const declarations = [
      ...earlier.filter((one) => !own.has(one.name)),
      ...importsOf(statements),
      ...declarationsOf(dts, own),
    ];
    const files = this.#versions(program);
    const compilation = { ...compiled, name, types, declarations, files, judgedBy: this.#texts };
    this.#compiled.delete(body);
    this.#compiled.set(body, compilation);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > MOST_COMPILED && oldest !== undefined) this.#compiled.delete(oldest);
    return compilation;
  }

  /** A cell that TypeScript has nothing against, as JavaScript. */
  #transpiled(
    { name, code }: NamedCode,
    statements: readonly TypeScript.Statement[],
    earlier: readonly Declaration[],
    types: ReadonlySet<string>,
  ): CompiledCell {
    const head = headOf(earlier.map(untyped), topNames(statements));
    const text = head + code + tailOf(statements, types);
    const { js, map, isSound } = transpile(name, text, head.length);
    if (!isSound) throw new ProbelabError(`Can't compile ${name}: it has an error of syntax.`);
    const compiled = js.replace(INITIALISED, "");
    this.#scripts.addCell(name, code, compiled, map, head.split("\n").length - 1);
    const namesToSet = (INITIALISED.exec(js)?.[1] ?? "").match(/(?<=exports\.)[\w$]+/g) ?? [];
    const script = `${runtimeName}.run(async (exports, require) => {\n${compiled}\n});`;
    return { faults: [], script, namesToSet };
  }

  /** Names that the cell's text imports and that are types alone: nothing of them is there when it runs. */
  #importedTypes(program: TypeScript.Program): Set<string> {
    const checker = program.getTypeChecker();
    const imports = program
      .getSourceFile(this.#language.cell)
      ?.statements.filter(ts.isImportDeclaration);
    const names = (imports ?? []).flatMap(({ importClause }) => {
      const named = importClause?.namedBindings;
      const elements = named && ts.isNamedImports(named) ? named.elements : [];
      return [importClause?.name, ...elements.map((one) => one.name)].filter((one) => !!one);
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
    const all = syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(file);
    const isCell = file.fileName === this.#language.cell;
    return all
      .filter(({ code }) => !isCell || !TOP_AWAIT.has(code))
      .flatMap((one) => faultOf(one, name, start, length) ?? []);
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
   * What `work` gives. TypeScript throws on code that is nested too deeply, and now and then where a program
   * leaves out what the one before had (a package that is there twice); anew, it takes that.
   *
   * @throws ProbelabError where it throws again
   */
  #follow<T>(action: string, work: () => T, isAgain = false): T {
    try {
      return work();
    } catch (error) {
      this.#language.restart();
      if (error instanceof ProbelabError) throw error;
      if (!isAgain && !(error instanceof RangeError)) return this.#follow(action, work, true);
      if (error instanceof RangeError) {
        throw new ProbelabError(
          `${action}: it is nested or chained more deeply than TypeScript can follow (some hundred levels). Give parts of it a name, one statement each, or build it in a loop.`,
        );
      }
      const said = error instanceof Error ? error.message.split("\n")[0] : String(error);
      throw new ProbelabError(
        `${action}: TypeScript itself failed (${said}). Write it in another way, in smaller statements.`,
        { cause: error },
      );
    }
  }
}

/** True where nothing is missing at the end of a cell; else how the next line is indented. */
export function completeness(code: string): { complete: boolean; indent: string } {
  const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true });
  const isOpen = diagnostics.some(({ start, length, messageText }) => {
    const text = typeof messageText === "string" ? messageText : messageText.messageText;
    return start === code.length && length === 0 && text.endsWith(" expected.");
  });
  if (/(^|\n)\s*\n\s*$/.test(code) || !isOpen) return { complete: true, indent: "" };
  const line = code.slice(code.lastIndexOf("\n") + 1);
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  if (/^\s*[}\])]/.test(line)) return { complete: false, indent: indent.slice(0, -2) };
  return { complete: false, indent: /[{([][^}\])]*$/.test(line) ? `${indent}  ` : indent };
}

/** The name that a cell's comment gives it: `@module shared` makes of it the module `./shared`. */
function moduleName(code: string): string | undefined {
  return /^\s*(?:\/\/.*\n\s*)*\/\*\*(?:(?!\*\/)[^])*?@module\s+(\w+)(?:(?!\*\/)[^])*\*\//.exec(
    code,
  )?.[1];
}

function parse(code: string): TypeScript.SourceFile {
  return ts.createSourceFile("cell.ts", code, ts.ScriptTarget.Latest);
}

/** A diagnostic in the analyst's own words; undefined where it is none of the cell's. */
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
