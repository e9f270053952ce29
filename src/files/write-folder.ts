import { createHash, randomUUID } from "node:crypto";
import { lstat, mkdir, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { ProbelabError } from "../error.js";
import { exchange } from "./exchange.js";

/** Files of a folder: paths with `/`, relative to it. */
export type FolderFiles = ReadonlyMap<string, string | Uint8Array>;

/**
 * Writes a folder whole or not at all: into a temporary one beside it, every file flushed to the
 * disk, then put in its place in one step. A process killed on the way leaves the old folder or the
 * new one. What a killed process left beside it goes with the next time.
 *
 * Where the system can't exchange two folders (Windows, some network drives), the old one is moved
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
  const name = basename(target);
  const own = `${ownPrefix(name)}${process.pid}-${randomUUID().slice(0, 8)}`;
  const made = join(parent, `${own}.tmp`);
  try {
    await mkdir(parent, { recursive: true });
    await removeAbandoned(parent, name, ".tmp");
    if (await holdsSomething(target)) await mayReplace(target);
    await fill(made, files);
    const left = await putInPlace(made, target, join(parent, `${own}.old`), mayReplace);
    // The new names must be on the disk before the old content goes from it.
    await flush(parent);
    if (left !== undefined) await remove(left);
    await removeAbandoned(parent, name, ".old");
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

const HOST = hostname().replace(/[^\w]/g, "_").slice(0, 64);

async function fill(folder: string, files: FolderFiles): Promise<void> {
  await mkdir(folder);
  const folders = new Set([folder]);
  for (const [path, content] of files) {
    const file = join(folder, path);
    if (!file.startsWith(`${folder}${sep}`)) throw new TypeError(`${path} leads out of the folder`);
    await mkdir(dirname(file), { recursive: true });
    for (let each = dirname(file); each !== folder; each = dirname(each)) folders.add(each);
    await using handle = await opened(file);
    await handle.file.writeFile(content);
    await handle.file.sync();
  }
  for (const each of folders) await flush(each);
}

async function opened(path: string): Promise<AsyncDisposable & { readonly file: FileHandle }> {
  const file = await open(path, "wx");
  return { file, [Symbol.asyncDispose]: () => file.close() };
}

/** @returns where the old folder is now, if there was one. */
async function putInPlace(
  made: string,
  target: string,
  aside: string,
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
  await rename(target, aside);
  try {
    await rename(made, target);
  } catch (error) {
    await rename(aside, target);
    throw error;
  }
  return aside;
}

async function holdsSomething(path: string): Promise<boolean> {
  try {
    return !(await lstat(path)).isDirectory() || (await readdir(path)).length > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Begins the names of what is made beside the folder. */
function ownPrefix(name: string): string {
  // A name may be as long as a file system allows: what is put before and after it must still fit.
  const isLong = Buffer.byteLength(name) > 100;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `.${isLong ? `${[...name].slice(0, 16).join("")}-${hash}` : name}.${HOST}-`;
}

/** Folders that this machine's processes which are no more left beside. */
async function removeAbandoned(parent: string, name: string, end: ".tmp" | ".old"): Promise<void> {
  for (const entry of await readdir(parent)) {
    if (!entry.startsWith(ownPrefix(name)) || !entry.endsWith(end)) continue;
    const pid = Number(/^(\d+)-[0-9a-f]{8}\.\w+$/.exec(entry.slice(ownPrefix(name).length))?.[1]);
    if (pid > 0 && !isAlive(pid)) await remove(join(parent, entry));
  }
}

/** Removes what is of no use any more; what can't be removed is no reason to fail. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Makes names of a folder last; some file systems can't, which is no reason to fail. */
async function flush(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch {
    // the files' content is safe already
  }
}
