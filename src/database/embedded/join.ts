import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, statfsSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { entryPath } from "../../base/entry-path.js";
import { ProbelabError } from "../../base/error.js";
import { lockFile, systemCall } from "../../base/system-call.js";
import { directoryFiles, EXIT, makeDirectory, readRecord, type ServerRecord } from "./directory.js";

/** A use of the directory's server, which lives as long as somebody uses it. */
export interface Lease extends Disposable {
  readonly server: ServerRecord;
  /** True while the server runs and holds the directory; once false, take a new lease. */
  check(): boolean;
}

/** Seconds that joining may take. */
interface JoinLimits {
  /** Until a server that is starting answers. @default 90: a cold disk needs a minute to read the engine */
  readonly start?: number;
  /** Until a server that can't be reached ends. @default 10 */
  readonly others?: number;
}

const MISSING = `the engine's packages chdb and ffi-rs are not installed (they exist for Linux with glibc and macOS): run "npm install", or connect to a server with PROBELAB_MEASUREMENTS=http://host:8123/database`;

/**
 * Joins the directory's running server, or starts one.
 *
 * Two locks (`flock`) decide, which the system takes back from whoever ends, SIGKILL included. The
 * server holds `server.lock`, so that a directory has one. Its users share `users.lock`; the server
 * ends itself once it gets that lock, since then nobody uses it.
 *
 * @throws ProbelabError when the directory can't be written, the engine's package is missing,
 *   another server holds the directory and can't be reached, or none answers in time.
 */
export async function joinServer(directory: string, limits: JoinLimits = {}): Promise<Lease> {
  const { start = 90, others = 10 } = limits;
  const files = directoryFiles(directory);
  const cantStart = (reason: string) =>
    new ProbelabError(
      hasRoom(directory)
        ? `Can't start the embedded database in ${directory}: ${reason}. Its log is ${files.log}; "npx probelab doctor" checks what it needs.`
        : `Can't start the embedded database in ${directory}: the disk is full. Free some space.`,
    );
  if (systemCall("getpid", []) === undefined) throw cantStart(MISSING);
  await makeDirectory(directory);
  const users = openSync(files.usersLock, "a");
  let child: StartingServer | undefined;
  try {
    const began = Date.now();
    for (let starts = 0; ; await delay(20)) {
      const seconds = (Date.now() - began) / 1000;
      // The server holds this lock for the moment of its end only.
      if (lockFile(users, "shared")) {
        const server = runningServer(directory);
        if (server !== null && (await isReachable(server.port))) {
          child?.letGo();
          return lease(server, directory, users);
        }
        if (child === undefined && !isLocked(files.serverLock)) {
          child = await startServer(directory);
          starts++;
        }
      }
      const end = child?.end();
      if (child !== undefined && end !== undefined) {
        const lines = (await child.log()).trim().split("\n");
        await child.kill();
        child = undefined;
        if (end === EXIT.missing) throw cantStart(MISSING);
        const errors = lines.filter((line) => /exception|error/i.test(line));
        // Another program may have taken the port in between.
        if (end !== EXIT.held && starts > 1) {
          throw cantStart(errors.at(-1)?.trim().slice(0, 300) ?? `it ended with ${end}`);
        }
      }
      // A starting server removes the old record: one that exists is of a server out of reach.
      if (child === undefined && seconds > (existsSync(files.record) ? others : start)) {
        throw new ProbelabError(
          `Can't open the embedded database ${directory}: another server holds it and does not answer here (it may belong to another user or container). End it, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
        );
      }
      if (seconds > start) throw cantStart(`it did not answer within ${start} seconds`);
    }
  } catch (error) {
    await child?.kill();
    closeSync(users);
    throw error;
  }
}

/** False where a disk has not even a megabyte left. */
function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize > 2 ** 20;
  } catch {
    return true; // as of a directory that couldn't be made
  }
}

function lease(server: ServerRecord, directory: string, users: number): Lease {
  let open = true;
  return {
    server,
    check: () => open && runningServer(directory)?.token === server.token,
    [Symbol.dispose]() {
      if (open) closeSync(users);
      open = false;
    },
  };
}

/**
 * The server that holds the directory now, or null. After its end anybody may listen on its port:
 * no token goes there unless the lock is held and the process of the record is alive.
 */
function runningServer(directory: string): ServerRecord | null {
  const record = readRecord(directory);
  if (record === null || !isLocked(directoryFiles(directory).serverLock)) return null;
  try {
    process.kill(record.pid, 0);
    return record;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? record : null;
  }
}

/** Tries a lock that several may try at once, and gives it back. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = openSync(path, "r");
  try {
    return !lockFile(file, "shared");
  } finally {
    closeSync(file);
  }
}

/** False for a server in another container, whose ports are its own. Nothing is sent. */
function isReachable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: 5_000 });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on("connect", () => done(true));
    socket.on("error", () => done(false)).on("timeout", () => done(false));
  });
}

/** A server's process until it answers. */
interface StartingServer {
  /** Its exit code, signal or error; undefined while it runs. */
  end(): number | string | undefined;
  /** Its part of the log. */
  log(): Promise<string>;
  /** Ends it, also where it hears no other signal any more. */
  kill(): Promise<void>;
  letGo(): void;
}

/** The server's environment has none of the passwords that the notebook's may hold. */
const ENVIRONMENT = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_PATH", "LD_LIBRARY_PATH"];

async function startServer(directory: string): Promise<StartingServer> {
  const files = directoryFiles(directory);
  await using log = await open(files.log, "a", 0o600);
  const logged = (await log.stat()).size;
  const entry = entryPath(import.meta.url, "./server-process.js");
  const kept = Object.entries(process.env).filter(([name]) => ENVIRONMENT.includes(name));
  const child = spawn(process.execPath, ["--no-warnings", entry, directory], {
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
    env: { ...Object.fromEntries<string | undefined>(kept), TZ: "UTC" },
  });
  let failure: string | undefined;
  child.on("error", (error) => (failure = error.message));
  const letGo = () => child.unref();
  return {
    end: () => failure ?? child.signalCode ?? child.exitCode ?? undefined,
    log: async () => (await readFile(files.log)).subarray(logged).toString("utf8"),
    async kill() {
      if (child.pid === undefined) return;
      if (child.exitCode === null && child.signalCode === null) {
        const exit = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await Promise.race([exit, delay(2_000, undefined, { ref: false })]);
      }
      letGo();
      await rm(files.config(child.pid), { force: true });
    },
    letGo,
  };
}
