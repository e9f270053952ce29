import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** Name of the kernel in Jupyter and of its folder. */
export const kernelName = "probelab";
export const kernelDisplayName = "TypeScript (probelab)";

/**
 * Variables added to the environment of a process that runs cells.
 *
 * With a malloc arena for each of V8's compiling threads, glibc keeps what they free, and a kernel grows by
 * some 40 MB every 100 cells. Other systems ignore the variable.
 */
export const processEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "1" };

/** Set in the process of a headless notebook. */
export const headlessVariable = "PROBELAB_HEADLESS";

/** True in a headless notebook: its outputs omit progress. */
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

/** The language as frontends need it to colour and save cells. */
export function languageInfo(): object {
  const { version } = createRequire(import.meta.url)("typescript-native/package.json") as {
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

/** A notebook's metadata with a kernel: its own, or this one by default. */
export function kernelspecMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  const kernelspec = { name: kernelName, display_name: kernelDisplayName, language: "typescript" };
  return { kernelspec, ...metadata };
}
