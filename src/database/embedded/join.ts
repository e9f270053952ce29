import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { entryPath } from "../../base/entry-path.js";
import { ProbelabError } from "../../base/error.js";
import { directoryFiles, makeDirectory, readRecord } from "./directory.js";
import { takeLease, type Lease } from "./lease.js";

/** How long joining may take, in seconds. */
interface JoinLimits {
  /** Until a server that is starting answers; default 90: with a cold disk the engine alone is read for a minute. */
  readonly start?: number;
  /** Until a server that holds the directory answers, or ends; default 10. */
  readonly others?: number;
}

/** What a server's process tells the one that started it: that it waits for the directory's lock, or how it ended up. */
export type ServerNews =
  | { readonly state: "waits" }
  | { readonly state: "ready" }
  | {
      readonly state: "failed";
      readonly reason: string;
      readonly missing?: boolean;
      /** True where the reason says all, with its remedy. */
      readonly refused?: boolean;
    };

/**
 * Joins the directory's running server, or starts one.
 *
 * Who serves a directory is decided by a lock on it, which the system takes back where its holder
 * ends: a process that is started while another one holds the lock waits for it, and is ended as
 * soon as the holder can be joined. The server ends by itself shortly after the last lease is gone,
 * also when its holder was killed: a lease is an open socket, which the system closes, too.
 *
 * @throws ProbelabError when the directory can't be written, the engine's package is missing,
 *   another server holds the directory and can't be joined, or none answers in time.
 */
export async function joinServer(directory: string, limits: JoinLimits = {}): Promise<Lease> {
  const running = await joinRunning(directory);
  if (running !== null) return running;
  await makeDirectory(directory);
  const { start = 90, others = 10 } = limits;
  const first = await startServer(directory, start, others);
  if (!("failed" in first)) return first;
  if (first.final) throw first.failed;
  // Another program may have taken the port in between.
  const second = await startServer(directory, start, others);
  if ("failed" in second) throw second.failed;
  return second;
}

async function joinRunning(directory: string): Promise<Lease | null> {
  const record = await readRecord(directory);
  return record && takeLease(record, directory);
}

interface Failure {
  readonly failed: ProbelabError;
  /** False where it may be tried again. */
  readonly final: boolean;
}

/** Starts a server, and joins it or the one that it has to wait for. */
async function startServer(
  directory: string,
  start: number,
  others: number,
): Promise<Lease | Failure> {
  const files = directoryFiles(directory);
  await using log = await open(files.log, "a", 0o600);
  const logged = (await log.stat()).size;
  const entry = entryPath(import.meta.url, "./server-process.js");
  const child = spawn(process.execPath, ["--no-warnings", entry, directory], {
    detached: true,
    stdio: ["ignore", log.fd, log.fd, "ipc"],
    env: environment(),
  });
  const heard: { news?: ServerNews } = {};
  const failed = (reason: string) => (heard.news ??= { state: "failed", reason });
  child.on("message", (news: ServerNews) => (heard.news = news));
  child.on("error", (error) => failed(error.message));
  child.on("exit", (code, signal) => {
    if (heard.news?.state !== "failed") delete heard.news;
    failed(`it ended with ${signal ?? code}`);
  });
  const began = Date.now();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { state } = heard.news ?? {};
    const seconds = (Date.now() - began) / 1000;
    const lease = state === "ready" || state === "waits" ? await joinRunning(directory) : null;
    if (lease !== null) {
      if (state === "ready") letGo(child);
      else await end(child, directory);
      return lease;
    }
    // Who starts takes the old record away first: one that is there is of a server out of reach.
    const limit = state === "waits" && existsSync(files.record) ? others : start;
    if (state !== "failed" && seconds < limit) continue;
    await end(child, directory);
    if (state === "waits") return { failed: isHeld(directory), final: true };
    if (heard.news?.state !== "failed" || seconds > limit) {
      const reason = `it did not answer within ${limit} seconds`;
      return { failed: cantStart(directory, reason), final: true };
    }
    if (heard.news.refused) return { failed: new ProbelabError(heard.news.reason), final: true };
    const said = (await readFile(files.log)).subarray(logged).toString("utf8");
    const reason = reasonOf(heard.news, said);
    return { failed: cantStart(directory, reason), final: heard.news.missing === true };
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

function letGo(child: ChildProcess): void {
  child.removeAllListeners();
  child.unref();
  if (child.connected) child.disconnect();
}

/** Ends a server's process, also one that hears no other signal any more. */
async function end(child: ChildProcess, directory: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
  }
  letGo(child);
  if (child.pid !== undefined)
    await rm(directoryFiles(directory).config(child.pid), { force: true });
}

function isHeld(directory: string): ProbelabError {
  return new ProbelabError(
    `Can't open the embedded database ${directory}: another server holds it and does not answer here (it may belong to another user or container). End it, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
  );
}

function cantStart(directory: string, reason: string): ProbelabError {
  return new ProbelabError(
    `Can't start the embedded database in ${directory}: ${reason}. Its log is ${directoryFiles(directory).log}; "npx probelab doctor" checks what it needs.`,
  );
}

/** Why a server did not start, with the remedy; `log` is what it wrote meanwhile. */
function reasonOf(news: Extract<ServerNews, { state: "failed" }>, log: string): string {
  if (news.missing) {
    return `the engine's packages chdb and ffi-rs are not installed (they exist for Linux with glibc and macOS): run "npm install", or connect to a server with PROBELAB_MEASUREMENTS=http://host:8123/database`;
  }
  const errors = log.split("\n").filter((line) => /exception|error/i.test(line));
  const reason = errors.at(-1)?.trim().slice(0, 300) ?? news.reason;
  const limit = addressSpace();
  return limit === null
    ? reason
    : `the engine gets too little memory (${reason}, and the address space is limited to ${limit} MiB): lift the limit with "ulimit -v unlimited" or the like, or free some memory`;
}

/** The engine maps more than it uses. */
const ENOUGH_MEBIBYTES = 8_000;

/** The limit on this process's address space, which its children inherit, in MiB; null where it is no hindrance. */
function addressSpace(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const mebibytes = Number(/^Max address space\s+(\d+)/m.exec(limits)?.[1]) / 2 ** 20;
    return mebibytes < ENOUGH_MEBIBYTES ? Math.round(mebibytes) : null;
  } catch {
    return null;
  }
}
