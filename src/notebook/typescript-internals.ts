import type TypeScript from "typescript";
import { ts } from "./typescript.js";

/** What tslab and this kernel use of TypeScript beyond its public types; all of it is exported at run time. */
export interface TypeScriptInternals {
  nullTransformationContext: TypeScript.TransformationContext;
  bindSourceFile(file: TypeScript.SourceFile, options: TypeScript.CompilerOptions): void;
  getTouchingPropertyName(file: TypeScript.SourceFile, position: number): TypeScript.Node;
  getContainerNode(node: TypeScript.Node): TypeScript.Node | undefined;
  SymbolDisplay: {
    getSymbolDisplayPartsDocumentationAndSymbolKind(
      checker: TypeScript.TypeChecker,
      symbol: TypeScript.Symbol,
      file: TypeScript.SourceFile,
      enclosing: TypeScript.Node | undefined,
      location: TypeScript.Node,
    ): {
      displayParts: TypeScript.SymbolDisplayPart[];
      documentation: TypeScript.SymbolDisplayPart[];
      symbolKind: TypeScript.ScriptElementKind;
      tags: TypeScript.JSDocTagInfo[] | undefined;
    };
    getSymbolModifiers(checker: TypeScript.TypeChecker, symbol: TypeScript.Symbol): string;
  };
  Completions: {
    CompletionKind: Record<string, unknown>;
    getCompletionsAtPosition(
      host: object,
      program: TypeScript.Program,
      log: (text: string) => void,
      file: TypeScript.SourceFile,
      position: number,
      preferences: TypeScript.UserPreferences,
      triggerCharacter: undefined,
      triggerKind: TypeScript.CompletionTriggerKind,
      cancellation: TypeScript.CancellationToken,
    ): TypeScript.CompletionInfo | undefined;
  };
}

export const internals = ts as unknown as TypeScriptInternals;
