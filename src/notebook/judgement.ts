import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCache, stampOf, writeCache } from "./user-cache.js";

/**
 * That TypeScript has nothing against the cells of a notebook, kept for the next run of the same cells. It is
 * true as long as the files that it was told by are as they were. Of the notebook, it holds hashes.
 */
export interface Judgement {
  /** When the files that it was told by changed last. */
  readonly files: Readonly<Record<string, string | undefined>>;
  /** Names that the cells import and that are types alone. */
  readonly types: readonly string[];
  /** Hashes of the types of columns with which the cells were judged too. */
  readonly columns: readonly string[];
}

/** As many databases, or states of one, may a notebook be run on in turns without being judged anew. */
const mostColumns = 8;

/** As many texts are kept, some 25 KB each. */
const mostJudgements = 100;

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function judgementOf(types: Iterable<string>, paths: readonly string[]): Judgement {
  // What cells are compiled by is read with them.
  const machinery = dirname(fileURLToPath(import.meta.url));
  const own = readdirSync(machinery).map((name) => join(machinery, name));
  const files = [...paths, ...own].map((path) => [path, stampOf(path)] as const);
  return { files: Object.fromEntries(files), types: [...types], columns: [] };
}

export function withColumns(judgement: Judgement, columns: string): Judgement {
  return { ...judgement, columns: [...judgement.columns.slice(1 - mostColumns), hashOf(columns)] };
}

/** What is known of a text; undefined where it isn't true any more. */
export function readJudgement(text: string): Judgement | undefined {
  const known = readCache(nameOf(text));
  if (!known) return undefined;
  try {
    const judgement = JSON.parse(known.toString()) as Judgement;
    const files = Object.entries(judgement.files);
    return files.every(([path, stamp]) => stampOf(path) === stamp) ? judgement : undefined;
  } catch {
    return undefined;
  }
}

export function writeJudgement(text: string, judgement: Judgement): void {
  writeCache(nameOf(text), () => JSON.stringify(judgement), mostJudgements);
}

function nameOf(text: string): string {
  return join("judged", hashOf(`${process.cwd()}\0${text}`));
}
