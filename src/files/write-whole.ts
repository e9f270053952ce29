import { mkdir, open, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ProbelabError } from "../base/error.js";
import { besidePath, remove, removeAbandoned } from "./beside.js";

/**
 * Writes a file whole or not at all: into a temporary file beside it, flushed to the disk, then
 * renamed. Folders are made. What a killed process left beside it goes with the next time.
 *
 * @returns the absolute path. @throws ProbelabError where it can't be written.
 */
export async function writeWhole(path: string, content: string | Buffer): Promise<string> {
  const target = resolve(path);
  const directory = dirname(target);
  const temporary = besidePath(target, ".tmp");
  try {
    await mkdir(directory, { recursive: true });
    // A folder that may be written but not listed is fine to write into.
    await removeAbandoned(target, ".tmp").catch(() => undefined);
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
    await syncDirectory(directory);
    return target;
  } catch (error) {
    await remove(temporary);
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ProbelabError(
      `Can't write ${JSON.stringify(path)} (${code}): nothing was changed; check that the folder can be written and the disk isn't full.`,
      { cause: error },
    );
  }
}

/** Makes the rename itself last; some file systems can't, which is no reason to fail. */
async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, "r");
    await handle.sync().finally(() => handle.close());
  } catch {
    // the file's content is safe already
  }
}
