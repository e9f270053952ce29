import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The compiled file of a process entry: `entryPath(import.meta.url, "./server-process.js")`.
 * A child process runs what the build made, also when the caller was loaded from `src` by the tests
 * or from the compiled benches.
 */
export function entryPath(base: string, relative: string): string {
  const path = fileURLToPath(new URL(relative, base));
  let root = dirname(path);
  while (!existsSync(join(root, "package.json")) && root !== dirname(root)) root = dirname(root);
  const inside = path.slice(root.length).replace(/^.*?[/\\](?:src|dist)[/\\]/, "");
  return join(root, "dist", inside);
}
