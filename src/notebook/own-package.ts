import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** Name of the kernel in Jupyter and of its folder. */
export const kernelName = "probelab";
export const kernelDisplayName = "TypeScript (probelab)";

/**
 * What the environment of a process that runs cells says beside its own.
 *
 * One malloc arena: with one for each of V8's compiling threads, glibc keeps what they let go of, and a
 * kernel grows by some 40 MB every 100 cells. Other systems ignore it.
 */
export const processEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "1" };

/** Set in the process of a notebook that runs without anyone watching. */
export const headlessVariable = "PROBELAB_HEADLESS";

/** True in a notebook that runs without anyone watching: progress is left out of its outputs. */
export function isHeadless(): boolean {
  return process.env[headlessVariable] === "1";
}

interface OwnPackage {
  readonly name: string;
  readonly version: string;
  readonly root: string;
  readonly containingFile: string;
}

let known: OwnPackage | undefined;

/** This package: its name and version, its folder, and a file in it to resolve its imports from. */
export function ownPackage(): OwnPackage {
  known ??= {
    ...(JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as OwnPackage),
    root: fileURLToPath(root),
    containingFile: fileURLToPath(new URL("dist/index.js", root)),
  };
  return known;
}

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
