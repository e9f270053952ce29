import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { readNotebook } from "../../notebook/notebook-file.js";
import { scheduleOf, type Schedule } from "./schedule.js";

/** A notebook that wants to run, or can't say so. */
export interface Scheduled {
  /** Its path from the folder, without `.ipynb`. */
  readonly name: string;
  readonly path: string;
  readonly schedule?: Schedule;
  /** Why its schedule can't be used. */
  readonly problem?: string;
}

/** What was read of a file, and of which. */
export type Cache = Map<string, { readonly stamp: string; readonly found: Scheduled | undefined }>;

/**
 * The notebooks below a folder that carry a schedule, by name. Hidden folders, `node_modules` and the
 * schedule's own output are left out, and symbolic links to folders.
 *
 * @param cache what an earlier call read: a file that has not changed is not read again
 * @throws where the folder can't be read
 */
export async function findScheduled(
  folder: string,
  out: string,
  cache: Cache = new Map(),
): Promise<Scheduled[]> {
  const paths = await notebooksBelow(resolve(folder), resolve(out));
  const found: Scheduled[] = [];
  for (const path of paths) {
    const info = await stat(path).catch(() => undefined);
    if (info === undefined) continue;
    const stamp = `${info.mtimeMs} ${info.size} ${info.ino}`;
    let known = cache.get(path);
    if (known?.stamp !== stamp) {
      known = { stamp, found: await look(resolve(folder), path, info) };
      cache.set(path, known);
    }
    if (known.found !== undefined) found.push(known.found);
  }
  for (const path of cache.keys()) if (!paths.includes(path)) cache.delete(path);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function notebooksBelow(folder: string, out: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules" || path === out) continue;
    if (entry.isDirectory()) found.push(...(await notebooksBelow(path, out).catch(() => [])));
    else if (entry.name.endsWith(".ipynb")) found.push(path);
  }
  return found;
}

async function look(folder: string, path: string, info: Stats): Promise<Scheduled | undefined> {
  const name = relative(folder, path).split(sep).join("/").slice(0, -".ipynb".length);
  try {
    const schedule = info.isFile() ? scheduleOf(await readNotebook(path)) : undefined;
    return schedule && { name, path, schedule };
  } catch (error) {
    return { name, path, problem: (error as Error).message };
  }
}
