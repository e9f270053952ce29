import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type TypeScript from "typescript";
import { isHeadless, ownPackage } from "./own-package.js";
import { nodeTypes } from "./node-types.js";

/** TypeScript itself. Required: an `import` would first scan its 9 MB for names. */
export const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript;

/** The language of cells: what Node 20 runs, and `using`, which TypeScript compiles to it. */
export const cellOptions: TypeScript.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  esModuleInterop: true,
  experimentalDecorators: true,
  resolveJsonModule: true,
  allowJs: true,
  checkJs: true,
  types: [],
  skipLibCheck: true,
  declaration: true,
  sourceMap: true,
  newLine: ts.NewLineKind.LineFeed,
  outDir: "out",
};

/**
 * TypeScript's language service over the current cell, the files that it imports and the types of the tables'
 * columns. One service checks, compiles, completes and documents.
 *
 * Node's own types are two thirds of all declarations and cost 0.6 s a run: a small part of them
 * (`node-types.ts`) is enough until a cell needs more.
 */
export class CellLanguage {
  service: TypeScript.LanguageService;
  /** The path of the cell's text; there is no such file. */
  readonly cell: string;
  readonly #folder: string;
  readonly #columns: string;
  readonly #nodeTypes: string;
  readonly #ownDist = slashes(join(ownPackage().root, "dist", "/"));
  /** Files that exist only in memory. */
  readonly #texts = new Map<string, { readonly text: string; readonly version: string }>();
  readonly #roots: Set<string>;
  readonly #resolved = new Map<string, TypeScript.ResolvedModuleWithFailedLookupLocations>();
  #versions = 0;

  /** @param folder the notebook's */
  constructor(folder: string) {
    this.#folder = folder;
    const pathOf = (name: string) => slashes(join(folder, name));
    this.cell = pathOf("__cell__.ts");
    this.#nodeTypes = pathOf("__node__.d.ts");
    this.#columns = pathOf("__columns__.d.ts");
    // All roots from the start: another root would make TypeScript look up all files again.
    this.#roots = new Set([this.cell, this.#nodeTypes, this.#columns]);
    this.#setText(this.#columns, "");
    this.#setText(this.#nodeTypes, nodeTypes);
    this.setCell("");
    this.service = ts.createLanguageService(this.#host());
  }

  /** Starts a new service after TypeScript itself threw. */
  restart(): void {
    this.setCell("");
    this.service = ts.createLanguageService(this.#host());
    // TypeScript's binder keeps the file that it failed on; another file takes its place.
    ts.transpileModule("", {});
  }

  setCell(text: string): void {
    this.#setText(this.cell, text);
  }

  /** The types of the tables' columns: the text of a declaration file, known to all cells. */
  get columnTypes(): string {
    return this.#texts.get(this.#columns)?.text ?? "";
  }

  set columnTypes(text: string) {
    this.#setText(this.#columns, text);
  }

  /** Changes when the file does. Files of packages count as they were when they were first read. */
  versionOf(path: string): string {
    const version = this.#texts.get(path)?.version;
    if (version !== undefined) return version;
    if (path.includes("/node_modules/") || path.startsWith(this.#ownDist)) return "";
    return `${ts.sys.getModifiedTime?.(path)?.getTime()}`;
  }

  program(): TypeScript.Program {
    const program = this.service.getProgram();
    if (!program) throw new Error("TypeScript returned no program");
    // A package may reference all of Node's types itself.
    const isReferenced = program
      .getSourceFiles()
      .some(({ fileName }) => fileName.endsWith("/@types/node/index.d.ts"));
    return isReferenced && this.useAllOfNode() ? this.program() : program;
  }

  /** Replaces the small part of Node's types by all of them. @returns false where that was done before */
  useAllOfNode(): boolean {
    if (!this.#roots.delete(this.#nodeTypes)) return false;
    for (const from of [join(this.#folder, "cell.js"), import.meta.url]) {
      try {
        const manifest = createRequire(from).resolve("@types/node/package.json");
        this.#roots.add(slashes(join(dirname(manifest), "index.d.ts")));
        break;
      } catch {
        // Not in the notebook's folder: this package has them.
      }
    }
    return true;
  }

  /** The notebook's own source files in a program. */
  ownFiles(program: TypeScript.Program): TypeScript.SourceFile[] {
    return program
      .getSourceFiles()
      .filter(
        (file) =>
          !file.isDeclarationFile &&
          file.fileName !== this.cell &&
          !file.fileName.endsWith(".json") &&
          !program.isSourceFileFromExternalLibrary(file),
      );
  }

  /** The files on disk that a program was made of. */
  filesOf(program: TypeScript.Program): string[] {
    const paths = program.getSourceFiles().map(({ fileName }) => fileName);
    return paths.filter((path) => !this.#texts.has(path));
  }

  #setText(path: string, text: string): void {
    if (this.#texts.get(path)?.text === text) return;
    this.#texts.set(path, { text, version: `${++this.#versions}` });
  }

  #host(): TypeScript.LanguageServiceHost &
    Pick<TypeScript.CompilerHost, "getModuleResolutionCache"> {
    const { sys } = ts;
    // Without it each program reads each package's package.json again.
    const packages = ts.createModuleResolutionCache(this.#folder, (name) => name, cellOptions);
    const readFile = (path: string) => this.#texts.get(path)?.text ?? sys.readFile(path);
    const fileExists = (path: string) => this.#texts.has(path) || sys.fileExists(path);
    return {
      getCompilationSettings: () => cellOptions,
      getScriptFileNames: () => [...this.#roots],
      getScriptVersion: (path) => this.versionOf(path),
      getScriptSnapshot: (path) => {
        const text = readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => this.#folder,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
      useCaseSensitiveFileNames: () => true,
      readFile,
      fileExists,
      directoryExists: (path) => sys.directoryExists(path),
      getDirectories: (path) => sys.getDirectories(path),
      readDirectory: (...parameters) => sys.readDirectory(...parameters),
      realpath: (path) => sys.realpath?.(path) ?? path,
      getModuleResolutionCache: () => packages,
      // Doc comments are only for completion and hovers.
      ...(isHeadless() && { jsDocParsingMode: ts.JSDocParsingMode.ParseNone }),
      resolveModuleNameLiterals: (literals, from) =>
        literals.map(({ text }) => {
          const key = `${dirname(from)}\0${text}`;
          const result = this.#resolved.get(key) ?? this.#resolve(text, from);
          // What is missing is looked up again: it may be installed or written while the kernel runs.
          if (result.resolvedModule) this.#resolved.set(key, result);
          return result;
        }),
    };
  }

  /**
   * Resolves imports as Node10 does, and what that doesn't find as bundlers do, by `exports`. Bundler
   * resolution alone would be simpler, but then types inferred from a package can't be named in the
   * declarations that go from one cell to the next. probelab is found even where it isn't installed.
   */
  #resolve(name: string, from: string): TypeScript.ResolvedModuleWithFailedLookupLocations {
    const resolveIn = (containing: string, moduleResolution: TypeScript.ModuleResolutionKind) =>
      ts.resolveModuleName(name, containing, { ...cellOptions, moduleResolution }, ts.sys);
    const { Bundler, Node10 } = ts.ModuleResolutionKind;
    const { name: ownName, root, containingFile } = ownPackage();
    // The kernel itself provides it.
    if (name === "tslab") return declarationFile(join(root, "dist", "notebook", "tslab.d.ts"));
    // Most imports: a package's declaration file imports the one next to it.
    const beside = join(dirname(from), name.replace(/\.js$/, "") + ".d.ts");
    if (name.startsWith(".") && from.endsWith(".d.ts") && ts.sys.fileExists(beside)) {
      return declarationFile(beside, from.includes("/node_modules/"));
    }
    const node10 = resolveIn(from, Node10);
    // One copy of each version: the one that cells import, by whose name they can declare its types.
    const id = isTyped(node10) && from.endsWith(".d.ts") ? packageOf(node10) : undefined;
    if (id !== undefined) {
      const copy = resolveIn(this.cell, Node10);
      if (packageOf(copy) === id) return copy;
    }
    let result = isTyped(node10) ? node10 : resolveIn(from, Bundler);
    if (!isTyped(result) && (name === ownName || name.startsWith(`${ownName}/`))) {
      result = resolveIn(containingFile, Bundler);
    }
    return result.resolvedModule ? result : node10;
  }
}

function declarationFile(
  path: string,
  isExternalLibraryImport = true,
): TypeScript.ResolvedModuleWithFailedLookupLocations {
  const extension = ts.Extension.Dts;
  return {
    resolvedModule: { resolvedFileName: slashes(path), extension, isExternalLibraryImport },
  };
}

function isTyped(result: TypeScript.ResolvedModuleWithFailedLookupLocations): boolean {
  const file = result.resolvedModule?.resolvedFileName;
  return file !== undefined && !/\.[cm]?js$/.test(file);
}

/** Name and version of the package that a module is in. */
function packageOf({
  resolvedModule,
}: TypeScript.ResolvedModuleWithFailedLookupLocations): string | undefined {
  const id = resolvedModule?.packageId;
  return id && `${id.name}@${id.version}`;
}

function slashes(path: string): string {
  return path.replaceAll("\\", "/");
}
