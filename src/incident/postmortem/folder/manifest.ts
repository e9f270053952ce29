import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { ProbelabError } from "../../../base/error.js";
import type { FolderFiles } from "../../../files/write-folder.js";
import { parseRecord } from "../record-schemas.js";
import type { PostmortemRecord } from "../record.js";
import { dataPath, RECORD } from "./folder-files.js";

export const MANIFEST = "manifest.json";

const manifest = z.strictObject({
  format: z.literal("probelab manifest 1"),
  title: z.string(),
  savedAt: z.iso.datetime(),
  versions: z.record(z.string(), z.string()),
  /** Path, with `/`, to its SHA-256 in hexadecimal and its size in bytes. */
  files: z.record(
    z.string().regex(/^(?:[a-z]+\/)?[\w-]*\.[a-z]+$/),
    z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().min(0) }),
  ),
});

/** What `manifest.json` holds: every other file of the folder with its hash. */
export type Manifest = z.infer<typeof manifest>;

/** The manifest of files. */
export function manifestOf(
  files: FolderFiles,
  { title, savedAt, versions }: Pick<Manifest, "title" | "savedAt" | "versions">,
): Manifest {
  return {
    format: "probelab manifest 1",
    title,
    savedAt,
    versions,
    files: Object.fromEntries(
      [...files].map(([path, content]) => [
        path,
        { sha256: sha256(content), bytes: Buffer.byteLength(content) },
      ]),
    ),
  };
}

/** A manifest's text, read. @param folder for the error. @throws ProbelabError where it isn't one. */
export function readManifest(text: string, folder: string): Manifest {
  try {
    return manifest.parse(JSON.parse(text));
  } catch (error) {
    throw new ProbelabError(
      `Can't read ${MANIFEST} of ${JSON.stringify(folder)}: it is no manifest that this probelab writes; restore the file, or use the version that wrote it.`,
      { cause: error },
    );
  }
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

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

/** What a folder holds to make everything else of; or why it can't be used. */
export interface FolderContent {
  readonly record?: PostmortemRecord;
  /** What `dataOf` gave, by the figure's name. */
  readonly data: ReadonlyMap<string, Uint8Array>;
  readonly reason?: string;
}

/** The folder of a postmortem and its manifest. @throws ProbelabError where it holds none. */
export async function openFolder(
  directory: string,
): Promise<{ readonly folder: string; readonly manifest: Manifest }> {
  const folder = resolve(directory);
  const bytes = await readPlain(join(folder, MANIFEST)).catch(() => undefined);
  if (bytes !== undefined)
    return { folder, manifest: readManifest(bytes.toString("utf8"), folder) };
  throw new ProbelabError(
    `Can't verify ${JSON.stringify(directory)}: it has no ${MANIFEST}; pass the folder that report.save() wrote.`,
  );
}

/** The record and the data, where they are what was saved. */
export async function readFolder(folder: string, { files }: Manifest): Promise<FolderContent> {
  const data = new Map<string, Uint8Array>();
  try {
    const record = await readRecord(folder);
    for (const figure of record.figures) {
      const path = dataPath(figure);
      const bytes = await readPlain(join(folder, path));
      // A changed file may be anything: what it would draw proves nothing.
      if (sha256(bytes) !== files[path]?.sha256) throw new Error(`${path} is not what was saved`);
      data.set(figure.name, bytes);
    }
    return { record, data };
  } catch (error) {
    return { data, reason: `${RECORD} or data/ can't be used: ${messageOf(error)}` };
  }
}

/** A file's bytes. @throws for a link, a pipe or a device: reading one may never end. */
export async function readPlain(path: string): Promise<Buffer> {
  if (!(await lstat(path)).isFile()) throw new Error("a link or a device stands where a file was");
  return readFile(path);
}

/** The record alone. @throws where there is none that this probelab writes. */
export async function readRecord(folder: string): Promise<PostmortemRecord> {
  const bytes = await readPlain(join(folder, RECORD));
  try {
    return parseRecord(bytes.toString("utf8"));
  } catch {
    throw new Error(`${RECORD} is no record that this probelab writes`);
  }
}

/** An error's message on one line. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, " ").slice(0, 1_000);
}
