import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { entryPath } from "../../base/entry-path.js";
import { ProbelabError } from "../../base/error.js";
import {
  directoryFiles,
  isStarting,
  makeDirectory,
  readRecord,
  START_SECONDS,
} from "./directory.js";
import { takeLease, type Lease } from "./lease.js";

/** How long joining may take, in seconds. */
export interface JoinLimits {
  /** Until a server that was started answers; default 90. */
  readonly start?: number;
  /** Until another process that holds the directory ends, or answers; default 10. */
  readonly others?: number;
}

/**
 * Joins the directory's running server, or starts one.
 *
 * The server ends by itself shortly after the last lease is gone, also when its holder was killed:
 * a lease is an open socket, which the system closes with its process.
 *
 * @throws ProbelabError when the directory can't be written, the engine's package is missing,
 *   another server holds the directory and can't be joined, or none answers in time.
 */
export async function joinServer(directory: string, limits: JoinLimits = {}): Promise<Lease> {
  await makeDirectory(directory);
  const { start = START_SECONDS, others = 10 } = limits;
  const began = Date.now();
  const within = (seconds: number) => Date.now() - began < seconds * 1000;
  const waits = async () => within(start) && (await isStarting(directory));
  let lease = await joinRunning(directory);
  while (lease === null) {
    if (await waits()) {
      lease = await lookFor(directory, 1_000);
      continue;
    }
    const reason = await startServer(directory, start);
    // However long it took: a server that is up is joined.
    lease = await lookFor(directory, reason === null ? 5_000 : 1_000);
    if (lease !== null) break;
    // Somebody else is starting one, or ending.
    const again = reason !== null && AGAIN.test(reason);
    if (!again || !(within(others) || (await waits()))) throw cantStart(directory, reason);
  }
  return lease;
}

const LOCKED = /Cannot lock file/;
const AGAIN = /Cannot lock file|was taken by|Listen \[.*failed/;

async function joinRunning(directory: string): Promise<Lease | null> {
  const record = await readRecord(directory);
  return record && takeLease(record, directory);
}

async function lookFor(directory: string, milliseconds: number): Promise<Lease | null> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const lease = await joinRunning(directory);
    if (lease !== null || Date.now() > end) return lease;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Starts a server and waits until it answers; the reason where it did not. */
async function startServer(directory: string, seconds: number): Promise<string | null> {
  const path = directoryFiles(directory).log;
  const log = await open(path, "a", 0o600);
  try {
    const before = (await log.stat()).size;
    const entry = entryPath(import.meta.url, "./server-process.js");
    const child = spawn(process.execPath, ["--no-warnings", entry, directory], {
      detached: true,
      stdio: ["ignore", log.fd, log.fd, "ipc"],
      env: environment(),
    });
    const answer = await new Promise<string | null>((resolve) => {
      child.on("message", (message: { ready?: true; failed?: string }) =>
        resolve(message.ready ? null : (message.failed ?? "no reason given")),
      );
      child.on("error", (error) => resolve(error.message));
      child.on("exit", (code, signal) => resolve(`it ended with ${signal ?? code}`));
      setTimeout(resolve, seconds * 1000, `it did not answer within ${seconds} seconds`).unref();
    });
    if (answer !== null) await end(child, directory);
    child.removeAllListeners();
    child.unref();
    if (child.connected) child.disconnect();
    if (answer === null) return null;
    const said = (await readFile(path)).subarray(before).toString("utf8");
    const told = /ended/.test(answer) ? (lastError(said) ?? answer) : answer;
    return missingPackage(answer) ?? tooLittleMemory(answer + said) ?? told;
  } finally {
    await log.close();
  }
}

/** The server gets no password that the notebook has in its environment. */
function environment(): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_PATH", "LD_LIBRARY_PATH"];
  const own = kept.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...(Object.fromEntries(own) as NodeJS.ProcessEnv), TZ: "UTC" };
}

/** Ends a server that did not start, also one that hears no other signal any more. */
async function end(child: ChildProcess, directory: string): Promise<void> {
  if (child.pid === undefined) return;
  if (child.exitCode === null && child.signalCode === null) {
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
  }
  await rm(directoryFiles(directory).config(child.pid), { force: true });
}

function cantStart(directory: string, reason: string | null): ProbelabError {
  if (reason !== null && LOCKED.test(reason)) {
    return new ProbelabError(
      `Can't open the embedded database ${directory}: another server holds it and does not answer here (it may belong to another user or container). End it, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
    );
  }
  return new ProbelabError(
    `Can't start the embedded database in ${directory}: ${reason ?? "its server started, but did not answer or ended at once"}. Its log is ${directoryFiles(directory).log}; "npx probelab doctor" checks what it needs.`,
  );
}

function missingPackage(reason: string): string | null {
  if (!/Cannot find (module|package)|chdb native library|MODULE_NOT_FOUND/i.test(reason))
    return null;
  return `the engine's packages chdb and ffi-rs are not installed (they exist for Linux with glibc and macOS): run "npm install", or connect to a server with PROBELAB_MEASUREMENTS=http://host:8123/database`;
}

function tooLittleMemory(said: string): string | null {
  const text =
    /bad_alloc|cannot allocate memory|failed to map segment|out of memory|mallctl error/i.exec(
      said,
    );
  if (text === null) return null;
  const limit = addressSpace();
  const told = limit === null ? "" : `, and the address space is limited to ${limit}`;
  return `the engine gets too little memory (${text[0]}${told}): lift the limit with "ulimit -v unlimited" or the like, or free some memory`;
}

/** The limit on this process's address space, which its children inherit; null where there is none. */
function addressSpace(): string | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const bytes = Number(/^Max address space\s+(\d+)/m.exec(limits)?.[1]);
    return Number.isNaN(bytes) ? null : `${Math.round(bytes / 2 ** 20)} MiB`;
  } catch {
    return null;
  }
}

function lastError(log: string): string | null {
  const isError = (line: string) => /exception|error/i.test(line) && !/the engine ended/.test(line);
  const lines = log.split("\n").filter(isError);
  return lines.at(-1)?.trim().slice(0, 300) ?? null;
}
