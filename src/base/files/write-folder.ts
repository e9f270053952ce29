import { lstat, mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { ProbelabError } from "../error.js";
import { systemCall } from "../system-call.js";
import { besidePath, flushFolder, remove, removeAbandoned, writeFlushed } from "./write-whole.js";

/** Files of a folder: paths with `/`, relative to it. */
export type FolderFiles = ReadonlyMap<string, string | Uint8Array>;

/**
 * Writes a folder whole or not at all: into a temporary one beside it, every file flushed to the
 * disk, then put in its place in one step. A process killed on the way leaves the old folder or the
 * new one. What a killed process left beside it goes with the next time.
 *
 * If the system can't exchange two folders (Windows, some network drives), the old one is moved
 * aside first: a kill in just that moment leaves it beside, as `.NAME.….old`.
 *
 * @param mayReplace is asked before a folder that is there is replaced, and throws where it must not be.
 * @returns the absolute path. @throws ProbelabError where it can't be written.
 */
export async function writeFolder(
  path: string,
  files: FolderFiles,
  mayReplace: (folder: string) => Promise<void>,
): Promise<string> {
  const target = resolve(path);
  const parent = dirname(target);
  const made = besidePath(target, ".tmp");
  try {
    await mkdir(parent, { recursive: true });
    await removeAbandoned(target, ".tmp");
    if (await holdsSomething(target)) await mayReplace(target);
    await fill(made, files);
    const left = await putInPlace(made, target, mayReplace);
    // The new names must be on the disk before the old content goes from it.
    await flushFolder(parent);
    if (left !== undefined) await remove(left);
    await removeAbandoned(target, ".old");
    return target;
  } catch (error) {
    await remove(made);
    if (error instanceof ProbelabError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ProbelabError(
      `Can't write the folder ${JSON.stringify(path)} (${code}): nothing was changed; check that ${JSON.stringify(parent)} can be written and the disk isn't full.`,
      { cause: error },
    );
  }
}

async function fill(folder: string, files: FolderFiles): Promise<void> {
  await mkdir(folder);
  const folders = new Set([folder]);
  for (const [path, content] of files) {
    const file = join(folder, path);
    if (!file.startsWith(`${folder}${sep}`)) throw new TypeError(`${path} leads out of the folder`);
    await mkdir(dirname(file), { recursive: true });
    for (let each = dirname(file); each !== folder; each = dirname(each)) folders.add(each);
    await writeFlushed(file, content);
  }
  for (const each of folders) await flushFolder(each);
}

/** @returns where the old folder is now, if there was one. */
async function putInPlace(
  made: string,
  target: string,
  mayReplace: (folder: string) => Promise<void>,
): Promise<string | undefined> {
  if (!(await holdsSomething(target))) {
    try {
      // An empty folder is replaced by the rename itself.
      await rename(made, target);
      return undefined;
    } catch (error) {
      // Somebody else was here meanwhile.
      if (!(await holdsSomething(target))) throw error;
      await mayReplace(target);
    }
  }
  if (exchange(made, target)) return made;
  const aside = besidePath(target, ".old");
  await rename(target, aside);
  try {
    await rename(made, target);
  } catch (error) {
    await rename(aside, target);
    throw error;
  }
  return aside;
}

/**
 * Exchanges two folders of one file system in one step: at no moment is either path without one of
 * them. False where the system can't; nothing has changed then.
 */
export function exchange(one: string, other: string): boolean {
  // With AT_FDCWD and RENAME_EXCHANGE; with RENAME_SWAP.
  return process.platform === "darwin"
    ? systemCall("renamex_np", [one, other, 2]) === 0
    : systemCall("renameat2", [-100, one, -100, other, 2]) === 0;
}

async function holdsSomething(path: string): Promise<boolean> {
  try {
    return !(await lstat(path)).isDirectory() || (await readdir(path)).length > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
