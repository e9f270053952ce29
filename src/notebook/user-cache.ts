import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/**
 * What a process that runs cells need not find out again, in the user's own cache: below `XDG_CACHE_HOME` or
 * `~/.cache`. It holds nothing of a notebook. Where it can't be read or written, everything goes on without.
 */
function cachePath(name: string): string {
  const given = process.env["XDG_CACHE_HOME"] ?? "";
  return join(isAbsolute(given) ? given : join(homedir(), ".cache"), "probelab", name);
}

export function readCache(name: string): Buffer | undefined {
  try {
    return readFileSync(cachePath(name));
  } catch {
    return undefined;
  }
}

/**
 * A reader sees the old data or the new, never a part.
 *
 * @param most how many files may be in its folder; the oldest go
 */
export function writeCache(name: string, data: () => Uint8Array | string, most = Infinity): void {
  const path = cachePath(name);
  const folder = dirname(path);
  const part = `${path}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const others = readdirSync(folder).map((other) => join(folder, other));
    if (others.length > most) {
      const age = (other: string) => statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      others.sort((a, b) => age(b) - age(a));
      for (const old of others.slice(most)) rmSync(old, { force: true });
    }
    writeFileSync(part, data(), { mode: 0o600 });
    renameSync(part, path);
  } catch {
    rmSync(part, { force: true });
  }
}

/** What is another one when a file has changed; undefined where there is none. */
export function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.mtimeMs} ${stat.size}`;
}
