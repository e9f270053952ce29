import { constants, mkdir, open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../error.js";
import { lockFile, systemCall } from "../system-call.js";

const STEP_MS = 25;

/**
 * Runs `work` while nobody else, in this process or another, runs any under the same path. The
 * system takes the lock back where its holder is killed. Where the system has no locks it runs at once.
 *
 * @param patience how long to wait for another holder, in milliseconds.
 * @param busy the error where that is over.
 * @throws ProbelabError where somebody holds it for longer than that.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  patience = 120_000,
  busy = `Can't lock ${path}: another process has held it for ${patience / 1000} s. End that process, and try again.`,
): Promise<T> {
  const file = await openLock(path);
  try {
    const locks = systemCall("getpid", []) !== undefined;
    for (let waited = 0; locks && !lockFile(file.fd); waited += STEP_MS) {
      if (waited >= patience) throw new ProbelabError(busy);
      await sleep(STEP_MS);
    }
    return await work();
  } finally {
    await file.close();
  }
}

async function openLock(path: string): Promise<FileHandle> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // Only its owner may open it, as whoever can open a file can lock it; O_RDWR doesn't wait for a pipe.
    return await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new ProbelabError(
      `Can't write ${JSON.stringify(path)} (${code}): check that the folder can be written and the disk isn't full.`,
      { cause: error },
    );
  }
}
