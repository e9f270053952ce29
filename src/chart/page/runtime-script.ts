import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../../base/error.js";

const BUILT = join("dist", "chart", "page", "runtime.iife.js");

let source: string | undefined;

/**
 * What makes the charts of a page live: Vega with its interpreter, which needs no `eval`, and our
 * own few lines, in one script for all charts of the page. `npm run build` makes it.
 *
 * @throws ProbelabError where it was not built.
 */
export function runtimeSource(): string {
  return (source ??= readFileSync(builtPath(), "utf8"));
}

/** The runtime as an element; it stands once in a page, after the last chart. */
export function runtimeScript(): string {
  return `<script>${runtimeSource()}</script>`;
}

/** Whether this module runs from the sources, from dist or from an installed package. */
function builtPath(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const path = join(folder, BUILT);
    if (existsSync(path)) return path;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new ProbelabError(
    `Can't write an interactive page: its script (${BUILT}) is missing; run "npm run build" in probelab's folder, or install the package again.`,
  );
}
