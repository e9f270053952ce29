import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../base/error.js";

const root = new URL("../../", import.meta.url);

/** Name of the kernel in Jupyter and of its folder. */
export const kernelName = "probelab";
export const kernelDisplayName = "TypeScript (probelab)";

/**
 * Variables added to the environment of a process that runs cells.
 *
 * With a malloc arena for each of V8's compiling threads, glibc keeps what they free, and a kernel grows by
 * some 40 MB every 100 cells. Other systems ignore the variable. Node from 22 on keeps compiled modules in a folder
 * beside ours, which only who may change the modules writes.
 */
export const processEnvironment: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "1",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("dist/.compile-cache", root)),
};

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

/** The kernel's picture in Jupyter's launcher: a count that drops. */
const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img"><title>probelab</title><rect width="64" height="64" rx="12" fill="#0a5cad"/><path d="M10 22h10l8 6 8 2 8 14h10" fill="none" stroke="#fff" stroke-width="5" stroke-linejoin="round" stroke-linecap="round"/><circle cx="36" cy="30" r="6" fill="#ffb000" stroke="#0a5cad" stroke-width="2"/></svg>
`;

/**
 * Writes the kernel where Jupyter looks for kernels. It needs no Python.
 *
 * @param prefix installs into its `share/jupyter`; default: for the user
 * @returns the folder written
 * @throws ProbelabError where it can't be written
 */
export async function installKernel(
  environment: NodeJS.ProcessEnv = process.env,
  prefix?: string,
): Promise<string> {
  const data = prefix === undefined ? userData(environment) : join(prefix, "share", "jupyter");
  const folder = join(data, "kernels", kernelName);
  const launch = join(ownPackage().root, "dist", "kernel", "kernel-launch.js");
  const spec = {
    argv: [process.execPath, launch, "{connection_file}"],
    display_name: kernelDisplayName,
    language: "typescript",
    interrupt_mode: "signal",
    env: processEnvironment,
    metadata: { debugger: true },
  };
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "kernel.json"), `${JSON.stringify(spec, null, 2)}\n`);
    await writeFile(join(folder, "logo-svg.svg"), logo);
  } catch (error) {
    throw new ProbelabError(
      `Can't write the kernel to ${folder}: ${(error as Error).message}. Name a folder that you may write to with --prefix.`,
      { cause: error },
    );
  }
  return folder;
}

/** Jupyter's data folder of the user. Source: https://docs.jupyter.org/en/latest/use/jupyter-directories.html */
function userData(environment: NodeJS.ProcessEnv): string {
  const home = environment["HOME"] ?? homedir();
  const given = environment["JUPYTER_DATA_DIR"];
  if (given) return given;
  if (process.platform === "darwin") return join(home, "Library", "Jupyter");
  if (process.platform === "win32") return join(environment["APPDATA"] ?? home, "jupyter");
  return join(environment["XDG_DATA_HOME"] ?? join(home, ".local", "share"), "jupyter");
}
