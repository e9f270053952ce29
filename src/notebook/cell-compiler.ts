import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type TypeScript from "typescript";
import { ProbelabError } from "../base/error.js";
import { namesIn, runtimeName, tailOf, transpileCell, typedHead } from "./cell-code.js";
import type { Declaration } from "./cell-code.js";
import { typeFault, type CellScripts, type TypeFault } from "./cell-error.js";
import { CellLanguage, ts } from "./cell-language.js";

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
}

/** Completions, and the part of the code that one of them replaces. */
export interface Completions {
  readonly entries: readonly TypeScript.CompletionEntry[];
  readonly start: number;
  readonly end: number;
}

/** A cell as a module. */
interface CellModule extends NamedCode {
  /** Its name for TypeScript, such as `cell:3`. */
  readonly module: string;
  readonly statements: readonly TypeScript.Statement[];
  readonly text: string;
  /** Where the cell's code starts in `text`. */
  readonly start: number;
  /** The declarations of earlier cells that it mentions, and all that follow it. */
  readonly used: readonly Declaration[];
  readonly after: ReadonlyMap<string, Declaration>;
}

type Declarations = ReadonlyMap<string, Declaration>;

/** TypeScript's "Cannot find module …". */
const MODULE_NOT_FOUND = 2307;

const INITIALISED = /^((?:exports\.[\w$]+ = )+)void 0;$/m;

/**
 * Compiles cells. For TypeScript each is a module that imports what it takes from earlier cells, so that one
 * program holds a whole notebook; their JavaScript is a script each, and all share one `exports`.
 */
export class CellCompiler {
  readonly #language: CellLanguage;
  readonly #scripts: CellScripts;
  /** Versions of the files beside the notebook that were checked, by path. */
  readonly #checked = new Map<string, string>();
  #declarations: Declarations = new Map();
  #modules = 0;
  #prepared: CellModule | undefined;
  /** The cells of a headless notebook, and whether TypeScript accepts them with the column types of now. */
  #notebook: { cells: readonly CellModule[]; accepted: boolean | "unknown" } | undefined;

  /** @param folder the notebook's */
  constructor(folder: string, scripts: CellScripts) {
    this.#language = new CellLanguage(folder);
    this.#scripts = scripts;
  }

  /** Compiles a cell without running it. @throws ProbelabError where TypeScript can't handle it */
  prepare(cell: NamedCode): CompiledCell {
    return this.#withRecovery(actionOf(cell), () => {
      const number = this.#modules + 1;
      const module = this.#moduleOf(cell, number, this.#declarations);
      const faults = this.#isAccepted(module) ? [] : this.#faultsOf(module);
      const compiled = faults.length === 0 ? this.#transpiled(module) : undefined;
      this.#modules = number;
      this.#prepared = faults.length === 0 ? module : undefined;
      if (!compiled) this.#scripts.addSource(cell.name, cell.code);
      return { faults, script: "", namesToSet: [], ...compiled };
    });
  }

  /** Makes the declarations of the prepared cell known to later cells, without the names in `missing`. */
  commit(missing: ReadonlySet<string>): void {
    if (!this.#prepared) return;
    const kept = [...this.#prepared.after].filter(([name]) => !missing.has(name));
    const before = [...this.#declarations].filter(([name]) => missing.has(name));
    this.#declarations = new Map([...kept, ...before]);
  }

  /**
   * The objections to the cells of a headless notebook, each as if those before it had run. Ends at a cell that
   * can't be checked yet (an earlier cell may write the module that it imports) and after one that can't be
   * compiled.
   */
  check(cells: readonly NamedCode[]): { index: number; objection: CellObjection }[] {
    const modules: CellModule[] = [];
    const objections: { index: number; objection: CellObjection }[] = [];
    try {
      for (const cell of cells) {
        const declared = modules.at(-1)?.after ?? this.#declarations;
        const add = () => this.#moduleOf(cell, modules.length + 1, declared);
        modules.push(this.#withRecovery(actionOf(cell), add));
      }
    } catch (error) {
      if (!(error instanceof ProbelabError)) throw error;
      objections.push({ index: modules.length, objection: error });
    }
    const isKnown = objections.length === 0 && readAccepted(this.#keyOf(modules));
    this.#language.setRoots(modules.map(({ module }) => module));
    for (const [index, module] of isKnown ? [] : modules.entries()) {
      try {
        const faults = this.#withRecovery(actionOf(module), () => this.#faultsOf(module));
        if (faults.some(({ code }) => code === MODULE_NOT_FOUND)) return objections;
        if (faults.length === 0) continue;
        this.#scripts.addSource(module.name, module.code);
        objections.push({ index, objection: faults });
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        return [...objections, { index, objection: error }];
      }
    }
    objections.sort((a, b) => a.index - b.index);
    if (objections.length === 0) this.#notebook = { cells: modules, accepted: "unknown" };
    return objections;
  }

  /** Makes `types`, the text of a declaration file, known to all later cells in place of those before. */
  setColumnTypes(types: string): void {
    this.#language.columnTypes = types;
    if (this.#notebook) this.#notebook.accepted = "unknown";
  }

  /** The signature and documentation at `position`. */
  inspect(code: string, position: number): TypeScript.QuickInfo | undefined {
    return this.#withRecovery("Can't inspect the cell", () => {
      const { path, start } = this.#show(code);
      return this.#language.service.getQuickInfoAtPosition(path, start + position);
    });
  }

  /** TypeScript's completions at `position`, and the part of the text that they replace. */
  completions(code: string, position: number): Completions {
    return this.#withRecovery("Can't complete the cell", () => {
      const { path, start: above } = this.#show(code);
      const found = this.#language.service.getCompletionsAtPosition(path, above + position, {});
      const word = /[\w$]*$/.exec(code.slice(0, position))?.[0].length ?? 0;
      const span = found?.optionalReplacementSpan;
      const start = span ? span.start - above : position - word;
      const end = span ? start + span.length : position;
      return { entries: found?.entries ?? [], start, end };
    });
  }

  /** Reads the declarations that most cells need: the first program takes longest. */
  warmUp(): void {
    this.#language.setModule("cell:0", `import "probelab";`);
    this.#language.setRoots(["cell:0"]);
    this.#language.program().getGlobalDiagnostics();
  }

  /** Makes a module of a cell. */
  #moduleOf(cell: NamedCode, number: number, declared: Declarations): CellModule {
    const module = `cell:${number}`;
    const { statements } = ts.createSourceFile("cell.ts", cell.code, ts.ScriptTarget.Latest);
    const names = namesIn(statements);
    const words = new Set(cell.code.match(/[\p{ID_Continue}$\u200c\u200d]+/gu));
    const used = [...declared.values()].filter(({ name }) => words.has(name) && !names.has(name));
    const head = typedHead(used);
    const text = `${head}${cell.code}${tailOf(statements)}`;
    const own = [...names].map(([name, kind]) => [name, { name, module, kind }] as const);
    const after = new Map([...declared, ...own]);
    this.#language.setModule(module, text);
    return { ...cell, module, statements, text, start: head.length, used, after };
  }

  /** True for a cell of a notebook that TypeScript accepts as a whole. */
  #isAccepted({ module, text }: CellModule): boolean {
    const notebook = this.#notebook;
    if (!notebook?.cells.some((cell) => cell.module === module && cell.text === text)) {
      this.#notebook = undefined;
      return false;
    }
    if (notebook.accepted === "unknown") {
      notebook.accepted = readAccepted(this.#keyOf(notebook.cells)) || this.#judge(notebook.cells);
    }
    return notebook.accepted;
  }

  #judge(cells: readonly CellModule[]): boolean {
    this.#language.setRoots(cells.map(({ module }) => module));
    if (cells.some((cell) => this.#faultsOf(cell).length > 0)) return false;
    const files = this.#language.filesOf(this.#language.program());
    writeAccepted(
      this.#keyOf(cells),
      files.map(({ fileName }) => fileName),
    );
    return true;
  }

  /** Identifies cells that TypeScript judges, its version, and the column types that it judges them with. */
  #keyOf(cells: readonly CellModule[]): string {
    return [ts.version, this.#language.columnTypes, ...cells.map(({ text }) => text)].join("\0");
  }

  /** Puts `code` below the declarations of earlier cells. @returns its path, and where the code starts there */
  #show(code: string): { path: string; start: number } {
    // Completion needs all of Node's types.
    this.#language.useAllOfNode();
    const head = typedHead([...this.#declarations.values()]);
    this.#language.setModule("cell:0", head + code);
    this.#language.setRoots(["cell:0"]);
    return { path: this.#language.pathOf("cell:0"), start: head.length };
  }

  /** TypeScript's objections to a cell, and to the files that it imports. */
  #faultsOf(cell: CellModule): readonly TypeFault[] {
    const path = this.#language.pathOf(cell.module);
    let program = this.#language.program();
    let file = program.getSourceFile(path);
    if (file?.text !== cell.text) {
      this.#language.setRoots([cell.module]);
      program = this.#language.program();
      file = program.getSourceFile(path);
    }
    if (!file) throw new Error("TypeScript lost the cell");
    const own = this.#diagnostics(file, program);
    const faults = [
      ...(/["']\.\.?\//.test(cell.code) ? this.#fileFaults(program) : []),
      ...own.flatMap((fault) => typeFault(fault, cell.name, cell.start, cell.code.length) ?? []),
    ];
    // It may need more of Node's types.
    return faults.length > 0 && this.#language.useAllOfNode() ? this.#faultsOf(cell) : faults;
  }

  /** The faults of files beside the notebook that are new or have changed. */
  #fileFaults(program: TypeScript.Program): TypeFault[] {
    const isOwn = (file: TypeScript.SourceFile) =>
      !file.isDeclarationFile &&
      !file.fileName.endsWith(".json") &&
      !program.isSourceFileFromExternalLibrary(file);
    return this.#language
      .filesOf(program)
      .filter(isOwn)
      .flatMap((file) => {
        const { fileName, text } = file;
        const version = this.#language.versionOf(fileName);
        if (this.#checked.get(fileName) === version) return [];
        const found = this.#diagnostics(file, program);
        if (found.length === 0) this.#checked.set(fileName, version);
        return found.flatMap((fault) => typeFault(fault, fileName, 0, text.length) ?? []);
      });
  }

  #diagnostics(
    file: TypeScript.SourceFile,
    program: TypeScript.Program,
  ): readonly TypeScript.Diagnostic[] {
    const syntactic = program.getSyntacticDiagnostics(file);
    return syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(file);
  }

  /** The JavaScript of a cell that TypeScript accepts. */
  #transpiled(cell: CellModule): Omit<CompiledCell, "faults"> {
    const names = cell.used.map(({ name }) => name);
    const { js, map, isSound } = transpileCell(cell, cell.statements, names);
    if (!isSound) throw new ProbelabError(`Can't compile ${cell.name}: it has a syntax error.`);
    const compiled = js.replace(INITIALISED, "");
    this.#scripts.addCell(cell.name, cell.code, map);
    const namesToSet = (INITIALISED.exec(js)?.[1] ?? "").match(/(?<=exports\.)[\w$]+/g) ?? [];
    const script = `${runtimeName}.run(async (exports, require) => {\n${compiled}\n});`;
    return { script, namesToSet };
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

/** Notebooks that are remembered, some 25 KB each. */
const mostTexts = 200;

/**
 * Remembers that TypeScript accepted a notebook: the next run of the same cells does without the check, which
 * takes 1.1 s. The user's cache holds hashes of texts, no text.
 */
function writeAccepted(text: string, paths: readonly string[]): void {
  // What was read, and this program.
  const stamps = [...paths, fileURLToPath(import.meta.url)].map((path) => [path, stampOf(path)]);
  const path = pathOf(text);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const age = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const others = readdirSync(dirname(path)).map((name) => join(dirname(path), name));
    others.sort((a, b) => age(b) - age(a));
    for (const old of others.slice(mostTexts)) rmSync(old, { force: true });
    writeFileSync(path, JSON.stringify(stamps), { mode: 0o600 });
  } catch {
    // The next run checks anew.
  }
}

/** True for a notebook that TypeScript accepted, with the files that it was checked against as they were. */
function readAccepted(text: string): boolean {
  try {
    // Only part of it where another run writes it just now: no JSON.
    const stamps = JSON.parse(readFileSync(pathOf(text), "utf8")) as [string, string | null][];
    return stamps.every(([path, stamp]) => (stampOf(path) ?? null) === stamp);
  } catch {
    return false;
  }
}

/** Below `XDG_CACHE_HOME` or `~/.cache`. */
function pathOf(text: string): string {
  const given = process.env["XDG_CACHE_HOME"] ?? "";
  const cache = isAbsolute(given) ? given : join(homedir(), ".cache");
  const hash = createHash("sha256").update(`${process.cwd()}\0${text}`).digest("hex");
  return join(cache, "probelab", "judged", hash);
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.mtimeMs} ${stat.size}`;
}
