import { createRequire } from "node:module";

/** Name of the kernel in Jupyter and of its folder. */
export const kernelName = "probelab";
export const kernelDisplayName = "TypeScript (probelab)";

/** What a frontend needs to know to colour and save cells. */
export function languageInfo(): object {
  // Not of TypeScript itself, which every command would wait for at its start.
  const { version } = createRequire(import.meta.url)("typescript/package.json") as {
    version: string;
  };
  return {
    name: "typescript",
    version,
    mimetype: "text/typescript",
    file_extension: ".ts",
    // Both forms: JupyterLab reads `mode`, the classic Notebook reads `name` and `typescript`.
    codemirror_mode: { mode: "typescript", name: "javascript", typescript: true },
    nbconvert_exporter: "script",
    pygments_lexer: "typescript",
  };
}

/** A notebook's metadata with a kernel in it: its own, or this one where it has none. */
export function kernelspecMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  const kernelspec = { name: kernelName, display_name: kernelDisplayName, language: "typescript" };
  return { kernelspec, ...metadata };
}
