/**
 * The child process that is the embedded database: a real ClickHouse server on loopback, started
 * from the engine's npm package. It lives as long as somebody holds a lease on it.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createRequire } from "node:module";
import type * as Ffi from "ffi-rs";
import {
  directoryFiles,
  EMBEDDED_DATABASE,
  readRecord,
  TOKEN_HEADER,
  writeRecord,
} from "./directory.js";

const [directory = "", graceText = "2000"] = process.argv.slice(2);
const files = directoryFiles(directory);
const token = randomBytes(32).toString("hex");
const config = files.config(process.pid);
const grace = Number(graceText);

let owned = false;

function leave(): void {
  rmSync(config, { force: true });
  if (owned) rmSync(files.record, { force: true });
  // process.exit waits for ever on the engine's thread; what was inserted is whole all the same.
  process.kill(process.pid, "SIGKILL");
}

function tell(message: { ready: true } | { failed: string }): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function ask(port: number, query: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    body: query,
    headers,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.trim()}`);
  return text.trim();
}

function startEngine(port: number): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const { open, load, DataType } = require("ffi-rs") as typeof Ffi;
  const { libchdbPath } = require("chdb/libchdb") as { libchdbPath: () => string };
  open({ library: "chdb", path: libchdbPath() });
  const argv = [
    "clickhouse",
    `--path=${files.data}`,
    `--config-file=${config}`,
    "--listen_host=127.0.0.1",
    `--http_port=${port}`,
    "--query=SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM system.numbers SETTINGS max_block_size=1 FORMAT Null",
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

async function waitUntilReady(port: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      const create = `CREATE DATABASE IF NOT EXISTS ${EMBEDDED_DATABASE} ENGINE = Atomic`;
      await ask(port, create, { [TOKEN_HEADER]: token });
      break;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  // A server that answers without the token is somebody else's, on a port we took to be free.
  const open = await ask(port, "SELECT 1", {}).then(
    () => true,
    () => false,
  );
  if (open) throw new Error(`port ${port} was taken by another server in between`);
}

/** Counts the users; `gone` runs when there has been none for the time of grace. */
function listenForLeases(gone: () => void): Promise<number> {
  const leases = new Set<Socket>();
  let timer: NodeJS.Timeout;
  const restart = (delay: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (leases.size === 0) gone();
    }, delay);
  };
  restart(30_000); // whoever started this server needs a moment to take the first lease
  const server = createServer((socket) => {
    let said = "";
    socket.setEncoding("utf8");
    socket.setTimeout(5_000, () => {
      if (!leases.has(socket)) socket.destroy();
    });
    socket.on("data", (part: string) => {
      if (leases.has(socket)) return;
      said += part;
      if (said === `${token}\n`) {
        leases.add(socket);
        socket.write("ok\n");
      } else if (said.length > token.length) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (leases.delete(socket) && leases.size === 0) restart(grace);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

async function main(): Promise<void> {
  process.on("SIGINT", () => undefined); // an interrupt of a notebook is not for its database
  process.on("SIGTERM", () => leave());
  process.on("SIGHUP", () => undefined);
  const httpPort = await freePort();
  await writeFile(
    config,
    `<clickhouse>
  <http_handlers><rule><methods>POST,GET</methods>
    <headers><${TOKEN_HEADER}>${token}</${TOKEN_HEADER}></headers>
    <handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler>
  </rule></http_handlers>
</clickhouse>
`,
    { mode: 0o600, flag: "w" },
  );
  const leasePort = await listenForLeases(() => leave());
  const ended = startEngine(httpPort).then(() => {
    throw new Error("the engine ended");
  });
  await Promise.race([ended, waitUntilReady(httpPort)]);
  ended.catch(() => leave());
  const version = await ask(httpPort, "SELECT version()", { [TOKEN_HEADER]: token });
  await writeRecord(directory, { pid: process.pid, httpPort, leasePort, token, version });
  owned = true;
  await tell({ ready: true });
  if (process.connected) process.disconnect();
  setInterval(() => {
    // A directory that was removed or taken over leaves nobody to serve.
    void readRecord(directory).then((record) => {
      if (record?.pid !== process.pid) {
        owned = false;
        leave();
      }
    });
  }, 5_000).unref();
}

main().catch(async (error: unknown) => {
  await tell({ failed: error instanceof Error ? error.message : String(error) });
  leave();
});
