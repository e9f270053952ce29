import { createHash, randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { ProbelabError } from "../error.js";

/**
 * Writes a file whole or not at all: into a temporary file beside it, flushed to the disk, then
 * renamed. Folders are made. What a killed process left beside it goes with the next time.
 *
 * @returns the absolute path. @throws ProbelabError where it can't be written.
 */
export async function writeWhole(path: string, content: string | Buffer): Promise<string> {
  const target = resolve(path);
  const folder = dirname(target);
  const temporary = besidePath(target, ".tmp");
  try {
    await mkdir(folder, { recursive: true });
    // A folder that may be written but not listed is fine to write into.
    await removeAbandoned(target, ".tmp").catch(() => undefined);
    await writeFlushed(temporary, content);
    await rename(temporary, target);
    await flushFolder(folder);
    return target;
  } catch (error) {
    await remove(temporary);
    throw error instanceof ProbelabError ? error : unwritten(path, error);
  }
}

/**
 * As `writeWhole`, on the disk when it returns; folders must be there, and what a killed process left
 * stays.
 */
export function writeWholeSync(path: string, content: string | Uint8Array): void {
  const temporary = besidePath(resolve(path), ".tmp");
  try {
    writeFileSync(temporary, content, { flag: "wx", flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw unwritten(path, error);
  }
  try {
    const folder = openSync(dirname(resolve(path)), "r");
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // as flushFolder
  }
}

function unwritten(path: string, error: unknown): ProbelabError {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  return new ProbelabError(
    `Can't write ${JSON.stringify(path)} (${code}): nothing was changed; check that the folder can be written and the disk isn't full.`,
    { cause: error },
  );
}

/** Writes a new file, down to the disk. */
export async function writeFlushed(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes names of a folder last; some file systems can't, which is no reason to fail. */
export async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch {
    // the files' content is safe already
  }
}

const HOST = hostname().replace(/[^\w]/g, "_").slice(0, 64);

/** A temporary path next to `target`, with our pid in it. */
export function besidePath(target: string, end: ".tmp" | ".old"): string {
  const own = `${prefixBeside(target)}${process.pid}-${randomUUID().slice(0, 8)}`;
  return join(dirname(target), `${own}${end}`);
}

/** Removes what processes of this machine that have ended left beside `target`. */
export async function removeAbandoned(target: string, end: ".tmp" | ".old"): Promise<void> {
  const prefix = prefixBeside(target);
  for (const entry of await readdir(dirname(target))) {
    if (!entry.startsWith(prefix) || !entry.endsWith(end)) continue;
    const pid = Number(/^(\d+)-[0-9a-f]{8}\.\w+$/.exec(entry.slice(prefix.length))?.[1]);
    if (pid > 0 && !isAlive(pid)) await remove(join(dirname(target), entry));
  }
}

/** Removes what is of no use any more; what can't be removed is no reason to fail. */
export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

function prefixBeside(target: string): string {
  const name = basename(target);
  // A name may be as long as a file system allows: what is put before and after it must still fit.
  const isLong = Buffer.byteLength(name) > 100;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `.${isLong ? `${[...name].slice(0, 16).join("")}-${hash}` : name}.${HOST}-`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
