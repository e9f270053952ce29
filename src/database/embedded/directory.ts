import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
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
  /** The last line of its log is the whole reason, with its remedy. */
  refused: 12,
} as const;

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
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? JSON.stringify({ layout: LAYOUT, engine: "" }) : "",
  );
  const { layout, engine: writer } = fieldsOf(text);
  const [why, remedy] =
    typeof layout !== "number" || typeof writer !== "string"
      ? [`can't read its file ${path}`, "put it back from a copy, or remove that file"]
      : layout > LAYOUT
        ? [`its layout is ${layout}, and this probelab knows ${LAYOUT}`, "update probelab"]
        : engine !== "" && month(writer) > month(engine)
          ? [
              `ClickHouse ${writer} has written it, and this one is ${engine}`,
              "update probelab and its package chdb",
            ]
          : [];
  if (why !== undefined) {
    throw new ProbelabError(
      `Can't open the embedded database ${directory}: ${why}. Nothing in it was changed: ${remedy}, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
    );
  }
  if (writer !== engine) await writeAside(path, `${JSON.stringify({ layout: LAYOUT, engine })}\n`);
}

/** The months of a version such as 26.7.3: within one, ClickHouse keeps its files as they are. */
function month(version: string): number {
  const [year = 0, month = 0] = version.split(".").map(Number);
  return year * 12 + month;
}

function fieldsOf(json: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(json) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
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
    const { pid, port, token, writerToken, path } = fieldsOf(readFileSync(file, "utf8"));
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
    if (/^(server-\d+\.(?:xml|ready)|(?:server|layout)\.json\.\d+)$/.test(name))
      await rm(join(directory, name), { force: true });
  }
}

/** Writes the record whole and readable by its owner only. */
export function writeRecord(directory: string, record: ServerRecord): Promise<void> {
  return writeAside(directoryFiles(directory).record, JSON.stringify(record));
}

async function writeAside(path: string, text: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, text, { mode: 0o600 });
  await rename(aside, path);
}
