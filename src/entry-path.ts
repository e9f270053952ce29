import { fileURLToPath } from "node:url";

/**
 * The compiled file of a process entry: `entryPath(import.meta.url, "./server-process.js")`.
 * A child process runs what `tsc` built, also when the caller was loaded from `src` by the tests.
 */
export function entryPath(base: string, relative: string): string {
  const path = fileURLToPath(new URL(relative, base));
  return path.replace(/([/\\])src([/\\](?!.*[/\\]src[/\\]))/, "$1dist$2");
}
