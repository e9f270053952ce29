import ts from "typescript";

/** What tslab and this kernel use of TypeScript beyond its public types; all of it is exported at run time. */
export interface TypeScriptInternals {
  nullTransformationContext: ts.TransformationContext;
  bindSourceFile(file: ts.SourceFile, options: ts.CompilerOptions): void;
  getTouchingPropertyName(file: ts.SourceFile, position: number): ts.Node;
  getContainerNode(node: ts.Node): ts.Node | undefined;
  SymbolDisplay: {
    getSymbolDisplayPartsDocumentationAndSymbolKind(
      checker: ts.TypeChecker,
      symbol: ts.Symbol,
      file: ts.SourceFile,
      enclosing: ts.Node | undefined,
      location: ts.Node,
    ): {
      displayParts: ts.SymbolDisplayPart[];
      documentation: ts.SymbolDisplayPart[];
      symbolKind: ts.ScriptElementKind;
      tags: ts.JSDocTagInfo[] | undefined;
    };
    getSymbolModifiers(checker: ts.TypeChecker, symbol: ts.Symbol): string;
  };
  Completions: {
    CompletionKind: Record<string, unknown>;
    getCompletionsAtPosition(
      host: object,
      program: ts.Program,
      log: (text: string) => void,
      file: ts.SourceFile,
      position: number,
      preferences: ts.UserPreferences,
      triggerCharacter: undefined,
      triggerKind: ts.CompletionTriggerKind,
      cancellation: ts.CancellationToken,
    ): ts.CompletionInfo | undefined;
  };
}

export const internals = ts as unknown as TypeScriptInternals;
