import { mapTexts } from "../base/text.js";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { ProbelabError } from "../base/error.js";
import { redact } from "../base/redact.js";
import { writeFolder } from "../base/files/write-folder.js";
import { writeWholeSync } from "../base/files/write-whole.js";
import {
  entryOf,
  inOrder,
  missingParts,
  parseEntry,
  readFields,
  readText,
  said,
  sumOf,
  thisSecond,
  type Draft,
  type Entry,
  type EntryFigure,
  type PostmortemFields,
  type Facts,
} from "./record.js";
import {
  changeFigure,
  drawFigure,
  figureName,
  figureRecord,
  readResultText,
  resultText,
  type Content,
} from "./figure.js";
import { readPlainFile } from "./checksums.js";
import { demandsOf, type Demand } from "./severity.js";

/** An incident's folder at a moment. */
export interface Incident {
  /** Absolute. */
  readonly folder: string;
  readonly entries: readonly Entry[];
  readonly draft: Draft;
  readonly demands: readonly Demand[];
  /** Entries that this probelab can't read. */
  readonly unread: readonly string[];
}

/** Keeps the entries of a postmortem that several people write; see `openJournal`. */
export interface Journal {
  readonly folder: string;
  readonly author: string;
  /** Keeps an entry; it is on the disk when this returns. */
  append(entry: Entry, contents: ReadonlyMap<string, Content>): void;
  /** All entries, and those of their figures that aren't known. */
  read(known: ReadonlyMap<string, Content>): Promise<{
    readonly entries: readonly Entry[];
    readonly contents: ReadonlyMap<string, Content>;
  }>;
}

/** The author of entries: as given, else `PROBELAB_AUTHOR`, else the user's name. */
export function authorOf(given?: string): string {
  const author = given ?? (process.env["PROBELAB_AUTHOR"] || process.env["USER"] || userName());
  return redact(readText(author, "an author").replace(/\s+/g, " ").slice(0, 100));
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "somebody"; // a user without a name, as in some containers
  }
}

/**
 * Begins an incident's folder, `DATE-TITLE` below `out`, with its first entry.
 *
 * @param fields `detectedAt` defaults to now.
 * @returns the folder's absolute path. @throws ProbelabError if the folder exists.
 */
export async function openIncident(
  fields: Omit<PostmortemFields, "detectedAt"> & Partial<PostmortemFields>,
  out: string,
  author?: string,
): Promise<string> {
  const facts = readFields({
    status: "open",
    detectedAt: thisSecond(),
    ...fields,
  }) as Partial<Facts> & Pick<Facts, "title" | "detectedAt">;
  inOrder(facts);
  const name = figureName(`${facts.detectedAt.slice(0, 10)} ${facts.title}`, new Set(), 80);
  const folder = join(resolve(out), name);
  const by = authorOf(author);
  const opened = said(`Opened: ${facts.title}`, facts.detectedAt, by);
  const entry = entryOf({ facts, timeline: [opened] }, by);
  return writeFolder(folder, new Map([[entryPath([]), entryText(entry)]]), () => {
    throw new ProbelabError(
      `Can't open an incident in ${JSON.stringify(folder)}: the folder is there. If it holds this incident, add to it with "probelab incident note"; else give another title or --out.`,
    );
  });
}

/** The folders of incidents: the given one, or those in it by name. @throws ProbelabError if it can't be read. */
export async function incidentFolders(directory: string): Promise<string[]> {
  const folder = resolve(directory);
  const isIncident = async (path: string) =>
    (await stat(join(path, "entries")).catch(() => undefined))?.isDirectory() === true;
  if (await isIncident(folder)) return [folder];
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new ProbelabError(
      `Can't find incidents in ${JSON.stringify(directory)}: it can't be read (${error.code}); pass an incident's folder, or that of several.`,
      { cause: error },
    );
  });
  const paths = names.sort().map((name) => join(folder, name));
  const found = await Promise.all(paths.map(isIncident));
  return paths.filter((_, at) => found[at]);
}

/** Reads an incident's folder. @throws ProbelabError if it holds no incident. */
export async function readIncident(directory: string): Promise<Incident> {
  const folder = resolve(directory);
  const { entries, unread } = await readEntries(folder);
  const { draft } = sumOf(entries);
  if (draft.title === undefined || draft.detectedAt === undefined) {
    throw new ProbelabError(
      `Can't read the incident in ${JSON.stringify(folder)}: ${unread.length === 0 ? "it has no entries" : `${unread.join(", ")} can't be read`}; pass the folder that "probelab incident open" made.`,
    );
  }
  const demands = demandsOf(draft, missingParts(draft).length === 0, new Date());
  return { folder, entries, draft, demands, unread };
}

const NAME = /^(\d{5,})-[0-9a-f]{12}\.json$/;

/** A new entry's file, numbered after those that are there. The random part keeps two writers apart. */
function entryPath(names: readonly string[]): string {
  const next = numberOf(names.at(-1) ?? "") + 1n;
  return `entries/${String(next).padStart(5, "0")}-${randomBytes(6).toString("hex")}.json`;
}

// No number is too large: behind one that somebody wrote by hand the next must still be the last.
function numberOf(name: string): bigint {
  return BigInt(NAME.exec(name)?.[1] ?? 0);
}

/** The entries' files. They are ordered by number, not by time: clocks of several machines differ. */
function entryNames(folder: string): string[] {
  try {
    const names = readdirSync(join(folder, "entries")).filter((name) => NAME.test(name));
    return names.sort((a, b) => Number(numberOf(a) - numberOf(b)) || (a < b ? -1 : 1));
  } catch {
    return [];
  }
}

/** An entry as its file holds it: without secrets. */
function entryText(entry: Entry): string {
  return `${JSON.stringify(mapTexts(entry, redact), null, 1)}\n`;
}

/** All entries in order, and the files that can't be read. */
export async function readEntries(folder: string) {
  const entries: Entry[] = [];
  const unread: string[] = [];
  for (const name of entryNames(folder)) {
    try {
      const bytes = await readPlainFile(join(folder, "entries", name));
      entries.push(parseEntry(bytes.toString("utf8")));
    } catch {
      unread.push(`entries/${name}`);
    }
  }
  return { entries, unread };
}

function dataPath({ id }: EntryFigure): string {
  return `data/${id}.json`;
}

/**
 * Opens the journal of an incident's folder. Each entry is a file of its own, written whole under a new
 * name: any number of processes add at once, and one that is killed leaves its entry or none.
 *
 * @throws ProbelabError if the folder holds no incident.
 */
export async function openJournal(directory: string, author: string | undefined): Promise<Journal> {
  const folder = resolve(readText(directory, "the folder of an incident"));
  if (entryNames(folder).length === 0) {
    throw new ProbelabError(
      `Can't open the incident in ${JSON.stringify(directory)}: it has no entries; pass the folder that "probelab incident open" made.`,
    );
  }
  await mkdir(join(folder, "data"), { recursive: true });
  const written = new Set<string>();
  return {
    folder,
    author: authorOf(author),
    append(entry, contents) {
      const figures = (entry.figures ?? []).map((figure): EntryFigure => {
        const plain = changeFigure({ ...figure, content: contents.get(figure.id)! }, redact);
        // Data comes first, so that an entry on the disk is complete.
        if (!written.has(figure.id)) {
          writeWholeSync(join(folder, dataPath(figure)), resultText(plain.content.result));
        }
        written.add(figure.id);
        return { id: figure.id, ...figureRecord(plain) };
      });
      const text = entryText({ ...entry, ...(figures.length > 0 && { figures }) });
      writeWholeSync(join(folder, entryPath(entryNames(folder))), text);
    },
    async read(known) {
      const { entries, unread } = await readEntries(folder);
      const contents = new Map<string, Content>();
      for (const figure of entries.flatMap(({ figures = [] }) => figures)) {
        if (known.has(figure.id) || contents.has(figure.id)) continue;
        try {
          const bytes = await readPlainFile(join(folder, dataPath(figure)));
          const result = await readResultText(bytes.toString("utf8"));
          contents.set(figure.id, drawFigure(figure, result).content);
        } catch {
          unread.push(dataPath(figure));
        }
      }
      if (unread.length > 0) {
        throw new ProbelabError(
          `Can't read ${[...new Set(unread)].join(", ")} of ${JSON.stringify(folder)}: not as this probelab writes it. Restore it, use the version that wrote it, or move it away.`,
        );
      }
      for (const id of contents.keys()) written.add(id);
      return { entries, contents };
    },
  };
}
