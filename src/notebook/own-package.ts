import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** This package: its name and version, its folder, and a file in it to resolve its imports from. */
export function ownPackage(): {
  name: string;
  version: string;
  root: string;
  containingFile: string;
} {
  const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    name: string;
    version: string;
  };
  return {
    name: manifest.name,
    version: manifest.version,
    root: fileURLToPath(root),
    containingFile: fileURLToPath(new URL("dist/index.js", root)),
  };
}
