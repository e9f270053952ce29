import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ProbelabError } from "../../error.js";

/** What a running embedded server tells those who may read its directory. */
export interface ServerRecord {
  readonly pid: number;
  /** Loopback port of ClickHouse's HTTP interface. */
  readonly httpPort: number;
  /** Loopback port on which users hold their lease. */
  readonly leasePort: number;
  /** Secret that every request and lease must carry. */
  readonly token: string;
  readonly version: string;
}

/** The header that carries the token. */
export const TOKEN_HEADER = "X-Probelab-Token";

/** The ClickHouse database inside the embedded server that holds the tables. */
export const EMBEDDED_DATABASE = "probelab";

/** The files of an embedded database's directory. */
export function directoryFiles(directory: string) {
  return {
    data: join(directory, "data"),
    record: join(directory, "server.json"),
    log: join(directory, "server.log"),
    config: (pid: number) => join(directory, `server-${pid}.xml`),
  };
}

/** Makes the directory, readable by its owner only. @throws ProbelabError where it can't be written. */
export async function makeDirectory(directory: string): Promise<void> {
  const { data } = directoryFiles(directory);
  const probe = join(directory, `.write-${process.pid}`);
  try {
    await makeFolders(data);
    await writeFile(probe, "", { mode: 0o600 });
    await rm(probe);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new ProbelabError(
      `Can't write the embedded database's directory ${directory} (${reason}): make it writable, free some space, or name another one with PROBELAB_MEASUREMENTS=embedded:DIR.`,
      { cause },
    );
  }
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

/** The running server's record, or null where there is none that can be read. */
export async function readRecord(directory: string): Promise<ServerRecord | null> {
  try {
    return JSON.parse(await readFile(directoryFiles(directory).record, "utf8")) as ServerRecord;
  } catch {
    return null;
  }
}

/** Writes the record whole, for its owner's eyes only. */
export async function writeRecord(directory: string, record: ServerRecord): Promise<void> {
  const { record: path } = directoryFiles(directory);
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, JSON.stringify(record), { mode: 0o600 });
  await rename(aside, path);
}
