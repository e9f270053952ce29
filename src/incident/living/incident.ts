import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { writeFolder } from "../../files/write-folder.js";
import { sumOf, type Entry, type Part } from "../postmortem/entries.js";
import {
  inOrder,
  readFields,
  UNTOLD,
  type PostmortemFields,
  thisSecond,
} from "../postmortem/fields.js";
import { figureName } from "../postmortem/figure.js";
import type { Told } from "../postmortem/record.js";
import { authorOf, entryPath, entryText, incidentOf, openJournal, readEntries } from "./journal.js";
import { PAGE, pageOf, writePage } from "./page.js";

/**
 * Begins an incident's folder, `DATE-TITLE` below `out`, with its page and its first entry.
 *
 * @param fields `detectedAt` defaults to now.
 * @returns the folder's absolute path. @throws ProbelabError if the folder exists.
 */
export async function openIncident(
  fields: Omit<PostmortemFields, "detectedAt"> & Partial<PostmortemFields>,
  out: string,
  author?: string,
): Promise<string> {
  const now = thisSecond();
  const read = readFields({ status: "open", detectedAt: now, ...fields }) as Partial<Told> &
    Pick<Told, "title" | "detectedAt">;
  inOrder({ ...UNTOLD, ...read } as Told);
  const name = figureName(`${read.detectedAt.slice(0, 10)} ${read.title}`, new Set(), 80);
  const folder = join(resolve(out), name);
  const by = authorOf(author);
  const event = `Opened: ${read.title}`;
  const entry: Entry = {
    format: "probelab entry 1",
    writtenAt: now.toISOString(),
    author: by,
    told: read,
    timeline: [{ time: read.detectedAt, event, evidence: [{ text: `said by ${by}` }] }],
  };
  const files = new Map([
    [entryPath([]), entryText(entry)],
    [PAGE, await pageOf(incidentOf(folder, [entry], [], now), new Map())],
  ]);
  return writeFolder(folder, files, () => {
    throw new ProbelabError(
      `Can't open an incident in ${JSON.stringify(folder)}: the folder is there. If it holds this incident, add to it with "probelab incident note"; else give another title or --out.`,
    );
  });
}

/**
 * Adds an entry to an incident's folder, and writes its page.
 *
 * @param part `told` takes the fields of `report.set`.
 * @throws ProbelabError if the folder holds no incident, or times are out of order.
 */
export async function addEntry(
  directory: string,
  { told, ...part }: Omit<Part, "told"> & { readonly told?: Partial<PostmortemFields> },
  author?: string,
): Promise<void> {
  const journal = await openJournal(directory, author, () => undefined);
  const fields = readFields(told ?? {});
  const { draft } = sumOf((await readEntries(journal.folder)).entries);
  inOrder({ ...draft, ...fields });
  const entry: Entry = {
    format: "probelab entry 1",
    writtenAt: new Date().toISOString(),
    author: journal.author,
    ...part,
    ...(told !== undefined && { told: fields }),
  };
  journal.append(entry, new Map());
  await writePage(journal.folder).catch((error: Error) => {
    throw new ProbelabError(
      `Can't write the page of ${JSON.stringify(directory)}, though the entry is kept: ${error.message}`,
      { cause: error },
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
