import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { ProbelabError } from "../base/error.js";
import type { FolderFiles } from "../base/files/write-folder.js";
import { cleanText, counted } from "../base/text.js";

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

/** A file of a postmortem's folder that is not as it was saved. */
export interface WrongFile {
  readonly path: string;
  readonly state: "changed" | "missing" | "added";
}

/** A postmortem's folder against its hashes. */
export interface Verification {
  /** How many files have the bytes that were saved. */
  readonly right: number;
  /** By path; empty where every file has the bytes that were saved, and none was added. */
  readonly wrong: readonly WrongFile[];
}

// Desktops leave these in every folder that somebody opens.
const DROPPED = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;

/**
 * Checks every file of a postmortem's folder as `sha256sum -c SHA256SUMS` does, and names files that
 * aren't listed. Hashes find a change by accident or by hand, not who wrote the folder.
 *
 * @throws ProbelabError where the folder holds no postmortem.
 */
export async function verifyPostmortem(directory: string): Promise<Verification> {
  const folder = resolve(directory);
  const bytes = await readPlainFile(join(folder, CHECKSUMS)).catch(() => undefined);
  const lines = bytes?.toString("utf8").trimEnd().split("\n") ?? [];
  const listed = new Map(lines.map((line) => [LINE.exec(line)?.[2], LINE.exec(line)?.[1]]));
  if (bytes === undefined || listed.has(undefined)) {
    const why = bytes === undefined ? `it has no ${CHECKSUMS}` : `its ${CHECKSUMS} is damaged`;
    throw new ProbelabError(
      `Can't verify ${JSON.stringify(folder)}: ${why}. Pass the folder that report.save() wrote.`,
    );
  }
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
  const wrong: WrongFile[] = paths
    .filter((path) => path !== CHECKSUMS && !listed.has(path) && !DROPPED.test(path))
    .map((path) => ({ path, state: "added" }));
  const added = wrong.length;
  const there = new Set(paths);
  for (const [path, hash] of listed as Map<string, string>) {
    const content = await readPlainFile(join(folder, path)).catch(() => undefined);
    if (content !== undefined && sha256(content) === hash) continue;
    wrong.push({ path, state: there.has(path) ? "changed" : "missing" });
  }
  const right = listed.size - (wrong.length - added);
  return { right, wrong: wrong.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** More files than these are counted, not named. */
const MOST_NAMED = 50;

/** A verification for a console: a line for the files that are right, one for each that is not. */
export function verificationText({ right, wrong }: Verification): string {
  const isDamaged = wrong.some(({ state }) => state !== "added");
  const verdict = isDamaged
    ? "The postmortem is not as it was saved."
    : wrong.length > 0
      ? `The postmortem is as it was saved, but for ${counted(wrong.length, "added file")}.`
      : "The postmortem is as it was saved.";
  // Damage first: thousands of stray files must not hide it.
  const first = [...wrong].sort(
    (a, b) => Number(a.state === "added") - Number(b.state === "added"),
  );
  const named = first.slice(0, MOST_NAMED);
  const more = wrong.length - named.length;
  return `${[
    `ok        ${counted(right, "file has the bytes that were saved", "files have the bytes that were saved")}`,
    ...named.map(({ path, state }) =>
      state === "added"
        ? `added     ${cleanText(path, 500)} (not part of the postmortem)`
        : `${state.toUpperCase().padEnd(9)} ${cleanText(path, 500)}`,
    ),
    ...(more > 0 ? [`and ${counted(more, "more file")}`] : []),
    verdict,
  ].join("\n")}\n`;
}
