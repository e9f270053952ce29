import { createHmac } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ProbelabError } from "../../base/error.js";

/** What a running embedded server tells those who may read its directory. */
export interface ServerRecord {
  readonly pid: number;
  /** Loopback port of ClickHouse's HTTP interface. */
  readonly httpPort: number;
  /** Loopback port on which users hold their lease. */
  readonly leasePort: number;
  /** Secret that every question must carry; with it a request may only read the tables. */
  readonly token: string;
  /** Secret that every request must carry which writes, or reads a file. */
  readonly writerToken: string;
  /** Secret by which the server and its users prove themselves; it is never sent. */
  readonly secret: string;
  /** The directory that the server holds: a copy or a renamed directory has the record, too. */
  readonly directory: Place;
}

/** A directory, and what tells it from another one of the same name. */
export interface Place {
  readonly path: string;
  /** The device and the inode. */
  readonly identity: string;
}

/** The header that carries the token. */
export const TOKEN_HEADER = "X-Probelab-Token";

/** The ClickHouse database inside the embedded server that holds the tables. */
export const EMBEDDED_DATABASE = "probelab";

/** The files of an embedded database's directory. */
export function directoryFiles(directory: string) {
  return {
    data: join(directory, "data"),
    /** Functions in SQL that the engine takes before its own of the same name. */
    functions: join(directory, "data", "user_defined"),
    record: join(directory, "server.json"),
    layout: join(directory, "layout.json"),
    log: join(directory, "server.log"),
    config: (pid: number) => join(directory, `server-${pid}.xml`),
  };
}

/** Makes the directory, readable by its owner only. @throws ProbelabError where it can't be written. */
export async function makeDirectory(directory: string): Promise<void> {
  const { data, log } = directoryFiles(directory);
  try {
    await makeFolders(data);
    await (await open(log, "a", 0o600)).close();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new ProbelabError(
      `Can't write the embedded database's directory ${directory} (${reason}): make it writable, free some space, or name another one with PROBELAB_MEASUREMENTS=embedded:DIR.`,
      { cause },
    );
  }
}

/** How this probelab lays an embedded database out; it is raised where an older one can't read it. */
const LAYOUT = 1;

/**
 * Writes which layout a directory has, where nothing says so yet: those that were made before it was
 * written have the first.
 *
 * @param engine the version of the engine that is to open it; "" where it is not known.
 * @throws ProbelabError for a directory that a newer probelab or engine has written; nothing of it
 *   is touched.
 */
export async function checkLayout(directory: string, engine: string): Promise<void> {
  const { layout: path } = directoryFiles(directory);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const refused = (why: string, remedy: string) =>
    new ProbelabError(
      `Can't open the embedded database ${directory}: ${why}. Nothing in it was changed: ${remedy}, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
    );
  const known = text === undefined ? undefined : layoutOf(text);
  if (known === null) {
    throw refused(`its file ${path} can't be read`, "put it back from a copy, or remove that file");
  }
  if (known !== undefined && known.layout > LAYOUT) {
    throw refused(
      `its layout is ${known.layout}, and this probelab knows ${LAYOUT}`,
      "update probelab",
    );
  }
  if (known !== undefined && engine !== "" && newer(known.engine, engine)) {
    throw refused(
      `ClickHouse ${known.engine} has written it, and this one is ${engine}`,
      "update probelab and its package chdb",
    );
  }
  if (known?.engine === engine) return;
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, `${JSON.stringify({ layout: LAYOUT, engine })}\n`, { mode: 0o600 });
  await rename(aside, path);
}

function layoutOf(text: string): { layout: number; engine: string } | null {
  try {
    const { layout, engine } = JSON.parse(text) as { layout?: unknown; engine?: unknown };
    return Number.isInteger(layout) && typeof engine === "string"
      ? { layout: Number(layout), engine }
      : null;
  } catch {
    return null;
  }
}

/** By year and month: within one, ClickHouse keeps its files as they are. */
function newer(one: string, other: string): boolean {
  const [a = 0, b = 0] = [one, other].map((version) => {
    const [year = 0, month = 0] = version.split(".").map(Number);
    return year * 100 + month;
  });
  return a > b;
}

// Node's own recursive mkdir never returns in a file system that makes no folders, such as /proc.
async function makeFolders(path: string): Promise<void> {
  const known = await stat(path).catch(() => null);
  if (known?.isDirectory()) return;
  if (known !== null) throw Object.assign(new Error(`${path} is a file`), { code: "ENOTDIR" });
  if (dirname(path) !== path) await makeFolders(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error; // another process made it in between
  });
}

/** Where a directory is now, or null where there is none. */
export async function placeOf(path: string): Promise<Place | null> {
  const status = await stat(path, { bigint: true }).catch(() => null);
  return status && { path, identity: `${status.dev}:${status.ino}` };
}

/**
 * The record of the server that holds the directory, or null: also where it is no record, a stranger's,
 * or that of another directory, which this one is a copy of or was renamed from.
 */
export async function readRecord(directory: string): Promise<ServerRecord | null> {
  try {
    // A pipe of that name would never be opened otherwise.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    await using file = await open(directoryFiles(directory).record, flags);
    const status = await file.stat();
    const owners = [process.getuid?.(), (await stat(directory)).uid];
    if (!status.isFile() || !owners.includes(status.uid)) return null;
    const record: unknown = JSON.parse(await file.readFile("utf8"));
    return isRecord(record) && (await holds(record, directory)) ? record : null;
  } catch {
    return null;
  }
}

/** Whether the server still holds the directory, under whatever names both know it. */
export async function holds(record: ServerRecord, directory: string): Promise<boolean> {
  const { path, identity } = record.directory;
  const places = await Promise.all([placeOf(path), placeOf(directory)]);
  return places.every((place) => place?.identity === identity);
}

function isRecord(value: unknown): value is ServerRecord {
  const record = value as { [Key in keyof ServerRecord]?: unknown } | null;
  const { path, identity } = (record?.directory ?? {}) as { [Key in keyof Place]?: unknown };
  const numbers = [record?.pid, record?.httpPort, record?.leasePort];
  const texts = [record?.token, record?.writerToken, record?.secret, path, identity];
  return (
    numbers.every((number) => Number.isInteger(number) && Number(number) > 0) &&
    numbers.slice(1).every((port) => Number(port) < 65_536) &&
    texts.every((text) => typeof text === "string" && text !== "")
  );
}

/** What only who knows the secret can answer to a `nonce`; `who` says whose answer it is. */
export function proof(secret: string, who: "server" | "user", nonce: string): string {
  return createHmac("sha256", secret).update(`${who}:${nonce}`).digest("hex");
}

/** Removes what starts that were killed have left, and with it their tokens: for the lock's holder only. */
export async function removeLeftovers(directory: string): Promise<void> {
  await rm(directoryFiles(directory).record, { force: true });
  for (const name of await readdir(directory)) {
    if (/^(server-\d+\.xml|(?:server|layout)\.json\.\d+|\.write-\d+)$/.test(name))
      await rm(join(directory, name), { force: true });
  }
}

/** Writes the record whole, for its owner's eyes only. */
export async function writeRecord(directory: string, record: ServerRecord): Promise<void> {
  const { record: path } = directoryFiles(directory);
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, JSON.stringify(record), { mode: 0o600 });
  await rename(aside, path);
}
