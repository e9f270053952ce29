import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { readRecord, type ServerRecord } from "../../src/database/embedded/directory.js";
import { joinServer } from "../../src/database/embedded/join.js";
import { openWriter } from "../../src/database/writer.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** Listens on a port of a server that has ended, says yes to everything, and keeps what it hears. */
async function stranger(port: number): Promise<{ heard: () => string } & AsyncDisposable> {
  const heard: Buffer[] = [];
  const listener: Server = createServer((socket) => {
    socket.write("ok\n");
    socket.on("data", (part) => {
      heard.push(part);
      socket.write("ok\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1\n");
    });
    socket.on("error", () => socket.destroy());
  });
  // The system frees the port a moment after the server's end.
  const listen = () => void listener.listen(port, "127.0.0.1");
  listener.on("error", () => setTimeout(listen, 5));
  await new Promise<void>((resolve) => {
    listener.on("listening", () => resolve());
    listen();
  });
  return {
    heard: () => Buffer.concat(heard).toString("latin1"),
    async [Symbol.asyncDispose]() {
      listener.close();
      await Promise.resolve();
    },
  };
}

const record = (directory: string): ServerRecord => {
  const found = readRecord(directory);
  if (found === null) throw new Error("no server");
  return found;
};

it("who listens on a killed server's port hears no SQL and no secret, nor is believed", async () => {
  await using directory = await temporaryDirectory();
  await using database = await Database.open(directory.source);
  await using writer = await openWriter(directory.source);
  const old = record(directory.path);
  process.kill(old.pid, "SIGKILL");
  await using engine = await stranger(old.port);
  expect(await database.rows("SELECT 'my question' AS said")).toEqual([{ said: "my question" }]);
  await writer.command("CREATE TABLE mine (number UInt8) ENGINE = MergeTree ORDER BY number");
  expect(engine.heard()).toBe("");
  expect(record(directory.path).pid).not.toBe(old.pid);
});

it("a stranger gets nothing but refusals from the server's only port", async () => {
  await using directory = await temporaryDirectory();
  using lease = await joinServer(directory.path);
  const { pid, port, ...secrets } = lease.server;
  if (process.platform === "linux") {
    // ls complains of a file that was closed while it lists the others.
    const sockets = spawnSync("ls", ["-l", `/proc/${pid}/fd`], { encoding: "utf8" }).stdout;
    const inodes = new Set([...sockets.matchAll(/socket:\[(\d+)\]/g)].map(([, inode]) => inode));
    const listening = readFileSync(`/proc/${pid}/net/tcp`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && inodes.has(inode));
    expect(listening.map(([, local]) => local)).toEqual([
      `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`,
    ]);
  }
  for (const path of ["/", "/ping", "/proof?param_nonce=engine", "/play", "/?query=SELECT+1"]) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    const text = await answer.text();
    expect(answer.status, path).toBe(404);
    for (const secret of [secrets.token, secrets.writerToken]) expect(text).not.toContain(secret);
  }
  for (const name of ["server.json", "server.lock", "users.lock", "server.log"]) {
    expect(statSync(join(directory.path, name)).mode & 0o777, name).toBe(0o600);
  }
});

it("a killed server's record and the files of killed starts go with the next start", async () => {
  await using directory = await temporaryDirectory();
  const dead = spawn("true");
  await once(dead, "exit");
  for (const name of [`server-${dead.pid}.xml`, `server.json.${dead.pid}`]) {
    writeFileSync(join(directory.path, name), "secret");
  }
  using lease = await joinServer(directory.path);
  expect(lease.check()).toBe(true);
  // The new server takes away the files of its own start a moment after it answers.
  await expect
    .poll(() => readdirSync(directory.path).sort(), { timeout: 10_000 })
    .toEqual(["data", "server.json", "server.lock", "server.log", "users.lock"]);
});

it("server.json that is no record of the directory is none, and is replaced", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "server.json");
  for (const text of [
    ...["", "{ cut", "null", "[1, 2]"],
    ...[{ port: 65_536 }, { port: "8123" }, { path: null }, { token: "" }].map(shaped),
  ]) {
    writeFileSync(path, text);
    expect(readRecord(directory.path), text).toBeNull();
  }
  rmSync(path);
  execFileSync("mkfifo", [path]);
  using lease = await joinServer(directory.path);
  expect(record(directory.path).pid).toBe(lease.server.pid);
});

function shaped(change: object): string {
  return JSON.stringify({ pid: 1, port: 9, token: "a", writerToken: "b", path: "/", ...change });
}

it("server.json that is a folder is said to be in the way", async () => {
  await using directory = await temporaryDirectory();
  mkdirSync(join(directory.path, "server.json"));
  await expect(joinServer(directory.path)).rejects.toThrow(
    /^Can't start the embedded database in .*EISDIR.*server.json/,
  );
  rmSync(join(directory.path, "server.json"), { recursive: true });
  using lease = await joinServer(directory.path);
  expect(lease.check()).toBe(true);
});

const asRoot = process.getuid?.() === 0;
const NOBODY = 65534;

it.skipIf(!asRoot)("a record that another user wrote is not believed (as root only)", async () => {
  await using directory = await temporaryDirectory();
  using lease = await joinServer(directory.path);
  expect(lease.check()).toBe(true);
  expect(readRecord(directory.path)).not.toBeNull();
  chownSync(join(directory.path, "server.json"), NOBODY, NOBODY);
  expect(readRecord(directory.path)).toBeNull();
});
