/**
 * The child process that is the embedded database: a real ClickHouse server on loopback, started
 * from the engine's npm package. It lives as long as somebody holds a lease on it.
 */
import { createHash } from "node:crypto";
import { openSync, readFileSync, rmSync } from "node:fs";
import { mkdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type * as Ffi from "ffi-rs";
import { lockFile } from "../../base/system-call.js";
import { ProbelabError } from "../../base/error.js";
import {
  checkLayout,
  directoryFiles,
  EMBEDDED_DATABASE,
  placeOf,
  removeLeftovers,
  writeRecord,
} from "./directory.js";
import { engineConfig, engineSecret, PROOF_PATH, REFUSED_FILE } from "./engine-config.js";
import type { ServerNews } from "./join.js";
import { listenForLeases, newNonce } from "./lease.js";

const [directory = "", graceText = "2000"] = process.argv.slice(2);
const files = directoryFiles(directory);
const config = files.config(process.pid);
const secrets = { token: newNonce(), writerToken: newNonce(), secret: newNonce() };

let owned = false;

function leave(): void {
  rmSync(config, { force: true });
  if (owned) rmSync(files.record, { force: true });
  // process.exit waits for ever on the engine's thread; what was inserted is whole all the same.
  process.kill(process.pid, "SIGKILL");
}

function tell(news: ServerNews): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(news, undefined, undefined, () => resolve());
  });
}

async function fail(error: unknown): Promise<void> {
  console.error(error);
  const reason = error instanceof Error ? error.message : String(error);
  const missing = error instanceof MissingPackage;
  await tell({ state: "failed", reason, missing, refused: error instanceof ProbelabError });
  leave();
}

class MissingPackage extends Error {}

/** Waits until nobody else serves the directory; ends with the process that wanted it served. */
async function takeLock(): Promise<void> {
  const data = openSync(files.data, "r"); // open, and locked, until this process ends
  for (let told = false; !lockFile(data); told = true) {
    if (!told) await tell({ state: "waits" });
    if (!process.connected) leave();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * How many sockets strangers may hold at each port: the engine aborts where no file descriptor is
 * left. As many again may wait at the engine's; the tables need some, too.
 */
function mostConnections(): number {
  let limit = 1024;
  try {
    limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
  } catch {
    // A system that does not tell has no less.
  }
  return Math.max(16, Math.min(4096, Math.floor((limit - 400) / 4)));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Engine {
  readonly ffi: typeof Ffi;
  readonly path: string;
}

function findEngine(): Engine {
  const require = createRequire(import.meta.url);
  try {
    const ffi = require("ffi-rs") as typeof Ffi;
    const { libchdbPath } = require("chdb/libchdb") as { libchdbPath: () => string };
    return { ffi, path: libchdbPath() };
  } catch (cause) {
    throw new MissingPackage((cause as Error).message, { cause });
  }
}

/** Its package's version, such as 26.7.3-stable.1; "" for a library of one's own. */
function engineVersion({ path }: Engine): string {
  try {
    const text = readFileSync(join(dirname(path), "package.json"), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return "";
  }
}

function startEngine({ ffi, path }: Engine, port: number): Promise<unknown> {
  const { open, load, DataType } = ffi;
  open({ library: "chdb", path });
  const argv = [
    "clickhouse",
    `--path=${files.data}`,
    `--config-file=${config}`,
    "--listen_host=127.0.0.1",
    `--http_port=${port}`,
    `--query=CREATE DATABASE IF NOT EXISTS ${EMBEDDED_DATABASE} ENGINE = Atomic; SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM system.numbers SETTINGS max_block_size=1 FORMAT Null`,
  ];
  return load({
    library: "chdb",
    funcName: "chdb_query_cmdline",
    retType: DataType.I64,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [argv.length, argv],
    runInNewThread: true,
  });
}

/** Waits for the engine: no token is sent to a port that another program may have taken. */
async function waitUntilReady(port: number): Promise<void> {
  for (;;) {
    const nonce = newNonce();
    const answer = await ask(`http://127.0.0.1:${port}${PROOF_PATH}?param_nonce=${nonce}`);
    const expected = createHash("sha256").update(`${engineSecret(secrets.secret)}${nonce}`);
    if (answer === expected.digest("hex")) return;
    if (answer !== null) throw new Error(`port ${port} was taken by another program in between`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The answer's text; null where nobody listens. */
function ask(url: string): Promise<string | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 5_000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("close", () => resolve(text.trim()));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(null));
  });
}

async function main(): Promise<void> {
  process.on("SIGINT", () => undefined); // an interrupt of a notebook is not for its database
  process.on("SIGTERM", () => leave());
  process.on("SIGHUP", () => undefined);
  process.on("uncaughtException", (error) => void fail(error));
  const engine = findEngine();
  await takeLock();
  await removeLeftovers(directory);
  await checkLayout(directory, engineVersion(engine));
  const httpPort = await freePort();
  const connections = mostConnections();
  const configuration = engineConfig(config, EMBEDDED_DATABASE, secrets, connections);
  await writeFile(config, configuration, { mode: 0o600 });
  await mkdir(files.functions, { recursive: true });
  await writeFile(join(files.functions, "function_file.sql"), REFUSED_FILE);
  const place = await placeOf(await realpath(directory));
  if (place === null) throw new Error("the directory is gone");
  const { secret } = secrets;
  const users = { secret, grace: Number(graceText), connections };
  const leasePort = await listenForLeases(users, () => leave());
  const ended = startEngine(engine, httpPort).then(() => {
    throw new Error("the engine ended");
  });
  await Promise.race([ended, waitUntilReady(httpPort)]);
  ended.catch((error: unknown) => fail(error));
  await writeRecord(directory, {
    pid: process.pid,
    httpPort,
    leasePort,
    ...secrets,
    directory: place,
  });
  owned = true;
  const own = await recordInode();
  await rm(config, { force: true });
  await tell({ state: "ready" });
  if (process.connected) process.disconnect();
  setInterval(() => {
    // A directory that was renamed, removed or taken over leaves nobody to serve.
    void recordInode().then((inode) => {
      if (inode === undefined || inode === own) return;
      owned = false;
      leave();
    });
  }, 1_000).unref();
}

/** The record's inode, null where it is gone; undefined where the system can't tell just now. */
async function recordInode(): Promise<bigint | null | undefined> {
  try {
    // Of all ways to look, only this one needs no free file descriptor, which strangers may use up.
    return (await stat(files.record, { bigint: true })).ino;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? null : undefined;
  }
}

main().catch(fail);
