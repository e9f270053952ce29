import { createRequire } from "node:module";
import { dirname } from "node:path";
import type TypeScript from "typescript";
import { ts } from "./typescript.js";
import { CellMap } from "./cell-map.js";
import { cellTransform } from "./cell-transform.js";
import { ChangedFiles } from "./changed-files.js";
import { isHeadless } from "./headless.js";
import { mendingBuilder } from "./earlier-names.js";
import { hybridResolver } from "./module-resolver.js";
import { ownPackage } from "./own-package.js";
import { quickInfoAt } from "./quick-info.js";
import { internals } from "./typescript-internals.js";

/** The language of cells: what Node 20 runs, and `using`, which TypeScript turns into it. */
const language = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  types: ["node"],
  inlineSourceMap: true,
} satisfies TypeScript.CompilerOptions;

const mapComment = /\n?\/\/# sourceMappingURL=(?:data:application\/json;base64,(\S+)|\S*)\s*$/;

/** What tslab's converter sees as TypeScript, and what came of its last conversion. */
export interface TypeScriptForCells {
  /** Stands in for tslab's fork of TypeScript 5.0. */
  readonly module: object;
  /** Name of the cell that is converted next. */
  label: string;
  /** The notebook's own files, as they were when they were last compiled. */
  readonly files: ChangedFiles;
  /** To be called where a compilation threw: TypeScript keeps in its binder what it worked on. */
  reset(): void;
  /** Maps of what was compiled since `label` was set, by compiled code. */
  readonly maps: Map<string, CellMap>;
}

/**
 * TypeScript 5.9 in the shape of tslab's fork of TypeScript 5.0: its five additions, packages found by
 * `exports`, source maps, and awaits that an interrupt can stop.
 */
export function typescriptForCells(): TypeScriptForCells {
  const maps = new Map<string, CellMap>();
  let program: () => TypeScript.Program | undefined = () => undefined;
  const files = new ChangedFiles();
  const result: TypeScriptForCells = {
    module: {},
    label: "cell",
    files,
    maps,
    reset: () =>
      internals.bindSourceFile(ts.createSourceFile("empty.ts", "", language.target), language),
  };

  const additions = {
    __esModule: true,
    sys: Object.assign(Object.create(ts.sys) as TypeScript.System, {
      watchFile: (path: string, changed: TypeScript.FileWatcherCallback) =>
        files.add(path, changed),
      watchDirectory: () => ({ close: () => undefined }),
    }),
    getDefaultTypeRoots: (directory: string) =>
      ts.getEffectiveTypeRoots({}, { getCurrentDirectory: () => directory }),
    getNullTransformationContext: () => internals.nullTransformationContext,
    getPreEmitDiagnosticsOfFiles: diagnosticsOf,
    getQuickInfoAtPosition: (
      file: TypeScript.SourceFile,
      checker: TypeScript.TypeChecker,
      _cancellation: TypeScript.CancellationToken,
      position: number,
    ) => quickInfoAt(file, checker, position),
    Completions: {
      ...internals.Completions,
      getCompletionsAtPositionForTslab(
        _host: object,
        ...rest: Parameters<typeof internals.Completions.getCompletionsAtPosition> extends [
          object,
          ...infer Rest,
        ]
          ? Rest
          : never
      ) {
        return internals.Completions.getCompletionsAtPosition(completionHost(program), ...rest);
      },
    },
    createWatchCompilerHost: (
      files: string[],
      options: TypeScript.CompilerOptions,
      system: TypeScript.System,
      ...rest: [undefined, TypeScript.DiagnosticReporter, TypeScript.WatchStatusReporter]
    ) => {
      const host = ts.createWatchCompilerHost(files, cellOptions(options), system, ...rest);
      // Comments are read for what is shown beside a name, and headless nobody asks for that.
      if (isHeadless()) host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
      host.resolveModuleNameLiterals = hybridResolver(system, ownPackage());
      host.hasInvalidatedResolutions = () => false;
      return host;
    },
    createWatchProgram: (
      host: TypeScript.WatchCompilerHostOfFilesAndCompilerOptions<TypeScript.BuilderProgram>,
    ) => {
      const created = host.afterProgramCreate?.bind(host);
      host.afterProgramCreate = (builder) => created?.(mendingBuilder(builder));
      const watch = ts.createWatchProgram(host);
      program = () => watch.getProgram().getProgram();
      return watch;
    },
    transpileModule: (input: string, options: TypeScript.TranspileOptions) =>
      transpile(input, options, result.label, maps),
  };
  const shape: object = Object.create(ts, Object.getOwnPropertyDescriptors(additions)) as object;
  return Object.assign(result, { module: shape });
}

function cellOptions(options: TypeScript.CompilerOptions): TypeScript.CompilerOptions {
  return { ...options, ...language, typeRoots: [...(options.typeRoots ?? []), nodeTypesRoot()] };
}

/** Where the package's own @types are, for a notebook in a folder that has none. */
function nodeTypesRoot(): string {
  const manifest = createRequire(import.meta.url).resolve("@types/node/package.json");
  return dirname(dirname(manifest));
}

function diagnosticsOf(
  program: TypeScript.Program,
  files: TypeScript.SourceFile[],
): readonly TypeScript.Diagnostic[] {
  return ts.sortAndDeduplicateDiagnostics(
    files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
      ...program.getDeclarationDiagnostics(file),
    ]),
  );
}

/** tslab gives completion an empty host, which fails inside the quotes of an import. */
function completionHost(program: () => TypeScript.Program | undefined): object {
  return {
    ...ts.sys,
    getCompilationSettings: () => program()?.getCompilerOptions() ?? {},
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getScriptFileNames: () => [],
  };
}

function transpile(
  input: string,
  options: TypeScript.TranspileOptions,
  label: string,
  maps: Map<string, CellMap>,
): TypeScript.TranspileOutput {
  const payload = mapComment.exec(input)?.[1];
  if (!payload) return ts.transpileModule(input, options);
  const map = new CellMap(label, Buffer.from(payload, "base64").toString());
  const locate = (line: number, column: number) => {
    const place = map.fromModule(line, column);
    return place ? `${place.source}:${place.line}:${place.column}` : label;
  };
  const output = ts.transpileModule(input.replace(mapComment, ""), {
    ...options,
    compilerOptions: { ...options.compilerOptions, sourceMap: true },
    transformers: { before: [cellTransform(locate)] },
  });
  if (output.sourceMapText) map.addStep(output.sourceMapText);
  const outputText = output.outputText.replace(mapComment, "");
  maps.set(outputText, map);
  return { ...output, outputText };
}
