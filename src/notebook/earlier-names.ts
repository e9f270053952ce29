import type TypeScript from "typescript";
import { ts } from "./typescript.js";
import { lastOfUsing } from "./last-of-using.js";

/** tslab's file of what earlier cells declare. */
const earlierCells = /(^|\/)__prev__\.d\.ts$/;

/**
 * Mends two forms that tslab's converter breaks when their names come from earlier cells: `{ weeks }` keeps a
 * name that is no variable any more (it is `exports.weeks`), and in `const { weeks: w } = options` it takes
 * the key for a variable.
 */
function earlierNames(
  checker: TypeScript.TypeChecker,
): TypeScript.TransformerFactory<TypeScript.SourceFile> {
  const isEarlier = (symbol: TypeScript.Symbol | undefined) =>
    symbol?.declarations?.some((one) => earlierCells.test(one.getSourceFile().fileName)) ?? false;

  return (context) => {
    const { factory } = context;
    const quoted = (name: TypeScript.Identifier) => factory.createStringLiteral(name.text);
    const visit = (node: TypeScript.Node): TypeScript.Node => {
      if (
        ts.isShorthandPropertyAssignment(node) &&
        isEarlier(checker.getShorthandAssignmentValueSymbol(node))
      ) {
        const value = factory.createPropertyAccessExpression(
          factory.createIdentifier("exports"),
          node.name.text,
        );
        const initialiser = node.objectAssignmentInitializer;
        return factory.createPropertyAssignment(
          node.name.text,
          initialiser
            ? factory.createAssignment(value, ts.visitNode(initialiser, visit, ts.isExpression))
            : value,
        );
      }
      const seen = ts.visitEachChild(node, visit, context);
      if (ts.isBindingElement(seen) && seen.propertyName && ts.isIdentifier(seen.propertyName)) {
        if (!isEarlier(checker.getSymbolAtLocation(seen.propertyName))) return seen;
        const { dotDotDotToken, propertyName, name, initializer } = seen;
        return factory.updateBindingElement(
          seen,
          dotDotDotToken,
          quoted(propertyName),
          name,
          initializer,
        );
      }
      if (ts.isPropertyAssignment(seen) && ts.isIdentifier(seen.name)) {
        if (!isEarlier(checker.getSymbolAtLocation(seen.name))) return seen;
        return factory.updatePropertyAssignment(seen, quoted(seen.name), seen.initializer);
      }
      return seen;
    };
    return (file) => ts.visitNode(file, visit, ts.isSourceFile);
  };
}

/** A builder whose output went through `earlierNames` first. */
export function mendingBuilder(builder: TypeScript.BuilderProgram): TypeScript.BuilderProgram {
  return Object.assign(Object.create(builder) as TypeScript.BuilderProgram, {
    emit: ((file, write, cancellation, onlyDeclarations, transformers) =>
      builder.emit(file, write, cancellation, onlyDeclarations, {
        ...transformers,
        before: [
          lastOfUsing,
          earlierNames(builder.getProgram().getTypeChecker()),
          ...(transformers?.before ?? []),
        ],
      })) satisfies TypeScript.BuilderProgram["emit"],
  });
}
