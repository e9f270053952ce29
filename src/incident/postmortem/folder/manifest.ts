import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { ProbelabError } from "../../../base/error.js";
import { cleanText, counted } from "../../../base/text.js";
import type { FolderFiles } from "../../../files/write-folder.js";
import { formatInstant } from "../../../time/time-zone.js";

export const MANIFEST = "manifest.json";

const manifest = z.strictObject({
  format: z.literal("probelab manifest 2"),
  title: z.string(),
  detectedAt: z.iso.datetime(),
  savedAt: z.iso.datetime(),
  /** True where addresses are masked. */
  masked: z.boolean(),
  versions: z.record(z.string(), z.string()),
  /** Path, with `/`, to its SHA-256 in hexadecimal and its size in bytes. */
  files: z.record(
    z.string().regex(/^(?:[a-z]+\/)?[\w-]*\.[a-z]+$/),
    z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().min(0) }),
  ),
});

/** The content of `manifest.json`: the incident, and every other file of the folder with its hash. */
export type Manifest = z.infer<typeof manifest>;

/** The manifest of files. */
export function manifestOf(
  files: FolderFiles,
  about: Omit<Manifest, "format" | "files">,
): Manifest {
  const { title, detectedAt, savedAt, masked, versions } = about;
  return {
    format: "probelab manifest 2",
    title,
    detectedAt,
    savedAt,
    masked,
    versions,
    files: Object.fromEntries(
      [...files].map(([path, content]) => [
        path,
        { sha256: sha256(content), bytes: Buffer.byteLength(content) },
      ]),
    ),
  };
}

/** The SHA-256 of a file's content, in hexadecimal. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The folder of a postmortem and its manifest. @throws ProbelabError where it holds none. */
export async function openFolder(
  directory: string,
): Promise<{ readonly folder: string; readonly manifest: Manifest }> {
  const folder = resolve(directory);
  const bytes = await readPlain(join(folder, MANIFEST)).catch(() => undefined);
  if (bytes === undefined) {
    throw new ProbelabError(
      `Can't verify ${JSON.stringify(directory)}: it has no ${MANIFEST}; pass the folder that report.save() wrote.`,
    );
  }
  try {
    return { folder, manifest: manifest.parse(JSON.parse(bytes.toString("utf8"))) };
  } catch (error) {
    throw new ProbelabError(
      `Can't read ${MANIFEST} of ${JSON.stringify(folder)}: this probelab does not write such a manifest; restore the file, or use the version that wrote it.`,
      { cause: error },
    );
  }
}

/** A file's bytes. @throws for a link, a pipe or a device: reading one may never end. */
export async function readPlain(path: string): Promise<Buffer> {
  if (!(await lstat(path)).isFile()) throw new Error("a link or a device stands where a file was");
  return readFile(path);
}

/** A file of a postmortem's folder against the manifest. */
export interface FileCheck {
  readonly path: string;
  readonly state: "same" | "changed" | "missing" | "added";
}

// Desktops leave these in every folder that somebody opens.
const DROPPED = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/** Compares every file of the manifest and of the folder, by path, with the manifest's hash. */
export async function checkFiles(folder: string, { files }: Manifest): Promise<FileCheck[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = new Set(
    entries
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) =>
        join(parentPath, name)
          .slice(folder.length + 1)
          .replaceAll("\\", "/"),
      ),
  );
  const listed = await Promise.all(
    Object.entries(files).map(async ([path, { sha256: hash, bytes }]): Promise<FileCheck> => {
      if (!found.has(path)) return { path, state: "missing" };
      const content = await readPlain(join(folder, path)).catch(() => undefined);
      const same = content?.length === bytes && sha256(content) === hash;
      return { path, state: same ? "same" : "changed" };
    }),
  );
  const added = [...found]
    .filter((path) => path !== MANIFEST && !Object.hasOwn(files, path) && !DROPPED.test(path))
    .map((path): FileCheck => ({ path, state: "added" }));
  return [...listed, ...added].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A postmortem's folder against its manifest. */
export interface Verification {
  readonly manifest: Manifest;
  readonly files: readonly FileCheck[];
  /** True where every file has the bytes that were saved, and none was added. */
  readonly asSaved: boolean;
}

/**
 * Checks every file of a postmortem's folder by its hash. Hashes find a change by accident or by hand,
 * not who wrote the folder: whoever can write it can write a manifest too.
 *
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function verifyPostmortem(directory: string): Promise<Verification> {
  const { folder, manifest } = await openFolder(directory);
  const files = await checkFiles(folder, manifest);
  return { manifest, files, asSaved: files.every(({ state }) => state === "same") };
}

/** A verification for a console: a line for the files that are right, one for each that is not. */
export function verificationText({ manifest, files, asSaved }: Verification): string {
  const { title, savedAt, versions } = manifest;
  const wrong = files.filter(({ state }) => state !== "same");
  const intact = wrong.every(({ state }) => state === "added");
  const saved = `saved at ${formatInstant(new Date(savedAt), "UTC")} UTC by probelab ${versions["probelab"] ?? ""}`;
  const verdict = asSaved
    ? "The postmortem is as it was saved."
    : intact
      ? `The postmortem is as it was saved, but for ${counted(wrong.length, "added file")}.`
      : "The postmortem is not as it was saved.";
  return `${[
    cleanText(`${cleanText(title, 200)}, ${saved}`, 500),
    `ok        ${counted(files.length - wrong.length, "file has", "files have")} the bytes that were saved`,
    ...wrong.map(({ path, state }) =>
      state === "added"
        ? `added     ${cleanText(path, 500)} (not part of the postmortem)`
        : `${state.toUpperCase().padEnd(9)} ${cleanText(path, 500)}`,
    ),
    verdict,
  ].join("\n")}\n`;
}

/** An error's message on one line. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s+/g, " ").slice(0, 1_000);
}
