/**
 * The child process that is the embedded database: a real ClickHouse server on loopback, run from
 * the engine's npm package. It ends itself when nobody uses it any more.
 */
import { randomBytes } from "node:crypto";
import { existsSync, openSync, rmSync, statSync } from "node:fs";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type * as Ffi from "ffi-rs";
import { lockFile } from "../../base/system-call.js";
import {
  directoryFiles,
  EMBEDDED_DATABASE,
  EXIT,
  removeLeftovers,
  TOKEN_HEADER,
  writeRecord,
} from "./directory.js";

/** Milliseconds without a user after which the server ends, and between two looks. */
const GRACE = 2_000;
const INTERVAL = 500;

const [directory = ""] = process.argv.slice(2);
const files = directoryFiles(directory);
const config = files.config(process.pid);
const ready = files.ready(process.pid);
const newToken = () => randomBytes(32).toString("hex");
const tokens = { token: newToken(), writerToken: newToken() };

/** True while the record in the directory is this server's. */
let recorded = false;

function leave(): void {
  for (const path of [config, ready]) rmSync(path, { force: true });
  if (recorded) rmSync(files.record, { force: true });
  // process.exit waits for ever on the engine's thread; what was inserted is whole all the same.
  process.kill(process.pid, "SIGKILL");
}

/** Ends before the engine runs, or with it; the log has the reason. */
function fail(error: unknown): void {
  console.error(error);
  if (error instanceof MissingPackage) process.exit(EXIT.missing);
  leave();
}

class MissingPackage extends Error {}

/** Takes the directory, for as long as this process lives; false where another server has it. */
async function takeDirectory(): Promise<boolean> {
  const lock = openSync(files.serverLock, "a");
  // Whoever looks whether a server runs holds the lock for a moment.
  for (let tries = 0; tries < 50; tries++) {
    if (lockFile(lock)) return true;
    await delay(20);
  }
  return false;
}

/** Requests that aren't whole after so long are closed: another user of the machine may open thousands. */
const PATIENCE_SECONDS = 3;
/** Connections take a thread each, and others wait: more than a local user opens before they are closed. */
const LIMITS = `<max_connections>20000</max_connections>
  <max_thread_pool_size>25000</max_thread_pool_size>
  <listen_backlog>4096</listen_backlog>`;

/**
 * The engine's configuration. The reader's token reads the tables and nothing else: no file, no
 * address, no program, whatever the SQL says; the writer's may also fill them and read files. The
 * user follows from the token, so that no request can name another.
 */
function engineConfig(): string {
  const rule = (token: string, user: string) => `<rule><methods>POST,GET</methods>
      <headers><${TOKEN_HEADER}>${token}</${TOKEN_HEADER}></headers>
      <handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name><user>${user}</user></handler></rule>`;
  const user = (name: string, grants: readonly string[]) => `<${name}><no_password/>
      <networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
      <grants>${grants.map((grant) => `<query>GRANT ${grant}</query>`).join("")}</grants></${name}>`;
  // No table of `system` holds a token or a password.
  const reader = [`SELECT ON ${EMBEDDED_DATABASE}.*`, "SELECT ON system.*"];
  const writer = [
    `ALL ON ${EMBEDDED_DATABASE}.*`,
    "SELECT ON system.*",
    "CREATE TEMPORARY TABLE ON *.*",
    "KILL QUERY ON *.*",
    "READ, WRITE ON FILE",
  ];
  return `<clickhouse>
  <users_config>${config.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</users_config>
  <access_control_improvements><table_engines_require_grant>false</table_engines_require_grant></access_control_improvements>
  <http_handlers>
    ${rule(tokens.token, "reader")}
    ${rule(tokens.writerToken, "writer")}
  </http_handlers>
  ${LIMITS}
  <profiles><default><http_receive_timeout>${PATIENCE_SECONDS}</http_receive_timeout></default></profiles>
  <quotas><default/></quotas>
  <users>
    <default><no_password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default>
    ${user("reader", reader)}
    ${user("writer", writer)}
  </users>
</clickhouse>
`;
}

/**
 * Takes the place of the engine's own function `file(path)`, which reads any file and asks for no
 * grant; the table function of that name, which does, stays.
 */
const REFUSED_FILE = `CREATE FUNCTION file AS (path) -> throwIf(1, 'Not enough privileges: questions may not read files')`;

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

/** Runs the engine on a thread of its own; it ends with an error where the port is taken. */
function startEngine({ ffi, path }: Engine, port: number): Promise<unknown> {
  const { open, load, DataType } = ffi;
  open({ library: "chdb", path });
  const statements = [
    `CREATE DATABASE IF NOT EXISTS ${EMBEDDED_DATABASE} ENGINE = Atomic`,
    "SYSTEM START LISTEN HTTP",
    `SELECT 1 INTO OUTFILE '${ready.replace(/['\\]/g, "\\$&")}'`,
    "SELECT sleepEachRow(1) FROM system.numbers SETTINGS max_block_size=1 FORMAT Null",
  ];
  const argv = [
    "clickhouse",
    `--path=${files.data}`,
    `--config-file=${config}`,
    "--listen_host=127.0.0.1",
    `--http_port=${port}`,
    `--query=${statements.join("; ")}`,
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

/** Ends the server when nobody has used it for a while, or its directory has gone elsewhere. */
function watchUsers(): void {
  const users = openSync(files.usersLock, "a");
  const { ino } = statSync(files.record, { bigint: true });
  let unused = 0;
  setInterval(() => {
    const inode = recordInode();
    if (inode !== undefined && inode !== ino) {
      recorded = false; // renamed, removed or taken over: what is there now is another server's
      leave();
    }
    unused = lockFile(users) ? unused + INTERVAL : 0;
    // It still holds the lock then: who comes now finds no server half gone.
    if (unused >= GRACE) leave();
    lockFile(users, "none");
  }, INTERVAL);
}

/** The record's inode, null where it is gone; undefined where the system can't say now. */
function recordInode(): bigint | null | undefined {
  try {
    // Needs no free file descriptor, which strangers may use up.
    return statSync(files.record, { bigint: true }).ino;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? null : undefined;
  }
}

async function main(): Promise<void> {
  process.umask(0o077);
  process.on("SIGINT", () => undefined); // an interrupt of a notebook is not for its database
  process.on("SIGHUP", () => undefined);
  process.on("SIGTERM", () => leave());
  process.on("uncaughtException", fail);
  const engine = findEngine();
  if (!(await takeDirectory())) process.exit(EXIT.held);
  await removeLeftovers(directory);
  await writeFile(config, engineConfig(), { mode: 0o600 });
  await mkdir(files.functions, { recursive: true });
  await writeFile(join(files.functions, "function_file.sql"), REFUSED_FILE);
  const port = await freePort();
  const ended = startEngine(engine, port).then(() => {
    throw new Error("the engine ended");
  });
  // The engine itself says that it listens: on a port that another program took it would not.
  const listening = async () => {
    while (!existsSync(ready)) await delay(10);
  };
  await Promise.race([ended, listening()]);
  ended.catch(fail);
  const path = await realpath(directory);
  await writeRecord(directory, { pid: process.pid, port, ...tokens, path });
  recorded = true;
  watchUsers();
  for (const path of [config, ready]) await rm(path, { force: true });
}

main().catch(fail);
