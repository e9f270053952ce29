import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { redact } from "../../base/redact.js";
import { writeWholeSync } from "../../files/write-whole.js";
import { mapTexts } from "../../mask/mask-result.js";
import { parseEntry, type Entry, type EntryFigure, type Journal } from "../postmortem/entries.js";
import { readText } from "../postmortem/fields.js";
import { figureRecord, type Content } from "../postmortem/figure.js";
import { dataOf, readFigure } from "../postmortem/folder/folder-files.js";
import { readPlain } from "../postmortem/folder/manifest.js";
import { maskFigures } from "../postmortem/folder/mask-postmortem.js";

const ENTRIES = "entries";
const DATA = "data";
const NAME = /^(\d{5,})-[0-9a-f]{12}\.json$/;

/** Who writes: as given, else `PROBELAB_AUTHOR`, else the user's name. */
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

/** The file of an entry that comes after those that are there, and is no other's. */
export function entryPath(names: readonly string[]): string {
  const last = Math.max(0, ...names.map((name) => Number(NAME.exec(name)?.[1] ?? 0)));
  return `${ENTRIES}/${String(last + 1).padStart(5, "0")}-${randomBytes(6).toString("hex")}.json`;
}

/** An entry as its file holds it: without secrets. */
export function entryText(entry: Entry): string {
  return `${JSON.stringify(mapTexts(entry, redact), null, 1)}\n`;
}

/**
 * The journal of an incident's folder: a file an entry, written whole under a name that is no other's,
 * so that any number of processes add to it at once and one that is killed leaves the entry or none.
 * Entries are told in the order of their numbers, which are those of nobody's clock.
 *
 * @param added is called when an entry was added.
 * @throws ProbelabError where the folder holds no incident.
 */
export async function openJournal(
  directory: string,
  author: string | undefined,
  added: (folder: string) => void,
): Promise<Journal> {
  const folder = resolve(readText(directory, "the folder of an incident"));
  if (namesOf(folder).length === 0) {
    throw new ProbelabError(
      `Can't open the incident in ${JSON.stringify(directory)}: it has no entries; pass the folder that "probelab incident open" made.`,
    );
  }
  await mkdir(join(folder, DATA), { recursive: true });
  const written = new Set<string>();
  return {
    folder,
    author: authorOf(author),
    append(entry, contents) {
      const figures = (entry.figures ?? []).map((figure): EntryFigure => {
        const content = contents.get(figure.id)!;
        const [plain = { ...figure, content }] = maskFigures([{ ...figure, content }], false);
        // The data first: an entry that is there has all that it tells of.
        const path = join(folder, dataPath(figure));
        if (!written.has(figure.id)) writeWholeSync(path, dataOf(plain.content));
        written.add(figure.id);
        return { id: figure.id, ...figureRecord(plain) };
      });
      const text = entryText({ ...entry, ...(figures.length > 0 && { figures }) });
      writeWholeSync(join(folder, entryPath(namesOf(folder))), text);
      added(folder);
    },
    async read(known) {
      const { entries, unread } = await readEntries(folder);
      const { contents, undrawn } = await readContents(folder, entries, known);
      unread.push(...undrawn);
      if (unread.length > 0) {
        throw new ProbelabError(
          `Can't read ${unread.join(", ")} of ${JSON.stringify(folder)}: not as this probelab writes it. Restore it, use the version that wrote it, or move it away.`,
        );
      }
      for (const id of contents.keys()) written.add(id);
      return { entries, contents };
    },
  };
}

/** All entries in their order, and the files that hold none. */
export async function readEntries(
  folder: string,
): Promise<{ readonly entries: readonly Entry[]; readonly unread: string[] }> {
  const entries: Entry[] = [];
  const unread: string[] = [];
  for (const name of namesOf(folder)) {
    try {
      const bytes = await readPlain(join(folder, ENTRIES, name));
      entries.push(parseEntry(bytes.toString("utf8")));
    } catch {
      unread.push(`${ENTRIES}/${name}`);
    }
  }
  return { entries, unread };
}

/** The figures of entries by their ids, but those that are known, and the files that hold none. */
export async function readContents(
  folder: string,
  entries: readonly Entry[],
  known: ReadonlyMap<string, Content> = new Map(),
): Promise<{ readonly contents: ReadonlyMap<string, Content>; readonly undrawn: string[] }> {
  const contents = new Map<string, Content>();
  const undrawn: string[] = [];
  for (const figure of entries.flatMap(({ figures = [] }) => figures)) {
    if (known.has(figure.id) || contents.has(figure.id)) continue;
    const path = dataPath(figure);
    try {
      const { content } = await readFigure(figure, await readPlain(join(folder, path)));
      contents.set(figure.id, content);
    } catch {
      if (!undrawn.includes(path)) undrawn.push(path);
    }
  }
  return { contents, undrawn };
}

function dataPath({ id, kind }: EntryFigure): string {
  return `${DATA}/${id}.${kind === "picture" ? "png" : "parquet"}`;
}

/** Names of the entries' files, in their order. */
function namesOf(folder: string): string[] {
  try {
    const names = readdirSync(join(folder, ENTRIES)).filter((name) => NAME.test(name));
    const number = (name: string) => Number(NAME.exec(name)![1]);
    return names.sort((a, b) => number(a) - number(b) || (a < b ? -1 : 1));
  } catch {
    return [];
  }
}
