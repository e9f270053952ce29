import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { ProbelabError } from "../../error.js";
import { entryPath } from "../../entry-path.js";
import { directoryFiles, makeDirectory, readRecord, type ServerRecord } from "./directory.js";

/** A held place at a running embedded server; the server lives as long as somebody holds one. */
export interface Lease extends Disposable {
  readonly server: ServerRecord;
  /** True until the server ends or the lease is given back. */
  readonly held: boolean;
}

/** How long another process may take to start or end the directory's server, in milliseconds. */
const WAIT_FOR_OTHERS = 10_000;

/**
 * Joins the directory's running server, or starts one.
 *
 * The server ends by itself shortly after the last lease is gone, also when its holder was killed:
 * a lease is an open socket, which the system closes with its process.
 *
 * @throws ProbelabError when the directory can't be written, the engine's package is missing, or
 *   another server holds the directory and can't be joined.
 */
export async function joinServer(directory: string): Promise<Lease> {
  await makeDirectory(directory);
  const deadline = Date.now() + WAIT_FOR_OTHERS;
  let reason = "";
  do {
    const lease = await joinRunning(directory);
    if (lease) return lease;
    reason = (await startServer(directory)) ?? "";
    // Somebody else is starting one, or ending: look again for a while before trying once more.
    for (let look = 0; look < 10 && /Cannot lock file/.test(reason); look++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const joined = await joinRunning(directory);
      if (joined) return joined;
    }
  } while (Date.now() < deadline && (reason === "" || /Cannot lock|taken by/.test(reason)));
  if (/Cannot lock file/.test(reason)) {
    throw new ProbelabError(
      `Can't open the embedded database ${directory}: another server holds it and does not answer here (it may belong to another user or container). End it, or name another directory with PROBELAB_MEASUREMENTS=embedded:DIR.`,
    );
  }
  throw new ProbelabError(
    `Can't start the embedded database in ${directory}: ${reason}. Its log is ${directoryFiles(directory).log}; "npx probelab doctor" checks what it needs.`,
  );
}

async function joinRunning(directory: string): Promise<Lease | null> {
  const record = await readRecord(directory);
  return record && takeLease(record);
}

/** Starts a server and waits until it answers; the reason where it did not. */
async function startServer(directory: string): Promise<string | null> {
  const path = directoryFiles(directory).log;
  const log = await open(path, "a", 0o600);
  try {
    const before = (await log.stat()).size;
    const entry = entryPath(import.meta.url, "./server-process.js");
    const child = spawn(process.execPath, ["--no-warnings", entry, directory], {
      detached: true,
      stdio: ["ignore", log.fd, log.fd, "ipc"],
      env: { ...process.env, TZ: "UTC", NODE_OPTIONS: "" },
    });
    const answer = await new Promise<string | null>((resolve) => {
      child.on("message", (message: { ready?: true; failed?: string }) =>
        resolve(message.ready ? null : (message.failed ?? "no reason given")),
      );
      child.on("error", (error) => resolve(error.message));
      child.on("exit", (code, signal) => resolve(`it ended with ${signal ?? code}`));
    });
    child.removeAllListeners();
    child.unref();
    if (child.connected) child.disconnect();
    if (answer === null) return null;
    return (
      missingPackage(answer) ??
      lastError((await readFile(path)).subarray(before).toString("utf8")) ??
      answer
    );
  } finally {
    await log.close();
  }
}

function missingPackage(reason: string): string | null {
  if (!/Cannot find (module|package)|chdb native library|MODULE_NOT_FOUND/i.test(reason))
    return null;
  return `the engine's packages chdb and ffi-rs are not installed (they exist for Linux with glibc and macOS): run "npm install", or connect to a server with PROBELAB_MEASUREMENTS=http://host:8123/database`;
}

function lastError(log: string): string | null {
  const lines = log.split("\n").filter((line) => /exception|error/i.test(line));
  return lines.at(-1)?.trim().slice(0, 300) ?? null;
}

/** Takes a lease at the recorded server; null where it no longer answers. */
function takeLease(server: ServerRecord): Promise<Lease | null> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: "127.0.0.1", port: server.leasePort });
    let held = false;
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("connect", () => socket.write(`${server.token}\n`));
    socket.on("data", () => {
      if (held) return;
      held = true;
      socket.setTimeout(0);
      socket.unref(); // a forgotten connection must not keep a notebook's process alive
      resolve({
        server,
        get held() {
          return held;
        },
        [Symbol.dispose]() {
          socket.destroy();
        },
      });
    });
    socket.on("close", () => {
      held = false;
      resolve(null);
    });
  });
}
