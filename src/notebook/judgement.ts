import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * TypeScript's acceptance of a notebook's cells, kept for the next run of the same cells (it saves 0.5 s a
 * run). It holds as long as the files that the cells were checked against stay as they were. It contains
 * nothing of the notebook but hashes.
 */
export interface Judgement {
  /** Modification time and size of each file that the cells were checked against. */
  readonly files: Readonly<Record<string, string | undefined>>;
  /** Names that the cells import and that are only types. */
  readonly types: readonly string[];
  /** Hashes of the column types that the cells were checked with too. */
  readonly columns: readonly string[];
}

/** Databases, or states of one, that a notebook may alternate between without a new check. */
const MOST_COLUMNS = 8;

/** Notebooks that are remembered, some 25 KB each. */
const MOST_JUDGEMENTS = 100;

export function judgementOf(types: Iterable<string>, paths: readonly string[]): Judgement {
  // A new version of the compiler itself checks anew.
  const compiler = dirname(fileURLToPath(import.meta.url));
  const modules = readdirSync(compiler).map((name) => join(compiler, name));
  const files = [...paths, ...modules].map((path) => [path, stampOf(path)] as const);
  return { files: Object.fromEntries(files), types: [...types], columns: [] };
}

export function isKnownGood(judgement: Judgement, columnTypes: string): boolean {
  return judgement.columns.includes(hashOf(columnTypes));
}

export function withColumns(judgement: Judgement, columnTypes: string): Judgement {
  const columns = [...judgement.columns.slice(1 - MOST_COLUMNS), hashOf(columnTypes)];
  return { ...judgement, columns };
}

/** The judgement of a text; undefined where there is none or a file has changed since. */
export function readJudgement(text: string): Judgement | undefined {
  try {
    const judgement = JSON.parse(readFileSync(pathOf(text), "utf8")) as Judgement;
    const files = Object.entries(judgement.files);
    return files.every(([path, stamp]) => stampOf(path) === stamp) ? judgement : undefined;
  } catch {
    return undefined;
  }
}

/** Where it can't be written, the next run checks anew. A reader sees the old file or the new one. */
export function writeJudgement(text: string, judgement: Judgement): void {
  const path = pathOf(text);
  const part = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const age = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const others = readdirSync(dirname(path)).map((name) => join(dirname(path), name));
    others.sort((a, b) => age(b) - age(a));
    for (const old of others.slice(MOST_JUDGEMENTS)) rmSync(old, { force: true });
    writeFileSync(part, JSON.stringify(judgement), { mode: 0o600 });
    renameSync(part, path);
  } catch {
    rmSync(part, { force: true });
  }
}

/** In the user's cache: below `XDG_CACHE_HOME` or `~/.cache`. */
function pathOf(text: string): string {
  const given = process.env["XDG_CACHE_HOME"] ?? "";
  const cache = isAbsolute(given) ? given : join(homedir(), ".cache");
  return join(cache, "probelab", "judged", hashOf(`${process.cwd()}\0${text}`));
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.mtimeMs} ${stat.size}`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
