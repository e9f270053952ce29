import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { checkFiles, type FileCheck } from "../folder/check-files.js";
import { folderFiles, RECORD } from "../folder/folder-files.js";
import type { Manifest } from "../folder/manifest.js";
import { messageOf, openFolder, readFolder, readPlain } from "../folder/read-folder.js";
import { pictureDifference } from "./picture-difference.js";
import type { PostmortemRecord } from "../record.js";
import { versions } from "../versions.js";

/** A file that was made again of the data, against the one that is there. */
export interface RedrawnFile {
  readonly path: string;
  /**
   * `same` bytes; `same picture` in other bytes; `differs`; `other version`: written by another
   * probelab or Node, whose documents have other bytes by nature (pictures are compared all the same).
   */
  readonly state: "same" | "same picture" | "differs" | "other version";
  /** Of a picture that differs: the share of its pixels. */
  readonly share?: number;
}

/** What is right and wrong with a postmortem's folder. */
export interface Verification {
  readonly manifest: Manifest;
  readonly files: readonly FileCheck[];
  /** Files made again of `postmortem.json` and `data/`; empty where those are damaged. */
  readonly redrawn: readonly RedrawnFile[];
  /** Why nothing could be drawn again. */
  readonly undrawn?: string;
  /** True where every hash is right, everything was drawn again, and is the same. */
  readonly intact: boolean;
}

// Of a picture's pixels so many may differ between kinds of processor.
const OTHER_PIXELS = 0.001;

/**
 * Checks the folder of a postmortem: the hashes of the manifest; then draws every chart and writes
 * every document again from `postmortem.json` and `data/`, without a database, and compares.
 *
 * Hashes tell what was changed by accident or by hand, not who wrote it: whoever can write the
 * folder can write a new manifest as well.
 *
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function verifyPostmortem(directory: string): Promise<Verification> {
  const { folder, manifest } = await openFolder(directory);
  const files = await checkFiles(folder, manifest);
  const { record, data, reason } = await readFolder(folder, manifest);
  const redrawn =
    record === undefined
      ? { files: [], reason }
      : await redraw(folder, record, data).catch((error: unknown) => ({
          files: [],
          reason: messageOf(error),
        }));
  const right =
    files.every(({ state }) => state === "same" || state === "added") &&
    redrawn.reason === undefined &&
    redrawn.files.every(({ state }) => state !== "differs");
  return {
    manifest,
    files,
    redrawn: redrawn.files,
    ...(redrawn.reason !== undefined && { undrawn: redrawn.reason }),
    intact: right,
  };
}

async function redraw(
  folder: string,
  record: PostmortemRecord,
  data: ReadonlyMap<string, Uint8Array>,
): Promise<{ files: RedrawnFile[]; reason?: string }> {
  const made = await folderFiles(record, data);
  const sameVersions = isDeepStrictEqual(record.versions, versions());
  const files: RedrawnFile[] = [];
  for (const [path, content] of made) {
    if (path === RECORD || path.endsWith(".parquet")) continue;
    const found = await readPlain(join(folder, path)).catch(() => undefined);
    if (found === undefined) continue;
    const fresh = Buffer.from(content);
    if (fresh.equals(found)) files.push({ path, state: "same" });
    else if (path.endsWith(".png")) {
      const share = pictureDifference(found, fresh);
      const same = share <= OTHER_PIXELS;
      files.push(same ? { path, state: "same picture" } : { path, state: "differs", share });
    } else files.push({ path, state: sameVersions ? "differs" : "other version" });
  }
  return { files };
}
