import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST, sha256, type Manifest } from "./manifest.js";

/** A file of a postmortem's folder against the manifest. */
export interface FileCheck {
  readonly path: string;
  readonly state: "same" | "changed" | "missing" | "added";
}

// What desktops leave in every folder that somebody looks into.
const DROPPED = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/**
 * Every file of the manifest and of the folder, by path: does it hold the bytes that were saved? The
 * manifest itself is among them where it was changed: it tells another size than the hash's file has.
 */
export async function checkFiles(folder: string, { files }: Manifest): Promise<FileCheck[]> {
  const found = await filesOf(folder);
  let miscounted = false;
  const listed = await Promise.all(
    Object.entries(files).map(async ([path, { sha256: hash, bytes }]): Promise<FileCheck> => {
      if (!found.has(path)) return { path, state: "missing" };
      // A link or a pipe is no file that was saved, wherever it leads.
      const content = found.get(path) ? await readFile(join(folder, path)) : undefined;
      const same = content !== undefined && sha256(content) === hash;
      if (same && content.length !== bytes) miscounted = true;
      return { path, state: same ? "same" : "changed" };
    }),
  );
  if (miscounted) listed.push({ path: MANIFEST, state: "changed" });
  const added = [...found.keys()]
    .filter((path) => path !== MANIFEST && !Object.hasOwn(files, path) && !DROPPED.test(path))
    .map((path): FileCheck => ({ path, state: "added" }));
  return [...listed, ...added].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Paths of all files, with `/`, relative to the folder, and whether each is a plain file. */
async function filesOf(folder: string): Promise<Map<string, boolean>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
        return [path.replaceAll("\\", "/"), entry.isFile()];
      }),
  );
}
