import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
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
