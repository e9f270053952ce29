import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { readRecord, type ServerRecord } from "../../src/database/embedded/directory.js";
import { joinServer } from "../../src/database/embedded/join.js";
import { entryPath } from "../../src/base/entry-path.js";
import { openWriter } from "../../src/database/open-writer.js";
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

const record = async (directory: string): Promise<ServerRecord> => {
  const found = await readRecord(directory);
  if (found === null) throw new Error("no server");
  return found;
};

it("who listens on a killed server's ports hears no SQL and no secret, nor is believed", async () => {
  await using directory = await temporaryDirectory();
  await using database = await Database.open(directory.source);
  await using writer = await openWriter(directory.source);
  const old = await record(directory.path);
  process.kill(old.pid, "SIGKILL");
  await using lease = await stranger(old.leasePort);
  await using engine = await stranger(old.httpPort);
  expect(await database.rows("SELECT 'my question' AS said")).toEqual([{ said: "my question" }]);
  await writer.command("CREATE TABLE mine (number UInt8) ENGINE = MergeTree ORDER BY number");
  expect(engine.heard()).toBe("");
  expect(lease.heard()).not.toMatch(/question|mine/);
  for (const secret of [old.token, old.writerToken, old.secret]) {
    expect(lease.heard()).not.toContain(secret);
  }
  expect((await record(directory.path)).pid).not.toBe(old.pid);
});

it("a killed server's record and the files of killed starts go with the next start", async () => {
  await using directory = await temporaryDirectory();
  const dead = spawn("true");
  await once(dead, "exit");
  for (const name of [`server-${dead.pid}.xml`, `server.json.${dead.pid}`, `.write-${dead.pid}`]) {
    writeFileSync(join(directory.path, name), "secret");
  }
  using lease = await joinServer(directory.path);
  expect(await lease.check()).toBe(true);
  expect(readdirSync(directory.path).sort()).toEqual([
    "data",
    "layout.json",
    "server.json",
    "server.log",
  ]);
});

it.each([
  ["a pipe", (path: string) => void execFileSync("mkfifo", [path])],
  ["an empty file", (path: string) => writeFileSync(path, "")],
  ["null", (path: string) => writeFileSync(path, "null")],
  ["a list", (path: string) => writeFileSync(path, "[1, 2]")],
  ["a port too large", (path: string) => writeFileSync(path, shaped({ leasePort: 65_536 }))],
  ["a port of text", (path: string) => writeFileSync(path, shaped({ httpPort: "8123" }))],
  ["no directory", (path: string) => writeFileSync(path, shaped({ directory: null }))],
])("server.json that is %s is replaced", async (_, make) => {
  await using directory = await temporaryDirectory();
  make(join(directory.path, "server.json"));
  using lease = await joinServer(directory.path);
  expect((await record(directory.path)).pid).toBe(lease.server.pid);
});

function shaped(change: object): string {
  const secrets = { token: "a", writerToken: "b", secret: "c" };
  const place = { path: "/", identity: "1:1" };
  return JSON.stringify({
    ...{ pid: 1, httpPort: 9, leasePort: 9, ...secrets, directory: place },
    ...change,
  });
}

it("server.json that is a folder is said to be in the way", async () => {
  await using directory = await temporaryDirectory();
  mkdirSync(join(directory.path, "server.json"));
  await expect(joinServer(directory.path)).rejects.toThrow(
    /^Can't start the embedded database in .*EISDIR.*server.json/,
  );
  rmSync(join(directory.path, "server.json"), { recursive: true });
  using lease = await joinServer(directory.path);
  expect(await lease.check()).toBe(true);
});

const asRoot = process.getuid?.() === 0;
const NOBODY = 65534;

it.skipIf(!asRoot)("a record that another user wrote is not believed (as root only)", async () => {
  await using directory = await temporaryDirectory();
  using lease = await joinServer(directory.path);
  expect(await lease.check()).toBe(true);
  expect(await readRecord(directory.path)).not.toBeNull();
  chownSync(join(directory.path, "server.json"), NOBODY, NOBODY);
  expect(await readRecord(directory.path)).toBeNull();
});

const OWNER = `
  import { joinServer } from ${JSON.stringify(entryPath(import.meta.url, "../../src/database/embedded/join.js"))};
  const lease = await joinServer(process.argv[1]);
  console.log("joined");
  setInterval(() => lease.server, 1000);`;

const SOCKETS = `
  const [ports, each] = JSON.parse(process.argv[1]);
  const { connect } = require("node:net");
  let open = 0;
  const opened = () => { if (++open === ports.length * each) console.log("open"); };
  for (const port of ports) for (let i = 0; i < each; i++)
    connect({ host: "127.0.0.1", port }).on("connect", opened).on("error", opened);
  setInterval(() => {}, 1000);`;

it.skipIf(!asRoot)(
  "another user's sockets, as many as the server can hold, do not end it (as root only)",
  async () => {
    await using directory = await temporaryDirectory();
    const owner = spawn("prlimit", [
      "--nofile=1024:1024",
      ...[process.execPath, "--input-type=module", "-e", OWNER, directory.path],
    ]);
    await once(owner.stdout, "data");
    const { pid, leasePort, httpPort } = await record(directory.path);
    const ports = JSON.stringify([[leasePort, httpPort], 600]);
    const other = spawn(process.execPath, ["-e", SOCKETS, ports], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(other.stdout, "data");
      // Longer than the server takes to look whether its directory is still there, several times.
      await new Promise((resolve) => setTimeout(resolve, 6_000));
    } finally {
      other.kill("SIGKILL");
    }
    await once(other, "exit");
    await using database = await Database.open(directory.source);
    expect(await database.rows("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    expect((await record(directory.path)).pid).toBe(pid);
    owner.kill("SIGKILL");
  },
  60_000,
);
