import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ProbelabError } from "../../base/error.js";

/** The running embedded server of a directory, as written in its `server.json` (0600). */
export interface ServerRecord {
  readonly pid: number;
  /** Loopback port of ClickHouse's HTTP interface. */
  readonly port: number;
  /** Secret header of questions: with it a request may only read the tables. */
  readonly token: string;
  /** Secret header of requests that write, or read a file. */
  readonly writerToken: string;
  /** Real path of the directory that the server holds. */
  readonly path: string;
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
    /** Locked by the server for as long as it lives. */
    serverLock: join(directory, "server.lock"),
    /** Locked, together, by all who use the server. */
    usersLock: join(directory, "users.lock"),
    config: (pid: number) => join(directory, `server-${pid}.xml`),
    /** Written by the engine once it listens. */
    ready: (pid: number) => join(directory, `server-${pid}.ready`),
  };
}

/** Makes the directory, readable by its owner only. @throws ProbelabError where it can't be written. */
export async function makeDirectory(directory: string): Promise<void> {
  const { data, log, serverLock, usersLock } = directoryFiles(directory);
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    for (const path of [log, serverLock, usersLock]) await (await open(path, "a", 0o600)).close();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new ProbelabError(
      `Can't write the embedded database's directory ${directory} (${reason}): make it writable, free some space, or name another one with PROBELAB_MEASUREMENTS=embedded:DIR.`,
      { cause },
    );
  }
}

/** Version of the directory's layout; raised when an older probelab can't read the new one. */
const LAYOUT = 1;

/**
 * Checks that this probelab and this engine can open the directory, and notes both in `layout.json`.
 *
 * @param engine version of the engine that is to open it; "" if unknown.
 * @throws ProbelabError for a directory that a newer probelab or engine has written; it stays untouched.
 */
export async function checkLayout(directory: string, engine: string): Promise<void> {
  const { layout: path } = directoryFiles(directory);
  const refuse = (why: string, remedy: string) => {
    throw new ProbelabError(
      `Can't open the embedded database ${directory}: ${why}. Nothing in it was changed: ${remedy}, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
    );
  };
  let known: { layout?: unknown; engine?: unknown } = { layout: LAYOUT, engine: "" };
  try {
    known = JSON.parse(await readFile(path, "utf8")) as typeof known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") known = {};
  }
  if (typeof known.layout !== "number" || typeof known.engine !== "string") {
    return refuse(`can't read its file ${path}`, "put it back from a copy, or remove that file");
  }
  if (known.layout > LAYOUT) {
    refuse(`its layout is ${known.layout}, and this probelab knows ${LAYOUT}`, "update probelab");
  }
  if (engine !== "" && month(known.engine) > month(engine)) {
    refuse(
      `ClickHouse ${known.engine} has written it, and this one is ${engine}`,
      "update probelab and its package chdb",
    );
  }
  if (known.engine === engine) return;
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, `${JSON.stringify({ layout: LAYOUT, engine })}\n`, { mode: 0o600 });
  await rename(aside, path);
}

/** The months of a version such as 26.7.3: within one, ClickHouse keeps its files as they are. */
function month(version: string): number {
  const [year = 0, month = 0] = version.split(".").map(Number);
  return year * 12 + month;
}

/** True where both paths lead to the same directory, by links and bind mounts, too. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path, { bigint: true })));
  return a?.dev === b?.dev && a?.ino === b?.ino;
}

/**
 * The directory's record, or null: also where it is no record, a stranger's, or of another directory,
 * which this one is a copy of or was renamed from.
 */
export async function readRecord(directory: string): Promise<ServerRecord | null> {
  try {
    // Without O_NONBLOCK a pipe of that name would wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    await using file = await open(directoryFiles(directory).record, flags);
    const status = await file.stat();
    const owners = [process.getuid?.(), (await stat(directory)).uid];
    if (!status.isFile() || !owners.includes(status.uid)) return null;
    const record: unknown = JSON.parse(await file.readFile("utf8"));
    return isRecord(record) && (await isSame(record.path, directory)) ? record : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is ServerRecord {
  const { pid, port, ...texts } = (value ?? {}) as { [Key in keyof ServerRecord]?: unknown };
  const isCount = (number: unknown) => Number.isInteger(number) && Number(number) > 0;
  return (
    isCount(pid) &&
    isCount(port) &&
    Number(port) < 65_536 &&
    [texts.token, texts.writerToken, texts.path].every(
      (text) => typeof text === "string" && text !== "",
    )
  );
}

/** Removes what killed starts have left, their tokens included. Only the lock's holder may. */
export async function removeLeftovers(directory: string): Promise<void> {
  await rm(directoryFiles(directory).record, { force: true });
  for (const name of await readdir(directory)) {
    if (/^(server-\d+\.(?:xml|ready)|(?:server|layout)\.json\.\d+)$/.test(name))
      await rm(join(directory, name), { force: true });
  }
}

/** Writes the record whole and readable by its owner only. */
export async function writeRecord(directory: string, record: ServerRecord): Promise<void> {
  const { record: path } = directoryFiles(directory);
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, JSON.stringify(record), { mode: 0o600 });
  await rename(aside, path);
}
