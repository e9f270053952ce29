import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { redact } from "../../base/redact.js";
import { writeWholeSync } from "../../files/write-whole.js";
import { mapTexts } from "../../mask/mask-result.js";
import { canAct, demandsOf, isDone } from "../postmortem/document/document.js";
import {
  parseEntry,
  sumOf,
  type Entry,
  type EntryFigure,
  type Journal,
} from "../postmortem/entries.js";
import { readText } from "../postmortem/fields.js";
import { figureRecord, type Content } from "../postmortem/figure.js";
import { readFigure, resultFile } from "../postmortem/folder/result-file.js";
import { readPlain } from "../postmortem/folder/manifest.js";
import { maskFigures } from "../postmortem/folder/mask-postmortem.js";
import type { Draft } from "../postmortem/record.js";
import type { Demand } from "../severities/checklist.js";

const NAME = /^(\d{5,})-[0-9a-f]{12}\.json$/;

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

/** A new entry's file, numbered after those that are there. The random part keeps two writers apart. */
export function entryPath(names: readonly string[]): string {
  const next = numberOf(names.at(-1) ?? "") + 1n;
  return `entries/${String(next).padStart(5, "0")}-${randomBytes(6).toString("hex")}.json`;
}

// No number is too large: behind one that somebody wrote by hand the next must still be the last.
function numberOf(name: string): bigint {
  return BigInt(NAME.exec(name)?.[1] ?? 0);
}

/** The entries' files. They are ordered by number, not by time: clocks of several machines differ. */
export function entryNames(folder: string): string[] {
  try {
    const names = readdirSync(join(folder, "entries")).filter((name) => NAME.test(name));
    return names.sort((a, b) => Number(numberOf(a) - numberOf(b)) || (a < b ? -1 : 1));
  } catch {
    return [];
  }
}

/** An entry as its file holds it: without secrets. */
export function entryText(entry: Entry): string {
  return `${JSON.stringify(mapTexts(entry, redact), null, 1)}\n`;
}

/** All entries in order, and the files that can't be read. */
export async function readEntries(
  folder: string,
): Promise<{ readonly entries: readonly Entry[]; readonly unread: readonly string[] }> {
  const entries: Entry[] = [];
  const unread: string[] = [];
  for (const name of entryNames(folder)) {
    try {
      const bytes = await readPlain(join(folder, "entries", name));
      entries.push(parseEntry(bytes.toString("utf8")));
    } catch {
      unread.push(`entries/${name}`);
    }
  }
  return { entries, unread };
}

/** An incident's folder at a moment. */
export interface Incident {
  /** Absolute. */
  readonly folder: string;
  readonly now: Date;
  readonly entries: readonly Entry[];
  readonly draft: Draft;
  readonly figures: readonly EntryFigure[];
  /** To whom it was handed over last, else who opened it. */
  readonly inCharge: string;
  readonly demands: readonly Demand[];
  /** The response's deadline, as long as nobody met it and somebody can act. */
  readonly due: { readonly at: string; readonly overdue: boolean } | null;
  /** Files that this probelab can't read. */
  readonly unread: readonly string[];
}

/** Reads an incident's folder. @throws ProbelabError if it holds no incident. */
export async function readIncident(directory: string, now = new Date()): Promise<Incident> {
  const folder = resolve(directory);
  const { entries, unread } = await readEntries(folder);
  return incidentOf(folder, entries, unread, now);
}

/** The incident that entries make at a moment. */
export function incidentOf(
  folder: string,
  entries: readonly Entry[],
  unread: readonly string[],
  now: Date,
): Incident {
  const { draft, figures } = sumOf(entries);
  if (draft.title === undefined || draft.detectedAt === undefined) {
    throw new ProbelabError(
      `Can't read the incident in ${JSON.stringify(folder)}: ${unread.length === 0 ? "it has no entries" : `${unread.join(", ")} can't be read`}; pass the folder that "probelab incident open" made.`,
    );
  }
  const { demands } = demandsOf(draft, now);
  const deadline = demands.find((each) => each.deadline !== undefined && !isDone(each))?.deadline;
  const due =
    deadline === undefined || !canAct(draft, now)
      ? null
      : { at: deadline.toISOString(), overdue: now > deadline };
  const inCharge =
    entries.findLast(({ to }) => to !== undefined)?.to ?? entries[0]?.author ?? "nobody";
  return { folder, now, entries, draft, figures, inCharge, demands, due, unread };
}

/** The figures of entries by id, except those that are known, and the files that can't be read. */
export async function readContents(
  folder: string,
  entries: readonly Entry[],
  known: ReadonlyMap<string, Content> = new Map(),
): Promise<{ readonly contents: Map<string, Content>; readonly unread: readonly string[] }> {
  const contents = new Map<string, Content>();
  const unread = new Set<string>();
  for (const figure of entries.flatMap(({ figures = [] }) => figures)) {
    if (known.has(figure.id) || contents.has(figure.id)) continue;
    const path = dataPath(figure);
    try {
      const { content } = await readFigure(figure, await readPlain(join(folder, path)));
      contents.set(figure.id, content);
    } catch {
      unread.add(path);
    }
  }
  return { contents, unread: [...unread] };
}

function dataPath({ id }: EntryFigure): string {
  return `data/${id}.parquet`;
}

/**
 * Opens the journal of an incident's folder. Each entry is a file of its own, written whole under a new
 * name: any number of processes add at once, and one that is killed leaves its entry or none.
 *
 * @param added is called after each entry.
 * @throws ProbelabError if the folder holds no incident.
 */
export async function openJournal(
  directory: string,
  author: string | undefined,
  added: (folder: string) => void,
): Promise<Journal> {
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
        const content = contents.get(figure.id)!;
        const [plain = { ...figure, content }] = maskFigures([{ ...figure, content }], false);
        // Data comes first, so that an entry on the disk is complete.
        if (!written.has(figure.id)) {
          writeWholeSync(join(folder, dataPath(figure)), resultFile(plain.content.result));
        }
        written.add(figure.id);
        return { id: figure.id, ...figureRecord(plain) };
      });
      const text = entryText({ ...entry, ...(figures.length > 0 && { figures }) });
      writeWholeSync(join(folder, entryPath(entryNames(folder))), text);
      added(folder);
    },
    async read(known) {
      const { entries, unread } = await readEntries(folder);
      const { contents, unread: undrawn } = await readContents(folder, entries, known);
      if (unread.length + undrawn.length > 0) {
        throw new ProbelabError(
          `Can't read ${[...unread, ...undrawn].join(", ")} of ${JSON.stringify(folder)}: not as this probelab writes it. Restore it, use the version that wrote it, or move it away.`,
        );
      }
      for (const id of contents.keys()) written.add(id);
      return { entries, contents };
    },
  };
}
