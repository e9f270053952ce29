import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { crc32, inflateSync } from "node:zlib";
import { ProbelabError } from "../../base/error.js";
import { readOrigins } from "../../render/origin/read-origins.js";
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
  pictures: ReadonlyMap<string, Picture> = new Map(),
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
  journal.append(entry, pictures);
  await writePage(journal.folder).catch((error: Error) => {
    throw new ProbelabError(
      `Can't write the page of ${JSON.stringify(directory)}, though the entry is kept: ${error.message}`,
      { cause: error },
    );
  });
}

/** Adds saved charts, PNG, as figures of one entry. @throws ProbelabError for anything but a whole PNG. */
export async function addPictures(
  directory: string,
  paths: readonly string[],
  author?: string,
): Promise<void> {
  const pictures = new Map<string, Picture>();
  const figures: EntryFigure[] = [];
  const mask = wordMask([]);
  for (const path of paths) {
    const content = new Picture(await readPng(path));
    const id = randomBytes(8).toString("hex");
    const file = basename(path, extname(path));
    // Everybody reads a file's name, so it holds no address.
    const name = figureName(mask(file), new Set(figures.map((figure) => figure.name)));
    pictures.set(id, content);
    const caption = titleIn(content.png) ?? file;
    figures.push({ id, ...figureRecord({ name, caption, content }) });
  }
  await addEntry(directory, { figures }, author, pictures);
}

const LARGEST = 20 * 1024 * 1024;

async function readPng(path: string): Promise<Buffer> {
  const refused = (why: string, cause?: unknown) =>
    new ProbelabError(`Can't add ${JSON.stringify(path)}: ${why}`, { cause });
  const about = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw refused(`it can't be opened (${error.code}); check the path.`, error);
  });
  if (!about.isFile() || about.size > LARGEST) {
    throw refused("it is no file of up to 20 MiB; save the chart as .png.");
  }
  const bytes: Buffer = await readFile(path);
  if (bytes.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") {
    throw refused(
      "it is no PNG. Save the chart as .png, or add it with its data in a notebook: (await postmortem.open(folder)).add(chart).",
    );
  }
  try {
    checkPng(bytes);
  } catch (error) {
    throw refused("it was cut short or damaged; save it again.", error);
  }
  return bytes;
}

/** Reads a PNG's chunks to the end: a damaged one would be found only when the postmortem is written. */
function checkPng(bytes: Buffer): void {
  const data: Buffer[] = [];
  let [at, type] = [8, ""];
  for (; type !== "IEND"; at += 12 + bytes.readUInt32BE(at)) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw new Error("checksum");
    const before = type;
    type = bytes.toString("latin1", at + 4, at + 8);
    if ((before === "") !== (type === "IHDR")) throw new Error("its header isn't first");
    if (type === "IDAT") data.push(bytes.subarray(at + 8, end));
  }
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  // 64 million pixels of 8 bytes, and a byte a row.
  const pixels = inflateSync(Buffer.concat(data), { maxOutputLength: 2 ** 29 });
  const least = height * (1 + Math.ceil((width * bytes[24]!) / 8));
  if (width * height === 0 || pixels.length < least) throw new Error("too few pixels");
}

function titleIn(png: Buffer): string | undefined {
  try {
    return readOrigins(png)[0]?.title;
  } catch {
    return undefined; // of another program
  }
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
