import { createHash, randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

const HOST = hostname().replace(/[^\w]/g, "_").slice(0, 64);

/** A path beside `target` for what is not yet, or no more, in its place; it tells whose it is. */
export function besidePath(target: string, end: ".tmp" | ".old"): string {
  const own = `${ownPrefix(basename(target))}${process.pid}-${randomUUID().slice(0, 8)}`;
  return join(dirname(target), `${own}${end}`);
}

/** Removes what this machine's processes which are no more left beside `target`. */
export async function removeAbandoned(target: string, end: ".tmp" | ".old"): Promise<void> {
  const prefix = ownPrefix(basename(target));
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

/** Begins the names of what is made beside a file or folder. */
function ownPrefix(name: string): string {
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
