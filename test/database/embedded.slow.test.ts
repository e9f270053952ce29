import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  readRecord,
  TOKEN_HEADER,
  type ServerRecord,
} from "../../src/database/embedded/directory.js";
import { joinServer } from "../../src/database/embedded/join.js";
import { openWriter } from "../../src/database/writer.js";
import { entryPath } from "../../src/base/entry-path.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A process that holds a lease, as a notebook's does, and prints the server's pid. */
async function otherUser(directory: string): Promise<{ child: ChildProcess; server: number }> {
  const join = entryPath(import.meta.url, "../../src/database/embedded/join.js");
  const script = `import { joinServer } from ${JSON.stringify(join)};
    const lease = await joinServer(${JSON.stringify(directory)});
    console.log(lease.server.pid); setInterval(() => lease.check(), 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, server: Number(line.toString()) };
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A killed child of nobody stays as a zombie until init reaps it.
    return !/^State:\s+Z/m.test(statusOf(pid));
  } catch {
    return false;
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

async function gone(pid: number): Promise<boolean> {
  for (let i = 0; i < 200 && alive(pid); i++) await new Promise((r) => setTimeout(r, 50));
  return !alive(pid);
}

/** A record of the directory whose port nobody listens on. */
function deadRecord(path: string, pid: number): ServerRecord {
  return { pid, port: 9, token: "old", writerToken: "old", path: realpathSync(path) };
}

describe("joinServer(directory)", () => {
  it("gives several processes the same server, which ends after the last, killed ones included", async () => {
    await using directory = await temporaryDirectory();
    const [first, second] = await Promise.all([
      otherUser(directory.path),
      otherUser(directory.path),
    ]);
    const own = await joinServer(directory.path);
    expect([first.server, second.server]).toEqual([own.server.pid, own.server.pid]);
    first.child.kill("SIGKILL");
    own[Symbol.dispose]();
    await once(first.child, "exit");
    const third = await joinServer(directory.path);
    expect(third.server.pid).toBe(own.server.pid);
    third[Symbol.dispose]();
    second.child.kill("SIGKILL");
    expect(await gone(own.server.pid)).toBe(true);
    expect(readdirSync(directory.path).sort()).toEqual([
      ...["data", "server.lock", "server.log", "users.lock"],
    ]);
  });

  it("answers nobody without the secret, which only the owner can read", async () => {
    await using directory = await temporaryDirectory();
    using lease = await joinServer(directory.path);
    const { port, token } = lease.server;
    const ask = (headers: Record<string, string>, path = "/?query=SELECT+1") =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers }).then((answer) => answer.status);
    expect(await ask({ [TOKEN_HEADER]: token })).toBe(200);
    expect(await ask({})).toBe(404);
    expect(await ask({}, "/ping")).toBe(404);
    expect(await ask({ [TOKEN_HEADER]: token.replace(/./, (c) => (c === "0" ? "1" : "0")) })).toBe(
      404,
    );
    for (const name of readdirSync(directory.path)) {
      expect(statSync(join(directory.path, name)).mode & 0o077, name).toBe(0);
    }
    // Its configuration, which holds the secrets too, is there only while it starts.
    expect(readdirSync(directory.path).filter((name) => name.endsWith(".xml"))).toEqual([]);
    const commandLine = await readFile(`/proc/${lease.server.pid}/cmdline`, "utf8");
    expect(commandLine).not.toContain(token);
  });

  it("lets a writer go on where its server was killed, before it could notice", async () => {
    await using directory = await temporaryDirectory();
    await using writer = await openWriter(directory.source);
    await writer.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
    for (let round = 0; round < 3; round++) {
      const before = readRecord(directory.path);
      process.kill(before?.pid ?? 0, "SIGKILL");
      expect(await writer.rows("SELECT count() AS rows FROM kept")).toEqual([{ rows: round }]);
      await writer.command(`INSERT INTO kept VALUES (${round})`);
    }
  });

  it("refuses a directory that it can't write and one that a foreign server holds", async () => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "file"), "");
    await expect(joinServer(join(directory.path, "file", "sub"))).rejects.toThrow(
      /Can't write the embedded database's directory .*ENOTDIR.*PROBELAB_MEASUREMENTS/,
    );
    const held = join(directory.path, "held");
    mkdirSync(held);
    const { server } = await otherUser(held);
    // The server stays, but nobody can reach it any more, as if it were in another container.
    const record = deadRecord(held, server);
    writeFileSync(join(held, "server.json"), JSON.stringify(record));
    await expect(joinServer(held, { others: 1 })).rejects.toThrow(
      /another server holds it|PROBELAB_MEASUREMENTS/,
    );
  }, 300_000);
});
