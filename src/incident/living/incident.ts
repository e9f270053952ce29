import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { readOrigins, type FoundOrigin } from "../../render/origin/read-origins.js";
import { drawnSvg, pngWithText } from "../../render/png.js";
import { writeFolder } from "../../files/write-folder.js";
import { sumOf, type Entry, type EntryFigure, type Part } from "../postmortem/entries.js";
import {
  inOrder,
  readFields,
  UNTOLD,
  type PostmortemFields,
  thisSecond,
} from "../postmortem/fields.js";
import { figureName, figureRecord, Picture } from "../postmortem/figure.js";
import { wordMask } from "../postmortem/folder/mask-postmortem.js";
import type { Told } from "../postmortem/record.js";
import { authorOf, entryPath, entryText, openJournal, readEntries } from "./journal.js";
import { pageOf, PAGE, writePage } from "./page.js";
import { incidentOf } from "./read-incident.js";

const LARGEST = 20 * 1024 * 1024;
const PNG = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/**
 * Begins an incident's folder, `DATE-TITLE` below `out`: its page and its first entry, whole or not at
 * all. It was detected now, unless the fields tell otherwise.
 *
 * @returns the folder's absolute path. @throws ProbelabError where the folder is there already.
 */
export async function openIncident(
  fields: Omit<PostmortemFields, "detectedAt"> & Partial<PostmortemFields>,
  out: string,
  author?: string,
): Promise<string> {
  const now = thisSecond();
  const told = readFields({ status: "open", detectedAt: now, ...fields }) as Partial<Told> &
    Pick<Told, "title" | "detectedAt">;
  inOrder({ ...UNTOLD, ...told } as Told);
  const name = figureName(`${told.detectedAt.slice(0, 10)} ${told.title}`, new Set(), 80);
  const folder = join(resolve(out), name);
  const by = authorOf(author);
  const event = `Opened: ${told.title}`;
  const entry: Entry = {
    ...{ format: "probelab entry 1", writtenAt: now.toISOString(), author: by, told },
    timeline: [{ time: told.detectedAt, event, evidence: [{ text: `said by ${by}` }] }],
  };
  const page = await pageOf(incidentOf(folder, [entry], [], now), new Map());
  const files = new Map([
    [entryPath([]), entryText(entry)],
    [PAGE, page],
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
 * @param part what it tells; `told` as `report.set` takes it.
 * @throws ProbelabError where the folder holds no incident, or times can't be right.
 */
export async function addEntry(
  directory: string,
  { told, ...part }: Omit<Part, "told"> & { readonly told?: Partial<PostmortemFields> },
  author?: string,
  pictures: ReadonlyMap<string, Picture> = new Map(),
): Promise<void> {
  const journal = await openJournal(directory, author, () => undefined);
  const read = readFields(told ?? {});
  const { draft } = sumOf((await readEntries(journal.folder)).entries);
  inOrder({ ...draft, ...read });
  const entry: Entry = {
    ...{ format: "probelab entry 1", writtenAt: new Date().toISOString() },
    author: journal.author,
    ...part,
    ...(told !== undefined && { told: read }),
  };
  journal.append(entry, pictures);
  try {
    await writePage(journal.folder);
  } catch (error) {
    throw new ProbelabError(
      `Can't write the page of ${JSON.stringify(directory)}, though the entry is kept: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Adds pictures of charts that were saved, PNG or SVG, as figures: one entry. */
export async function addPictures(
  directory: string,
  paths: readonly string[],
  author?: string,
): Promise<void> {
  const pictures = new Map<string, Picture>();
  const figures: EntryFigure[] = [];
  const mask = wordMask([]);
  for (const path of paths) {
    const { content, title } = await readPicture(path);
    const id = randomBytes(8).toString("hex");
    const file = basename(path, extname(path));
    // A file's name is read by everybody: it holds no address.
    const name = figureName(mask(file), new Set(figures.map(({ name }) => name)));
    pictures.set(id, content);
    figures.push({ id, ...figureRecord({ name, caption: title ?? file, content }) });
  }
  await addEntry(directory, { figures }, author, pictures);
}

/** A picture of a file: an SVG is drawn, as its scripts and links have no place in a document. */
async function readPicture(
  path: string,
): Promise<{ content: Picture; title?: string | undefined }> {
  const refused = (why: string, cause?: unknown) =>
    new ProbelabError(`Can't add ${JSON.stringify(path)}: ${why}`, { cause });
  const about = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw refused(`it can't be opened (${error.code}); check the path.`, error);
  });
  if (!about.isFile() || about.size > LARGEST) {
    throw refused("it is no file of up to 20 MiB; save the chart as .png or .svg.");
  }
  const bytes: Buffer = await readFile(path);
  let found: FoundOrigin | undefined;
  try {
    found = readOrigins(bytes)[0];
  } catch {
    // of another program
  }
  const title = found?.title;
  if (bytes.subarray(0, 8).equals(PNG)) return { content: new Picture(bytes), title };
  const svg = bytes.toString("utf8");
  if (!/^\s*(?:<\?xml|<!|<svg)/.test(svg)) {
    throw refused(
      "it is no PNG or SVG. Save the chart as .png, or add it with its data in a notebook: (await postmortem.open(folder)).add(chart).",
    );
  }
  if (/href\s*=\s*["']?(?!["']?(?:#|data:image\/))/i.test(svg)) {
    throw refused("it loads other files; save it as .png.");
  }
  const drawn = await drawnSvg(svg, 2).catch((error: unknown) => {
    throw refused("it can't be drawn; save it as .png.", error);
  });
  const [keyword, text] = found ? ["probelab", JSON.stringify(found.origin)] : ["Comment", ""];
  return { content: new Picture(pngWithText(drawn, keyword, text, 2, title)), title };
}

/** The folders of incidents: the one given, or those in it, by name. @throws ProbelabError without one. */
export async function incidentFolders(directory: string): Promise<string[]> {
  const folder = resolve(directory);
  const holds = async (one: string) =>
    (await stat(join(one, "entries")).catch(() => undefined))?.isDirectory() === true;
  if (await holds(folder)) return [folder];
  const names = await readdir(folder).catch((error: unknown) => {
    throw new ProbelabError(
      `Can't find incidents in ${JSON.stringify(directory)}: it can't be read (${(error as NodeJS.ErrnoException).code}); pass an incident's folder, or that of several.`,
      { cause: error },
    );
  });
  const found: string[] = [];
  for (const name of names.sort()) {
    if (await holds(join(folder, name))) found.push(join(folder, name));
  }
  return found;
}
