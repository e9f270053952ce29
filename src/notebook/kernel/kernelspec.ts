import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { kernelDisplayName, kernelName, ownPackage, processEnvironment } from "../own-package.js";

/** The kernel's picture in Jupyter's launcher: a count that drops. */
const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img"><title>probelab</title><rect width="64" height="64" rx="12" fill="#0a5cad"/><path d="M10 22h10l8 6 8 2 8 14h10" fill="none" stroke="#fff" stroke-width="5" stroke-linejoin="round" stroke-linecap="round"/><circle cx="36" cy="30" r="6" fill="#ffb000" stroke="#0a5cad" stroke-width="2"/></svg>
`;

/** The place to install the kernel: for the user, into a prefix, or into the active Python environment. */
export type KernelPlace =
  | { readonly kind: "user" }
  | { readonly kind: "prefix"; readonly prefix: string }
  | { readonly kind: "sys-prefix" };

/** A kernel that Jupyter finds. */
export interface InstalledKernel {
  readonly name: string;
  readonly displayName: string;
  readonly folder: string;
  /** The program that Jupyter starts, and its arguments. */
  readonly argv: readonly string[];
}

/**
 * Writes the kernel where Jupyter looks for kernels. It needs no Python.
 *
 * @returns the folder written
 * @throws ProbelabError where it can't be written, or there is no active Python environment
 */
export async function installKernel(
  place: KernelPlace,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const folder = join(dataFolder(place, environment), "kernels", kernelName);
  const launch = join(ownPackage().root, "dist", "notebook", "kernel", "kernel-launch.js");
  const spec = {
    argv: [process.execPath, launch, "{connection_file}"],
    display_name: kernelDisplayName,
    language: "typescript",
    interrupt_mode: "signal",
    env: processEnvironment,
    metadata: { debugger: false },
  };
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "kernel.json"), `${JSON.stringify(spec, null, 2)}\n`);
    await writeFile(join(folder, "logo-svg.svg"), logo);
  } catch (error) {
    throw new ProbelabError(
      `Can't write the kernel to ${folder}: ${(error as Error).message}. Use --user, or --prefix with a folder that you may write to.`,
      { cause: error },
    );
  }
  return folder;
}

/** Removes the kernel from every place where Jupyter would find it. @returns the folders removed */
export async function uninstallKernel(): Promise<string[]> {
  const installed = installedKernels().filter(({ name }) => name === kernelName);
  for (const { folder } of installed) await rm(folder, { recursive: true });
  return installed.map(({ folder }) => folder);
}

/** The kernels of probelab and tslab that Jupyter finds; the first of a name hides the others. */
export function installedKernels(environment: NodeJS.ProcessEnv = process.env): InstalledKernel[] {
  const folders = [
    ...(environment["JUPYTER_PATH"] ?? "").split(delimiter).filter((path) => path !== ""),
    dataFolder({ kind: "user" }, environment),
    ...prefixes(environment).map(shared),
    ...(process.platform === "win32"
      ? [join(environment["PROGRAMDATA"] ?? "C:\\ProgramData", "jupyter")]
      : ["/usr/local/share/jupyter", "/usr/share/jupyter"]),
  ];
  return [...new Set(folders)].flatMap((path) =>
    [kernelName, "tslab"].flatMap((name) => {
      const folder = join(path, "kernels", name);
      const file = join(folder, "kernel.json");
      if (!existsSync(file)) return [];
      try {
        const spec = JSON.parse(readFileSync(file, "utf8")) as Record<string, never>;
        return [{ name, displayName: spec["display_name"]!, folder, argv: spec["argv"]! }];
      } catch {
        return [{ name, displayName: "(its kernel.json can't be read)", folder, argv: [] }];
      }
    }),
  );
}

/** Jupyter's data folder at a place. */
function dataFolder(place: KernelPlace, environment: NodeJS.ProcessEnv): string {
  if (place.kind === "prefix") return shared(place.prefix);
  if (place.kind === "sys-prefix") {
    const [prefix] = prefixes(environment);
    if (prefix !== undefined) return shared(prefix);
    throw new ProbelabError(
      "Can't find the Python environment to install into: activate it (VIRTUAL_ENV or CONDA_PREFIX is then set), or name it with --prefix.",
    );
  }
  const home = environment["HOME"] ?? homedir();
  const given = environment["JUPYTER_DATA_DIR"];
  if (given) return given;
  if (process.platform === "darwin") return join(home, "Library", "Jupyter");
  if (process.platform === "win32") return join(environment["APPDATA"] ?? home, "jupyter");
  return join(environment["XDG_DATA_HOME"] ?? join(home, ".local", "share"), "jupyter");
}

const shared = (prefix: string) => join(prefix, "share", "jupyter");

/** Active Python environments. */
function prefixes({ VIRTUAL_ENV, CONDA_PREFIX }: NodeJS.ProcessEnv): string[] {
  return [VIRTUAL_ENV, CONDA_PREFIX].filter((prefix) => !!prefix) as string[];
}
