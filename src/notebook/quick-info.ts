import type TypeScript from "typescript";
import { ts } from "./typescript.js";
import { internals } from "./typescript-internals.js";

/** What a hover shows: the signature, the documentation and the tags of the name at `position`. */
export function quickInfoAt(
  file: TypeScript.SourceFile,
  checker: TypeScript.TypeChecker,
  position: number,
): TypeScript.QuickInfo | undefined {
  const node = internals.getTouchingPropertyName(file, position);
  if (node === file) return undefined;
  const symbol = checker.getSymbolAtLocation(node);
  const textSpan = ts.createTextSpanFromBounds(node.getStart(file), node.getEnd());
  if (!symbol) {
    if (!ts.isIdentifier(node) && node.kind !== ts.SyntaxKind.ThisKeyword) return undefined;
    const text = checker.typeToString(checker.getTypeAtLocation(node));
    return {
      kind: ts.ScriptElementKind.unknown,
      kindModifiers: "",
      textSpan,
      displayParts: [{ text, kind: "text" }],
    };
  }
  const shown = internals.SymbolDisplay.getSymbolDisplayPartsDocumentationAndSymbolKind(
    checker,
    symbol,
    file,
    internals.getContainerNode(node),
    node,
  );
  return {
    kind: shown.symbolKind,
    kindModifiers: internals.SymbolDisplay.getSymbolModifiers(checker, symbol),
    textSpan,
    displayParts: shown.displayParts,
    documentation: shown.documentation,
    ...(shown.tags ? { tags: shown.tags } : {}),
  };
}
