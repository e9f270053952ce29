import { createHash } from "node:crypto";
import { z } from "zod";
import { ProbelabError } from "../../../base/error.js";
import type { FolderFiles } from "../../../files/write-folder.js";

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
