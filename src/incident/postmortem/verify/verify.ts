import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { decode } from "fast-png";
import { folderFiles } from "../folder/folder-files.js";
import {
  checkFiles,
  MANIFEST,
  manifestOf,
  messageOf,
  openFolder,
  readFolder,
  readPlain,
  type FileCheck,
  type Manifest,
} from "../folder/manifest.js";
import type { PostmortemRecord } from "../record.js";
import { versions } from "../versions.js";

/** A file that was made again of the data, against the one that is there. */
export interface RedrawnFile {
  readonly path: string;
  /**
   * `same` bytes; `same picture` in other bytes; `differs`; `missing`, and not in the manifest either;
   * `other version`: written by another probelab or Node, whose documents have other bytes by nature
   * (pictures, rows and queries are compared all the same), or a PNG or the PDF with characters that
   * the shipped font has not, where this machine has other fonts for them.
   */
  readonly state: "same" | "same picture" | "differs" | "missing" | "other version";
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
  let undrawn = reason;
  let redrawn: RedrawnFile[] = [];
  if (record !== undefined) {
    redrawn = await redraw(folder, manifest, record, data).catch((error: unknown) => {
      undrawn = messageOf(error);
      return [];
    });
  }
  const intact =
    files.every(({ state }) => state === "same" || state === "added") &&
    undrawn === undefined &&
    redrawn.every(({ state }) => state !== "differs" && state !== "missing");
  return { manifest, files, redrawn, ...(undrawn !== undefined && { undrawn }), intact };
}

async function redraw(
  folder: string,
  manifest: Manifest,
  record: PostmortemRecord,
  data: ReadonlyMap<string, Uint8Array>,
): Promise<RedrawnFile[]> {
  const made = await folderFiles(record, data);
  const own = versions();
  const sameVersions =
    record.versions["probelab"] === own["probelab"] && record.versions["node"] === own["node"];
  const { probelab: _, node: __, ...fonts } = record.versions;
  const sameFonts = isDeepStrictEqual(fonts, made.fonts);
  /** How a file stands that has other bytes than the one made now. */
  const stateOf = (path: string, found: Uint8Array, fresh: Uint8Array): RedrawnFile => {
    if (!sameFonts && made.otherFonts.has(path)) return { path, state: "other version" };
    if (path.endsWith(".png")) {
      const { pixels, same } = pictureDifference(found, fresh);
      return { path, state: same ? "same picture" : "differs", pixels };
    }
    const comparable =
      sameVersions ||
      /\.(csv|sql)$/.test(path) ||
      (path.endsWith(".md") && record.versions["probelab"] === own["probelab"]);
    return { path, state: comparable ? "differs" : "other version" };
  };
  const files: RedrawnFile[] = [];
  if (!isDeepStrictEqual(manifestOf(new Map(), record), { ...manifest, files: {} })) {
    files.push({ path: MANIFEST, state: "differs" });
  }
  for (const [path, content] of made.files) {
    if (path.endsWith(".parquet")) continue;
    const fresh = Buffer.from(content);
    const found = await readPlain(join(folder, path)).catch(() => undefined);
    if (found !== undefined) {
      files.push(fresh.equals(found) ? { path, state: "same" } : stateOf(path, found, fresh));
    } else if (!Object.hasOwn(manifest.files, path)) {
      // One that the manifest lists is told as missing already.
      files.push({ path, state: "missing" });
    }
  }
  return files;
}

// The same library draws the same pixels; what remains is rounding of blended edges between kinds of
// processor: a channel may differ by 8 of 255, and of one pixel in a thousand by 64. What somebody
// painted differs by more.
const SAME_COLOUR = 8;
const OTHER_COLOUR = 64;
const OTHER_SHARE = 0.001;

/**
 * How many pixels of two PNG pictures differ visibly, and whether that is no more than rounding; those of
 * different sizes, and what is no PNG, differ as a whole.
 */
function pictureDifference(
  one: Uint8Array,
  other: Uint8Array,
): { readonly pixels: number; readonly same: boolean } {
  const [a, b] = [pixels(one), pixels(other)];
  if (a?.width !== b?.width || a?.height !== b?.height || a?.channels !== b?.channels || !a || !b) {
    return { pixels: a ? a.width * a.height : 0, same: false };
  }
  let different = 0;
  let most = 0;
  for (let at = 0; at < a.data.length; at += a.channels) {
    let by = 0;
    for (let channel = at; channel < at + a.channels; channel++) {
      by = Math.max(by, Math.abs((a.data[channel] ?? 0) - (b.data[channel] ?? 0)));
    }
    if (by > SAME_COLOUR) different++;
    most = Math.max(most, by);
  }
  const share = different / (a.width * a.height);
  return { pixels: different, same: share <= OTHER_SHARE && most <= OTHER_COLOUR };
}

function pixels(png: Uint8Array) {
  try {
    const picture = decode(png);
    return picture.depth === 8 ? picture : null;
  } catch {
    return null;
  }
}
