import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type TypeScript from "typescript";
import { isHeadless, ownPackage } from "./own-package.js";

/** TypeScript itself. Required: an `import` would first scan its 9 MB for names. */
export const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript;

/** The language of cells: what Node 20 runs, and `using`, which TypeScript compiles to it. */
const options: TypeScript.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.Preserve,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  experimentalDecorators: true,
  resolveJsonModule: true,
  allowJs: true,
  checkJs: true,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  types: [],
  skipLibCheck: true,
  noEmit: true,
  libReplacement: false,
};

type Resolution = TypeScript.ResolvedModuleWithFailedLookupLocations;

/**
 * TypeScript's language service over cells, the files that they import and the types of the tables' columns.
 * A cell is a module, `cell:3`; what it takes from earlier cells it imports from theirs.
 *
 * Node's own types are two thirds of all declarations and cost 0.6 s a run: a small part of them
 * (`nodeGlobals`) is enough until a cell needs more.
 */
export class CellLanguage {
  #service: TypeScript.LanguageService | undefined;
  readonly #folder: string;
  readonly #root: string;
  readonly #columns: string;
  readonly #nodeTypes: string;
  readonly #ownDist = slashes(join(ownPackage().root, "dist", "/"));
  /** Files that exist only in memory. */
  readonly #texts = new Map<string, { readonly text: string; readonly version: string }>();
  readonly #snapshots = new Map<
    string,
    { snapshot: TypeScript.IScriptSnapshot; version: string }
  >();
  readonly #roots: Set<string>;
  readonly #resolved = new Map<string, Resolution>();
  #versions = 0;

  /** @param folder the notebook's */
  constructor(folder: string) {
    this.#folder = folder;
    // All roots from the start: another root would make TypeScript look up all files again.
    [this.#root, this.#nodeTypes, this.#columns] = [
      this.pathOf("cells"),
      slashes(join(folder, "__node__.d.ts")),
      slashes(join(folder, "__columns__.d.ts")),
    ];
    this.#roots = new Set([this.#root, this.#nodeTypes, this.#columns]);
    this.#setText(this.#columns, "");
    this.#setText(this.#nodeTypes, nodeGlobals());
    this.setRoots([]);
  }

  get service(): TypeScript.LanguageService {
    return (this.#service ??= ts.createLanguageService(this.#host()));
  }

  /** Starts a new service after TypeScript itself threw. */
  restart(): void {
    this.setRoots([]);
    this.#service = undefined;
    // TypeScript's binder keeps the file that it failed on; another file takes its place.
    ts.transpileModule("", {});
  }

  /** The path of a module such as `cell:3`; there is no such file. */
  pathOf(module: string): string {
    return slashes(join(this.#folder, `__${module.replace(":", "-")}__.ts`));
  }

  setModule(module: string, text: string): void {
    this.#setText(this.pathOf(module), text);
  }

  /** Sets the modules that programs hold, with all that these import. */
  setRoots(modules: readonly string[]): void {
    const imports = modules.map((module) => `import ${JSON.stringify(module)};`);
    this.#setText(this.#root, `export {};${imports.join("")}`);
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
        this.#roots.add(slashes(join(typesOfNode(from), "index.d.ts")));
        break;
      } catch {
        // Not in the notebook's folder: this package has them.
      }
    }
    return true;
  }

  /** The files on disk that a program was made of. */
  filesOf(program: TypeScript.Program): TypeScript.SourceFile[] {
    return program.getSourceFiles().filter(({ fileName }) => !this.#texts.has(fileName));
  }

  #setText(path: string, text: string): void {
    if (this.#texts.get(path)?.text === text) return;
    this.#texts.set(path, { text, version: `${++this.#versions}` });
  }

  #host(): TypeScript.LanguageServiceHost &
    Pick<TypeScript.CompilerHost, "getModuleResolutionCache"> {
    const { sys } = ts;
    // Without it each program reads each package's package.json again.
    const packages = ts.createModuleResolutionCache(this.#folder, (name) => name, options);
    const readFile = (path: string) => this.#texts.get(path)?.text ?? sys.readFile(path);
    return {
      getCompilationSettings: () => options,
      getScriptFileNames: () => [...this.#roots],
      getScriptVersion: (path) => this.versionOf(path),
      // Each program asks for those of all files.
      getScriptSnapshot: (path) => {
        const version = this.versionOf(path);
        const known = this.#snapshots.get(path);
        if (known?.version === version) return known.snapshot;
        const text = readFile(path);
        if (text === undefined) return undefined;
        const snapshot = ts.ScriptSnapshot.fromString(text);
        this.#snapshots.set(path, { snapshot, version });
        return snapshot;
      },
      getCurrentDirectory: () => this.#folder,
      getDefaultLibFileName: () => ts.getDefaultLibFilePath(options),
      useCaseSensitiveFileNames: () => true,
      readFile,
      fileExists: (path) => this.#texts.has(path) || sys.fileExists(path),
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

  /** Resolves imports as bundlers do, by `exports`, and what has no types there as older programs do. */
  #resolve(name: string, from: string): Resolution {
    const { name: ownName, root, containingFile } = ownPackage();
    if (name.startsWith("cell:")) return file(this.pathOf(name), ts.Extension.Ts, false);
    // The kernel itself provides it.
    if (name === "tslab") return file(join(root, "dist", "notebook", "tslab.d.ts"));
    const { Bundler, Node10 } = ts.ModuleResolutionKind;
    const isOwn = name === ownName || name.startsWith(`${ownName}/`);
    let result: Resolution | undefined;
    for (const containing of isOwn ? [from, containingFile] : [from]) {
      for (const moduleResolution of [Bundler, Node10]) {
        if (result && isTyped(result)) break;
        const way = { ...options, moduleResolution };
        const found = ts.resolveModuleName(name, containing, way, ts.sys);
        if (isTyped(found) || (!result && found.resolvedModule)) result = found;
      }
    }
    const id = result && packageOf(result);
    if (!result || id === undefined) return result ?? { resolvedModule: undefined };
    // A type of another copy is another type: of each version one copy, our own, whose declarations are
    // one file, or the one that cells import.
    const ours = ts.resolveModuleName(name, containingFile, options, ts.sys);
    if (packageOf(ours) === id) return ours;
    const copy = from.endsWith(".d.ts") ? this.#resolve(name, this.#root) : result;
    return packageOf(copy) === id ? copy : result;
  }
}

function file(
  path: string,
  extension: string = ts.Extension.Dts,
  isExternalLibraryImport = true,
): Resolution {
  return {
    resolvedModule: { resolvedFileName: slashes(path), extension, isExternalLibraryImport },
  };
}

function isTyped({ resolvedModule }: Resolution): boolean {
  const path = resolvedModule?.resolvedFileName;
  return path !== undefined && !/\.[cm]?js$/.test(path);
}

/** Name and version of the package that a module is in. */
function packageOf({ resolvedModule }: Resolution): string | undefined {
  const id = resolvedModule?.packageId;
  return id && `${id.name}@${id.version}`;
}

function slashes(path: string): string {
  return path.replaceAll("\\", "/");
}

/**
 * The globals that most cells use, of `@types/node`. What these files import from others is unknown, until
 * all of Node's types replace them: as soon as TypeScript objects to a cell or completes a name.
 */
function nodeGlobals(): string {
  const folder = typesOfNode(import.meta.url);
  const files = ["globals", "globals.typedarray", "buffer.buffer", "console", "process", "timers"];
  const others = [
    "compatibility/index",
    "perf_hooks",
    "web-globals/abortcontroller",
    "web-globals/events",
  ];
  const paths = [...files, ...others].map((name) => slashes(join(folder, `${name}.d.ts`)));
  return paths.map((path) => `/// <reference path=${JSON.stringify(path)} />\n`).join("");
}

function typesOfNode(from: string): string {
  return dirname(createRequire(from).resolve("@types/node/package.json"));
}
