import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
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

/** The end of a server process that did not become the directory's server. */
export const EXIT = {
  /** Another process was quicker. */
  held: 10,
  /** The engine's packages are not installed. */
  missing: 11,
} as const;

/** The files of an embedded database's directory. */
export function directoryFiles(directory: string) {
  return {
    data: join(directory, "data"),
    /** Functions in SQL that the engine takes before its own of the same name. */
    functions: join(directory, "data", "user_defined"),
    record: join(directory, "server.json"),
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

/**
 * The directory's record, or null: also where it is no record, a stranger's, or of another directory,
 * which this one is a copy of or was renamed from.
 */
export function readRecord(directory: string): ServerRecord | null {
  let file: number | undefined;
  try {
    // Without O_NONBLOCK a pipe of that name would wait for a writer.
    file = openSync(directoryFiles(directory).record, constants.O_RDONLY | constants.O_NONBLOCK);
    const [status, own] = [fstatSync(file), statSync(directory)];
    if (!status.isFile() || ![process.getuid?.(), own.uid].includes(status.uid)) return null;
    const text = readFileSync(file, "utf8");
    const { pid, port, token, writerToken, path } = JSON.parse(text) as Record<string, unknown>;
    const isCount = (value: unknown) => Number.isInteger(value) && Number(value) > 0;
    if (!isCount(pid) || !isCount(port) || Number(port) > 65_535) return null;
    if (![token, writerToken, path].every((text) => typeof text === "string" && text !== "")) {
      return null;
    }
    // The same one by links and bind mounts, too.
    const held = statSync(path as string);
    if (held.dev !== own.dev || held.ino !== own.ino) return null;
    return { pid, port, token, writerToken, path } as ServerRecord;
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Removes what killed starts have left, their tokens included. Only the lock's holder may. */
export async function removeLeftovers(directory: string): Promise<void> {
  await rm(directoryFiles(directory).record, { force: true });
  for (const name of await readdir(directory)) {
    if (/^(server-\d+\.(?:xml|ready)|server\.json\.\d+)$/.test(name))
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
