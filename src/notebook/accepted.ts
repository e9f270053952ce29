import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Names that cells import and that are only types, by the cell's module. */
export type TypeNames = Readonly<Record<string, readonly string[]>>;

/** The record of a notebook that TypeScript accepted. */
interface Accepted {
  /** Modification time and size of each file that it was checked against, and of this program. */
  readonly files: Readonly<Record<string, string | undefined>>;
  readonly types: TypeNames;
}

/** Notebooks that are remembered, some 25 KB each. */
const mostTexts = 200;

/**
 * Remembers that TypeScript accepted a notebook: the next run of the same cells does without the check, which
 * takes 1.1 s. The user's cache holds hashes of texts, no text.
 */
export function writeAccepted(text: string, types: TypeNames, paths: readonly string[]): void {
  const files = [...paths, fileURLToPath(import.meta.url)].map((path) => [path, stampOf(path)]);
  const accepted = { files: Object.fromEntries(files) as Accepted["files"], types };
  const path = pathOf(text);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const age = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const others = readdirSync(dirname(path)).map((name) => join(dirname(path), name));
    others.sort((a, b) => age(b) - age(a));
    for (const old of others.slice(mostTexts)) rmSync(old, { force: true });
    writeFileSync(path, JSON.stringify(accepted), { mode: 0o600 });
  } catch {
    // The next run checks anew.
  }
}

/** The types of a notebook's cells; undefined where it isn't known to be accepted. */
export function readAccepted(text: string): TypeNames | undefined {
  try {
    // Only part of it where another run writes it just now: no JSON.
    const { files, types } = JSON.parse(readFileSync(pathOf(text), "utf8")) as Accepted;
    return Object.entries(files).every(([path, stamp]) => stampOf(path) === stamp)
      ? types
      : undefined;
  } catch {
    return undefined;
  }
}

/** Below `XDG_CACHE_HOME` or `~/.cache`. */
function pathOf(text: string): string {
  const given = process.env["XDG_CACHE_HOME"] ?? "";
  const cache = isAbsolute(given) ? given : join(homedir(), ".cache");
  const hash = createHash("sha256").update(`${process.cwd()}\0${text}`).digest("hex");
  return join(cache, "probelab", "judged", hash);
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.mtimeMs} ${stat.size}`;
}
