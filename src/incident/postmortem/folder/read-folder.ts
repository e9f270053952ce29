import { lstat, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ProbelabError } from "../../../base/error.js";
import { dataPath, RECORD } from "./folder-files.js";
import { MANIFEST, readManifest, sha256, type Manifest } from "./manifest.js";
import { parseRecord, type PostmortemRecord } from "../record.js";

/** What a folder holds to make everything else of; or why it can't be used. */
export interface FolderContent {
  readonly record?: PostmortemRecord;
  /** Parquet file by the figure's name. */
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
    for (const { name } of record.figures) {
      const path = dataPath(name);
      const bytes = await readPlain(join(folder, path));
      // A changed file may be anything: what it would draw proves nothing.
      if (sha256(bytes) !== files[path]?.sha256) throw new Error(`${path} is not what was saved`);
      data.set(name, bytes);
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
