import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../base/error.js";
import { lockFile, systemCall } from "../base/system-call.js";

const PATIENCE_MS = 120_000;
const STEP_MS = 25;

/**
 * Runs `work` while nobody else, in this process or another, runs any under the same path. The
 * system takes the lock back where its holder is killed. Where the system has no locks it runs at once.
 *
 * @throws ProbelabError where somebody holds it for two minutes.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, "a");
  try {
    const locks = systemCall("getpid", []) !== undefined;
    for (let waited = 0; locks && !lockFile(file.fd); waited += STEP_MS) {
      if (waited >= PATIENCE_MS) {
        throw new ProbelabError(
          `Can't lock ${path}: another process has held it for ${PATIENCE_MS / 1000} s. End that process, and try again.`,
        );
      }
      await sleep(STEP_MS);
    }
    return await work();
  } finally {
    await file.close();
  }
}
