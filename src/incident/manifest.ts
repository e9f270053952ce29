import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { ProbelabError } from "../base/error.js";
import { lazySchemas } from "../base/lazy-schemas.js";
import { cleanText, counted } from "../base/text.js";
import type { FolderFiles } from "../files/write-folder.js";
import { formatInstant } from "../time/time-zone.js";

export const MANIFEST = "manifest.json";

const schema = lazySchemas(({ z }) =>
  z.strictObject({
    format: z.literal("probelab manifest 3"),
    title: z.string(),
    detectedAt: z.iso.datetime(),
    savedAt: z.iso.datetime(),
    /** True where addresses are masked. */
    masked: z.boolean(),
    versions: z.record(z.string(), z.string()),
    /** Path, with `/`, to its SHA-256 in hexadecimal. */
    files: z.record(
      z.string().regex(/^(?:[a-z]+\/)?[\w-]*\.[a-z]+$/),
      z.string().regex(/^[0-9a-f]{64}$/),
    ),
  }),
);

/** The content of `manifest.json`: the incident, and every other file of the folder with its hash. */
type Manifest = ReturnType<ReturnType<typeof schema>["parse"]>;

/** The manifest of files as text. */
export function manifestText(
  files: FolderFiles,
  { title, detectedAt, savedAt, masked, versions }: Readonly<Omit<Manifest, "format" | "files">>,
): string {
  const hashes = Object.fromEntries([...files].map(([path, each]) => [path, sha256(each)]));
  const format = "probelab manifest 3";
  const manifest = { format, title, detectedAt, savedAt, masked, versions, files: hashes };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** The SHA-256 of a file's content, in hexadecimal. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A file's bytes. @throws for a link, a pipe or a device: reading one may never end. */
export async function readPlainFile(path: string): Promise<Buffer> {
  if (!(await lstat(path)).isFile()) throw new Error("a link or a device stands where a file was");
  return readFile(path);
}

/** A file of a postmortem's folder that is not as the manifest says. */
export interface WrongFile {
  readonly path: string;
  readonly state: "changed" | "missing" | "added";
}

/** A postmortem's folder against its manifest. */
export interface Verification {
  /** Absolute. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** By path; empty where every file has the bytes that were saved, and none was added. */
  readonly wrong: readonly WrongFile[];
}

// Desktops leave these in every folder that somebody opens.
const DROPPED = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/**
 * Checks every file of a postmortem's folder by its hash. Hashes find a change by accident or by hand,
 * not who wrote the folder: anybody who can write it can write a manifest too.
 *
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function verifyPostmortem(directory: string): Promise<Verification> {
  const folder = resolve(directory);
  const manifest = await readManifest(folder);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = new Set(
    entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/")),
  );
  const wrong: WrongFile[] = [...found]
    .filter((path) => path !== MANIFEST && !Object.hasOwn(manifest.files, path))
    .filter((path) => !DROPPED.test(path))
    .map((path) => ({ path, state: "added" }));
  for (const [path, hash] of Object.entries(manifest.files)) {
    const bytes = await readPlainFile(join(folder, path)).catch(() => undefined);
    if (bytes !== undefined && sha256(bytes) === hash) continue;
    wrong.push({ path, state: found.has(path) ? "changed" : "missing" });
  }
  return { folder, manifest, wrong: wrong.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

async function readManifest(folder: string): Promise<Manifest> {
  const bytes = await readPlainFile(join(folder, MANIFEST)).catch(() => undefined);
  if (bytes === undefined) {
    throw new ProbelabError(
      `Can't verify ${JSON.stringify(folder)}: it has no ${MANIFEST}; pass the folder that report.save() wrote.`,
    );
  }
  try {
    return schema().parse(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    throw new ProbelabError(
      `Can't read ${MANIFEST} of ${JSON.stringify(folder)}: this probelab does not write such a manifest; restore the file, or use the version that wrote it.`,
      { cause: error },
    );
  }
}

/** A verification for a console: a line for the files that are right, one for each that is not. */
export function verificationText({ manifest, wrong }: Verification): string {
  const { title, savedAt, versions, files } = manifest;
  const damaged = wrong.filter(({ state }) => state !== "added").length;
  const right = counted(
    Object.keys(files).length - damaged,
    "file has the bytes that were saved",
    "files have the bytes that were saved",
  );
  const verdict =
    damaged > 0
      ? "The postmortem is not as it was saved."
      : wrong.length > 0
        ? `The postmortem is as it was saved, but for ${counted(wrong.length, "added file")}.`
        : "The postmortem is as it was saved.";
  const saved = `saved at ${formatInstant(new Date(savedAt), "UTC")} UTC by probelab ${versions["probelab"] ?? ""}`;
  return `${[
    cleanText(`${cleanText(title, 200)}, ${saved}`, 500),
    `ok        ${right}`,
    ...wrong.map(({ path, state }) =>
      state === "added"
        ? `added     ${cleanText(path, 500)} (not part of the postmortem)`
        : `${state.toUpperCase().padEnd(9)} ${cleanText(path, 500)}`,
    ),
    verdict,
  ].join("\n")}\n`;
}
