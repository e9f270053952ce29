import { spawnSync } from "node:child_process";
import { statfsSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system in memory that holds little. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Takes all that is free, but for `left` bytes. */
  fill(left?: number): void;
  /** Gives it back. */
  clear(): Promise<void>;
}

/** Mounts one; undefined where this user may not, which the test then says. */
export async function smallDisk(bytes: number): Promise<SmallDisk | undefined> {
  const path = await mkdtemp(join(tmpdir(), "probelab-disk-"));
  await mkdir(path, { recursive: true });
  const filler = join(path, "filler");
  if (!mounted(path, `size=${bytes}`)) {
    await rm(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    fill(left = 0) {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left)));
    },
    clear: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      unmount(path);
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Mounts a file system in memory, where this user may. */
export function mounted(path: string, options: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "probelab-test", path]).status === 0;
}

export function unmount(path: string): void {
  spawnSync("umount", ["--lazy", path]);
}
