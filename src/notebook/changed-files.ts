import { sep } from "node:path";
import type TypeScript from "typescript";
import { ts } from "./typescript.js";

interface Known {
  readonly changed: TypeScript.FileWatcherCallback;
  modified: number | undefined;
}

/**
 * The notebook's own files that cells import: whether they changed is looked up before a cell is compiled.
 * TypeScript itself would watch every file and folder of the packages, a thousand watchers, and compile
 * anew whenever something is written there, also in the middle of a cell.
 */
export class ChangedFiles {
  readonly #known = new Map<string, Known>();

  /** Takes over from `ts.sys.watchFile`; files of packages are taken as they were when they were first read. */
  add(path: string, changed: TypeScript.FileWatcherCallback): TypeScript.FileWatcher {
    if (path.includes("/node_modules/")) return { close: () => undefined };
    this.#known.set(path, { changed, modified: modifiedAt(path) });
    return { close: () => void this.#known.delete(path) };
  }

  /** Tells TypeScript which of them changed since the last time. */
  tell(): void {
    for (const [path, file] of [...this.#known]) {
      const before = file.modified;
      file.modified = modifiedAt(path);
      if (file.modified === before) continue;
      file.changed(path, kindOfChange(before, file.modified));
    }
  }
}

function kindOfChange(
  before: number | undefined,
  now: number | undefined,
): TypeScript.FileWatcherEventKind {
  if (before === undefined) return ts.FileWatcherEventKind.Created;
  return now === undefined ? ts.FileWatcherEventKind.Deleted : ts.FileWatcherEventKind.Changed;
}

function modifiedAt(path: string): number | undefined {
  return ts.sys.getModifiedTime?.(path.replaceAll("/", sep))?.getTime();
}
