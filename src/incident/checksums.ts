import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ProbelabError } from "../base/error.js";
import type { FolderFiles } from "../base/files/write-folder.js";
import { cleanText } from "../base/text.js";

/** The file of hashes of a postmortem's folder, which `sha256sum -c` checks. */
export const CHECKSUMS = "SHA256SUMS";

/** A line of `sha256sum`: the hash of a file, and its path in the folder. */
const LINE = /^([0-9a-f]{64}) [ *]((?:[a-z]+\/)?[\w-]*\.[a-z]+)$/;

/** The hashes of files, as `sha256sum` writes them. */
export function checksumsText(files: FolderFiles): string {
  return [...files].map(([path, content]) => `${sha256(content)}  ${path}\n`).join("");
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A file's bytes. @throws for a link, a pipe or a device: reading one may never end. */
export async function readPlainFile(path: string): Promise<Buffer> {
  if (!(await lstat(path)).isFile()) throw new Error("a link or a device stands where a file was");
  return readFile(path);
}

// Desktops leave these in every folder that somebody opens.
const DROPPED = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/**
 * The files of a postmortem's folder that are not as they were saved: `postmortem.md (changed)`.
 *
 * @throws ProbelabError where the hashes can't be read.
 */
export async function changesSinceSaved(folder: string): Promise<string[]> {
  const bytes = await readPlainFile(join(folder, CHECKSUMS)).catch(() => undefined);
  const lines = bytes?.toString("utf8").trimEnd().split("\n") ?? [];
  const listed = new Map(lines.map((line) => [LINE.exec(line)?.[2], LINE.exec(line)?.[1]]));
  if (bytes === undefined || listed.has(undefined)) {
    throw new ProbelabError(
      `Can't tell what was changed in ${JSON.stringify(folder)}: its ${CHECKSUMS} is damaged. Pass another folder.`,
    );
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
  const added = paths.filter(
    (path) => path !== CHECKSUMS && !listed.has(path) && !DROPPED.test(path),
  );
  const changes = added.map((path) => `${path} (added)`);
  for (const [path, hash] of listed as Map<string, string>) {
    const content = await readPlainFile(join(folder, path)).catch(() => undefined);
    if (content !== undefined && sha256(content) === hash) continue;
    changes.push(`${path} (${paths.includes(path) ? "changed" : "missing"})`);
  }
  return changes.sort().map((change) => cleanText(change, 500));
}
