import { dirname } from "node:path";
import type TypeScript from "typescript";
import { ts } from "./typescript.js";

type Resolve = NonNullable<TypeScript.CompilerHost["resolveModuleNameLiterals"]>;

/**
 * Resolves imports as tslab does (Node10), and what that doesn't find as bundlers do: by `exports`.
 * Bundler resolution alone would be simpler, but then types inferred from a package can't be named in
 * the declarations that go from one cell to the next. `ownPackage` is found even where it isn't installed.
 */
export function hybridResolver(
  host: TypeScript.ModuleResolutionHost,
  ownPackage: { name: string; containingFile: string },
): Resolve {
  const found = new Map<string, TypeScript.ResolvedModuleWithFailedLookupLocations>();

  function resolve(name: string, containingFile: string, options: TypeScript.CompilerOptions) {
    const key = `${dirname(containingFile)}\0${name}`;
    const known = found.get(key);
    if (known) return known;
    const node10 = ts.resolveModuleName(name, containingFile, options, host);
    const bundler = (from: string) =>
      ts.resolveModuleName(
        name,
        from,
        { ...options, moduleResolution: ts.ModuleResolutionKind.Bundler },
        host,
      );
    let result = isTyped(node10) ? node10 : bundler(containingFile);
    if (!isTyped(result) && (name === ownPackage.name || name.startsWith(`${ownPackage.name}/`))) {
      result = bundler(ownPackage.containingFile);
    }
    if (!result.resolvedModule && node10.resolvedModule) result = node10;
    // What is missing is looked for anew: it may be installed while the kernel runs.
    if (result.resolvedModule) found.set(key, result);
    return result;
  }

  return (literals, containingFile, _redirect, options) =>
    literals.map((literal) => resolve(literal.text, containingFile, options));
}

function isTyped(result: TypeScript.ResolvedModuleWithFailedLookupLocations): boolean {
  const file = result.resolvedModule?.resolvedFileName;
  return file !== undefined && !/\.[cm]?js$/.test(file);
}
