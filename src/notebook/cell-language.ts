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

interface Text {
  readonly text: string;
  readonly version: number;
}

/**
 * TypeScript's language service over the current cell, the files that it imports and modules that exist
 * only in memory. One service checks, compiles, completes and documents.
 *
 * Node's own types are two thirds of all declarations and cost 0.5 s a run: a small part of them
 * (`node-types.ts`) is enough until a cell needs more.
 */
export class CellLanguage {
  service: TypeScript.LanguageService;
  /** The path of the cell's text; there is no such file. */
  readonly cell: string;
  /** The path of the types of the tables' columns; there is no such file. */
  readonly columns: string;
  readonly #folder: string;
  readonly #nodeTypes: string;
  readonly #ownDist = join(ownPackage().root, "dist", "/").replaceAll("\\", "/");
  readonly #texts = new Map<string, Text>();
  readonly #roots: Set<string>;
  readonly #resolved = new Map<string, TypeScript.ResolvedModuleWithFailedLookupLocations>();
  #versions = 0;

  /** @param folder the notebook's */
  constructor(folder: string) {
    this.#folder = folder;
    this.cell = this.pathOf("__cell__");
    this.#nodeTypes = this.pathOf("__node__").replace(/ts$/, "d.ts");
    this.columns = this.pathOf("__columns__").replace(/ts$/, "d.ts");
    // All roots from the start: another root would make TypeScript look up all files again.
    this.#roots = new Set([this.cell, this.#nodeTypes, this.columns]);
    this.setText(this.columns, "");
    this.setText(this.cell, "");
    this.setText(this.#nodeTypes, nodeTypes);
    this.service = ts.createLanguageService(this.#host());
  }

  /** Starts a new service after TypeScript itself threw. */
  restart(): void {
    this.setText(this.cell, "");
    this.service = ts.createLanguageService(this.#host());
    // TypeScript's binder keeps the file that it failed on; another file takes its place.
    ts.transpileModule("", {});
  }

  /** The path of a module in memory that cells import as `./NAME`. */
  pathOf(name: string): string {
    return join(this.#folder, `${name}.ts`).replaceAll("\\", "/");
  }

  /**
   * Writes a file in memory.
   *
   * @param text undefined to remove it
   * @param always part of the program even where no cell imports it
   */
  setText(path: string, text: string | undefined, always = false): void {
    if (text === undefined) {
      this.#texts.delete(path);
      this.#roots.delete(path);
      return;
    }
    if (this.#texts.get(path)?.text !== text) {
      this.#texts.set(path, { text, version: ++this.#versions });
    }
    if (always) this.#roots.add(path);
  }

  textOf(path: string): string | undefined {
    return this.#texts.get(path)?.text;
  }

  /** Changes when the file does. Files of packages count as they were when they were first read. */
  versionOf(path: string): string {
    const version = this.#texts.get(path)?.version;
    if (version !== undefined) return `${version}`;
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
        this.#roots.add(join(dirname(manifest), "index.d.ts").replaceAll("\\", "/"));
        break;
      } catch {
        // Not in the notebook's folder: this package has them.
      }
    }
    return true;
  }

  /** The notebook's own source files in a program, which are compiled along with the cell. */
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

  #host(): TypeScript.LanguageServiceHost &
    Pick<TypeScript.CompilerHost, "getModuleResolutionCache"> {
    const { sys } = ts;
    // Without it each program reads each package's package.json again.
    const packages = ts.createModuleResolutionCache(this.#folder, (name) => name, cellOptions);
    const readFile = (path: string) => this.textOf(path) ?? sys.readFile(path);
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
        literals.map((literal) =>
          this.#resolve(literal.text, from, { ...sys, readFile, fileExists }),
        ),
    };
  }

  /**
   * Resolves imports as Node10 does, and what that doesn't find as bundlers do, by `exports`. Bundler
   * resolution alone would be simpler, but then types inferred from a package can't be named in the
   * declarations that go from one cell to the next. probelab is found even where it isn't installed.
   */
  #resolve(
    name: string,
    from: string,
    host: TypeScript.ModuleResolutionHost,
  ): TypeScript.ResolvedModuleWithFailedLookupLocations {
    const key = `${dirname(from)}\0${name}`;
    const known = this.#resolved.get(key);
    if (known) return known;
    // Most imports: a package's declaration file imports the one next to it.
    const beside = join(dirname(from), name.replace(/\.js$/, "") + ".d.ts").replaceAll("\\", "/");
    if (name.startsWith(".") && from.endsWith(".d.ts") && host.fileExists(beside)) {
      const found = declarationFile(beside, from.includes("/node_modules/"));
      this.#resolved.set(key, found);
      return found;
    }
    const own = ownPackage();
    const resolveIn = (containing: string, moduleResolution: TypeScript.ModuleResolutionKind) =>
      ts.resolveModuleName(name, containing, { ...cellOptions, moduleResolution }, host);
    const { Bundler, Node10 } = ts.ModuleResolutionKind;
    const node10 = resolveIn(from, Node10);
    let result = isTyped(node10) ? node10 : resolveIn(from, Bundler);
    if (name === "tslab") {
      // The kernel itself provides it.
      const file = join(own.root, "dist", "notebook", "tslab.d.ts").replaceAll("\\", "/");
      result = declarationFile(file, true);
    } else if (!isTyped(result) && (name === own.name || name.startsWith(`${own.name}/`))) {
      result = resolveIn(own.containingFile, Bundler);
    }
    if (!result.resolvedModule && node10.resolvedModule) result = node10;
    // What is missing is looked up again: it may be installed or written while the kernel runs.
    if (result.resolvedModule) this.#resolved.set(key, result);
    return result;
  }
}

function declarationFile(
  path: string,
  isExternalLibraryImport: boolean,
): TypeScript.ResolvedModuleWithFailedLookupLocations {
  const resolvedModule: TypeScript.ResolvedModuleFull = {
    resolvedFileName: path,
    extension: ts.Extension.Dts,
    isExternalLibraryImport,
  };
  return { resolvedModule };
}

function isTyped(result: TypeScript.ResolvedModuleWithFailedLookupLocations): boolean {
  const file = result.resolvedModule?.resolvedFileName;
  return file !== undefined && !/\.[cm]?js$/.test(file);
}
