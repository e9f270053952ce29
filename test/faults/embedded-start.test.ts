import { execFile, execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { entryPath } from "../../src/base/entry-path.js";
import { joinServer } from "../../src/database/embedded/join.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

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

it("joinServer(directory) joins a server that took longer than ten seconds, as do those who wait for it", async () => {
  await using directory = await temporaryDirectory();
  const joining = joinServer(directory.path);
  const pid = await startingServer(directory.path);
  process.kill(pid, "SIGSTOP");
  const waiting = joinServer(directory.path);
  setTimeout(() => process.kill(pid, "SIGCONT"), 11_000);
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
  expect(await lease.check()).toBe(true);
});

const run = promisify(execFile);

/** What `connect()` says in a process whose address space is limited, in MiB. */
async function connectWithin(directory: string, mebibytes: number): Promise<string> {
  const index = entryPath(import.meta.url, "../../src/index.js");
  const script = `
    import { connect } from ${JSON.stringify(index)};
    try {
      const lab = await connect({ measurements: ${JSON.stringify(`embedded:${directory}`)} });
      await lab.close();
      console.log("answers");
    } catch (error) { console.log(error.message); }`;
  const command = `ulimit -v ${mebibytes * 1024}; exec "$0" --input-type=module -e "$1"`;
  const { stdout } = await run("sh", ["-c", command, process.execPath, script]);
  return stdout.trim();
}

it("connect() under a limit of the address space answers or says that it is too low; nothing is left", async () => {
  await using folder = await temporaryDirectory();
  for (const [limit, says] of [
    [8_000, /^answers$/],
    [
      1_400,
      /the engine gets too little memory \(.*, and the address space is limited to 1400 MiB\): lift the limit with "ulimit -v unlimited" or the like, or free some memory/,
    ],
  ] as const) {
    const directory = join(folder.path, String(limit));
    expect(await connectWithin(directory, limit)).toMatch(says);
    if (limit === 1_400) expect(serversOf(directory)).toBe("");
  }
}, 240_000);
