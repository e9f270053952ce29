import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { checkFiles, type FileCheck } from "../folder/check-files.js";
import { folderFiles } from "../folder/folder-files.js";
import { MANIFEST, manifestOf, type Manifest } from "../folder/manifest.js";
import { messageOf, openFolder, readFolder, readPlain } from "../folder/read-folder.js";
import { pictureDifference } from "./picture-difference.js";
import type { PostmortemRecord } from "../record.js";
import { splitVersions, versions } from "../versions.js";

/** A file that was made again of the data, against the one that is there. */
export interface RedrawnFile {
  readonly path: string;
  /**
   * `same` bytes; `same picture` in other bytes; `differs`; `missing`, and not in the manifest either;
   * `other version`: written by another probelab or Node, whose documents have other bytes by nature
   * (pictures, rows and queries are compared all the same); `other fonts`: a PNG or the PDF, drawn
   * with fonts for characters that the shipped one has not, which are others on this machine.
   */
  readonly state: "same" | "same picture" | "differs" | "missing" | "other version" | "other fonts";
  /** Of a picture in other bytes: how many of its pixels differ visibly. */
  readonly pixels?: number;
}

/** What is right and wrong with a postmortem's folder. */
export interface Verification {
  readonly manifest: Manifest;
  readonly files: readonly FileCheck[];
  /** Files made again of `postmortem.json` and `data/`; empty where those are damaged. */
  readonly redrawn: readonly RedrawnFile[];
  /** Why nothing could be drawn again. */
  readonly undrawn?: string;
  /** Families of the fonts beside the shipped one, where they aren't the same now as then. */
  readonly fonts?: { readonly then: readonly string[]; readonly now: readonly string[] };
  /** True where everything that was saved is right: every hash, and what was drawn again is the same. */
  readonly intact: boolean;
}

/** True where the folder is as it was saved: intact, and nothing was added. */
export function isAsSaved({ intact, files }: Verification): boolean {
  return intact && files.every(({ state }) => state !== "added");
}

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
  const redrawn: Redrawn =
    record === undefined
      ? { files: [], ...(reason !== undefined && { reason }) }
      : await redraw(folder, manifest, record, data).catch((error: unknown) => ({
          files: [],
          reason: messageOf(error),
        }));
  const right =
    files.every(({ state }) => state === "same" || state === "added") &&
    redrawn.reason === undefined &&
    redrawn.files.every(({ state }) => state !== "differs" && state !== "missing");
  return {
    manifest,
    files,
    redrawn: redrawn.files,
    ...(redrawn.reason !== undefined && { undrawn: redrawn.reason }),
    ...(redrawn.fonts && { fonts: redrawn.fonts }),
    intact: right,
  };
}

type Redrawn = { files: RedrawnFile[]; reason?: string } & Pick<Verification, "fonts">;

async function redraw(
  folder: string,
  manifest: Manifest,
  record: PostmortemRecord,
  data: ReadonlyMap<string, Uint8Array>,
): Promise<Redrawn> {
  const made = await folderFiles(record, data);
  const own = versions();
  const written = splitVersions(record.versions);
  const now = splitVersions(made.fonts).fonts;
  const sameVersions = isDeepStrictEqual(written.rest, own);
  const sameFonts = isDeepStrictEqual(written.fonts, now);
  const comparable = (path: string): boolean =>
    sameVersions ||
    /\.(csv|sql)$/.test(path) ||
    (path.endsWith(".md") && record.versions["probelab"] === own["probelab"]);
  const files: RedrawnFile[] = [];
  if (!isDeepStrictEqual(manifestOf(new Map(), record), { ...manifest, files: {} })) {
    files.push({ path: MANIFEST, state: "differs" });
  }
  for (const [path, content] of made.files) {
    if (path.endsWith(".parquet")) continue;
    const found = await readPlain(join(folder, path)).catch(() => undefined);
    if (found === undefined) {
      // One that the manifest lists is told as missing already.
      if (!Object.hasOwn(manifest.files, path)) files.push({ path, state: "missing" });
      continue;
    }
    const fresh = Buffer.from(content);
    if (fresh.equals(found)) files.push({ path, state: "same" });
    else if (!sameFonts && made.otherFonts.has(path)) files.push({ path, state: "other fonts" });
    else if (path.endsWith(".png")) {
      const { pixels, same } = pictureDifference(found, fresh);
      files.push({ path, state: same ? "same picture" : "differs", pixels });
    } else files.push({ path, state: comparable(path) ? "differs" : "other version" });
  }
  if (sameFonts) return { files };
  return { files, fonts: { then: Object.keys(written.fonts), now: Object.keys(now) } };
}
