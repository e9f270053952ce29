import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { readRecord, type ServerRecord } from "../../src/database/embedded/directory.js";
import { joinServer } from "../../src/database/embedded/join.js";
import type { DatabaseAddress } from "../../src/database/address.js";
import { openWriter } from "../../src/database/writer.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const source = (directory: string): DatabaseAddress => ({
  kind: "embedded",
  directory,
  label: `embedded:${directory}`,
});

const COUNT = "SELECT count() AS rows FROM kept";

it("a copied embedded directory is a database of its own, also while the original is open", async () => {
  await using folder = await temporaryDirectory();
  const [original, copy] = [join(folder.path, "A"), join(folder.path, "B")];
  await using first = await openWriter(source(original));
  await first.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
  await first.command("INSERT INTO kept VALUES (1)");
  execFileSync("cp", ["-a", original, copy]);
  {
    await using second = await openWriter(source(copy));
    await second.command("INSERT INTO kept VALUES (2), (3)");
    expect(await second.rows(COUNT)).toEqual([{ rows: 3 }]);
  }
  expect(await first.rows(COUNT)).toEqual([{ rows: 1 }]);
  expect(readRecord(original)?.pid).not.toBe(readRecord(copy)?.pid);
});

it("a renamed embedded directory goes on under its new name, and the old one is not made anew", async () => {
  await using folder = await temporaryDirectory();
  const [before, after] = [join(folder.path, "A"), join(folder.path, "B")];
  await using first = await openWriter(source(before));
  await first.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
  await first.command("INSERT INTO kept VALUES (1)");
  await using reader = await Database.open(source(before));
  renameSync(before, after);
  await expect(first.command("INSERT INTO kept VALUES (2)")).rejects.toThrow(
    /^Can't use embedded:.*A any more: its directory was renamed or removed meanwhile. Put it back, or connect to where it is now.$/,
  );
  await expect(reader.rows(COUNT)).rejects.toThrow(/renamed or removed/);
  expect(existsSync(before)).toBe(false);
  await using second = await openWriter(source(after));
  expect(await second.rows(COUNT)).toEqual([{ rows: 1 }]);
});

it("answers while another user of the machine holds 5,000 unfinished requests open", async () => {
  await using folder = await temporaryDirectory();
  await using first = await openWriter(folder.source);
  await first.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
  const { port } = readRecord(folder.path)!;
  const sockets = Array.from({ length: 5_000 }, () => connect(port, "127.0.0.1"));
  try {
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.write("GET /?query=SELECT HTTP/1.1\r\nX-A: ");
    }
    await Promise.all(sockets.map((socket) => once(socket, "connect").catch(() => undefined)));
    await using reader = await Database.open(folder.source);
    expect(await reader.rows(COUNT)).toEqual([{ rows: 0 }]);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

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

const STARTING = /^server-(\d+)\.xml$/;

/** The process that starts as the directory's server, as soon as there is one. */
async function startingServer(directory: string): Promise<number> {
  for (;;) {
    const name = readdirSync(directory).find((name) => STARTING.test(name));
    if (name !== undefined) return Number(STARTING.exec(name)?.[1]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function serversOf(directory: string): string {
  const all = execFileSync("ps", ["ax", "-o", "pid,stat,args"], { encoding: "utf8" });
  return all
    .split("\n")
    .filter((line) => line.includes(`server-process.js ${directory}`) && !/ Z/.test(line))
    .join("\n");
}

it("joinServer(directory) joins a server that takes longer than one out of reach may, as do those who wait for it", async () => {
  await using directory = await temporaryDirectory();
  const joining = joinServer(directory.path, { others: 1 });
  const pid = await startingServer(directory.path);
  process.kill(pid, "SIGSTOP");
  const waiting = joinServer(directory.path, { others: 1 });
  setTimeout(() => process.kill(pid, "SIGCONT"), 2_500);
  using lease = await joining;
  using other = await waiting;
  expect([lease.server.pid, other.server.pid]).toEqual([pid, pid]);
}, 240_000);

it("joinServer(directory) ends a server that never answers, and says so", async () => {
  await using directory = await temporaryDirectory();
  const joining = joinServer(directory.path, { start: 3 });
  process.kill(await startingServer(directory.path), "SIGSTOP");
  await expect(joining).rejects.toThrow(
    /^Can't start the embedded database in .*: it did not answer within 3 seconds.* Its log is .*server.log; "npx probelab doctor" checks what it needs.$/,
  );
  expect(serversOf(directory.path)).toBe("");
  expect(readdirSync(directory.path).filter((name) => STARTING.test(name))).toEqual([]);
  using lease = await joinServer(directory.path);
  expect(lease.check()).toBe(true);
});
