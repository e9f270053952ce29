import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { notebookFolder } from "../kernel/notebook-fixture.js";
import {
  JupyterClient,
  jupyterEnvironment,
  printed,
  python,
  resultText,
  skipped,
  tracebackText,
  type Executed,
} from "./jupyter.js";

/** The processes that a process started and that run. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((child) => child !== "")
    .map(Number);

/** Memory of processes in MB. */
const memoryOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  }, 0);

const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

const isPossible = python !== undefined && existsSync("/proc/self/task");

describe.skipIf(!isPossible)(`cells beside their language server${skipped}`, () => {
  const environment = jupyterEnvironment();
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  const clients: JupyterClient[] = [];

  beforeEach(async () => {
    folder = await notebookFolder();
    await installKernel(environment);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) {
      await client.call("shutdown");
      client.close();
    }
    await folder.remove();
  });

  /** A kernel in a folder, and its process. */
  async function kernelIn(
    cwd: string,
    env: Record<string, string> = {},
  ): Promise<{ client: JupyterClient; pid: number }> {
    const client = new JupyterClient(environment);
    clients.push(client);
    await client.call("start", { kernel: "probelab", cwd, env });
    return { client, pid: await client.call<number>("pid") };
  }

  test("a server that dies in the middle is started again, and cells keep their types", async () => {
    const { client, pid } = await kernelIn(folder.path);
    await client.execute("const days = [1, 2, 3];");
    const [server = 0] = childrenOf(pid);
    // It doesn't answer: the next cell waits for it.
    process.kill(server, "SIGSTOP");
    const code = "days.map((day) => day.toFixed(1)).join()";
    const message = await client.call<string>("send", { code });
    await client.call("wait_for_busy", { message });
    process.kill(server, "SIGKILL");
    const cell = await client.call<Executed>("collect", { message });
    expect(resultText(cell)).toBe("'1.0,2.0,3.0'");
    const wrong = await client.execute("days.join().toFixed()");
    expect(wrong.reply).toMatchObject({ status: "error", ename: "TypeScriptError" });
    expect(wrong.reply["evalue"]).toContain("'toFixed' does not exist on type 'string'");
  });

  test("where it dies again the cell says so in one sentence, and the next cell runs", async () => {
    const { client, pid } = await kernelIn(folder.path);
    expect(resultText(await client.execute("1 + 1"))).toBe("2");
    let isAnswered = false;
    const killed = (async () => {
      while (!isAnswered) {
        for (const server of childrenOf(pid)) process.kill(server, "SIGKILL");
        await turn();
      }
    })();
    const wide = `const [${Array.from({ length: 400 }, (_, at) => `n${at} = ${at}`).join()}] = [];`;
    const cell = await client.execute(wide).finally(() => (isAnswered = true));
    await killed;
    expect(cell.reply["status"]).toBe("error");
    expect(tracebackText(cell.reply)).toContain(
      "Can't compile cell 2: TypeScript ended twice while it read it.",
    );
    expect(resultText(await client.execute("2 + 2"))).toBe("4");
  });

  test("a cell that TypeScript works on for long is interrupted", async () => {
    const { client, pid } = await kernelIn(folder.path);
    expect(resultText(await client.execute("1 + 1"))).toBe("2");
    for (const server of childrenOf(pid)) process.kill(server, "SIGSTOP");
    const message = await client.call<string>("send", { code: "console.log('ran');" });
    await client.call("wait_for_busy", { message });
    await client.call("interrupt");
    const cell = await client.call<Executed>("collect", { message });
    expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
    expect(printed(cell)).toBe("");
    expect(resultText(await client.execute("3 + 3"))).toBe("6");
  });

  test("a cell behind a completion that is never answered is interrupted, and the next runs", async () => {
    const { client, pid } = await kernelIn(folder.path);
    expect(resultText(await client.execute("1 + 1"))).toBe("2");
    for (const server of childrenOf(pid)) process.kill(server, "SIGSTOP");
    await client.call("ask", { type: "complete_request", content: { code: "Mat", cursor_pos: 3 } });
    const message = await client.call<string>("send", { code: "console.log('ran');" });
    await client.call("wait_for_busy", { message });
    await client.call("interrupt");
    const cell = await client.call<Executed>("collect", { message });
    expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
    expect(resultText(await client.execute("3 + 3"))).toBe("6");
  });

  test("two kernels in one folder know nothing of each other", async () => {
    const [first, second] = await Promise.all([kernelIn(folder.path), kernelIn(folder.path)]);
    await first.client.execute("let n = 1.25;");
    await second.client.execute("let n = 'text';");
    const [one, other] = await Promise.all([
      first.client.execute("n.toFixed(1)"),
      second.client.execute("n.toUpperCase()"),
    ]);
    expect([one, other].map(resultText)).toEqual(["'1.3'", "'TEXT'"]);
    expect((await second.client.execute("n.toFixed(1)")).reply["ename"]).toBe("TypeScriptError");
    expect(readdirSync(folder.path)).toEqual(["node_modules"]);
  });

  // Nobody can write there, root neither.
  test.skipIf(!existsSync("/sys/kernel"))(
    "cells are checked in a folder that can't be written",
    async () => {
      const { client } = await kernelIn("/sys/kernel");
      const cell = await client.execute(
        `import { last } from "probelab"; const range = last("1 day", { now: "2026-05-02" });`,
      );
      expect(cell.reply["status"]).toBe("ok");
      const shown = resultText(await client.execute("range.start.toISOString()"));
      expect(shown).toBe("'2026-05-01T00:00:00.000Z'");
      const wrong = await client.execute("range.begin");
      expect(wrong.reply["evalue"]).toContain("'begin' does not exist on type 'TimeRange'");
    },
  );

  test("cells run on where the folder of temporary files was cleaned", async () => {
    const own = join(folder.path, "own");
    mkdirSync(own);
    const { client, pid } = await kernelIn(folder.path, { TMPDIR: own });
    await client.execute("const days = [1, 2, 3];");
    for (const name of readdirSync(own)) rmSync(join(own, name), { recursive: true });
    for (const server of childrenOf(pid)) process.kill(server, "SIGKILL");
    expect(resultText(await client.execute("days.length"))).toBe("3");
    rmSync(own, { recursive: true });
    for (const server of childrenOf(pid)) process.kill(server, "SIGKILL");
    const cell = await client.execute("days.length");
    expect(cell.reply["evalue"]).toMatch(
      /^Can't check cells: ENOENT.* make room in .*own, or set TMPDIR to another and restart/,
    );
    mkdirSync(own);
    expect(resultText(await client.execute("days.length"))).toBe("3");
  });

  test("200 cells in a row take no more memory", async () => {
    const { client, pid } = await kernelIn(folder.path);
    const all = () => memoryOf([pid, ...childrenOf(pid)]);
    let before = 0;
    for (let cell = 0; cell < 220; cell++) {
      const ran = await client.execute(`const rows = Array.from({ length: ${cell} }, () => 1);`);
      expect(ran.reply["status"]).toBe("ok");
      if (cell === 20) before = all();
    }
    expect(all() - before).toBeLessThan(80);
  });
});
