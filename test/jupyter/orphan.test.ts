import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { installKernel } from "../../src/notebook/kernel/kernelspec.js";
import { notebookFolder } from "../notebook/notebook-fixture.js";
import { JupyterClient, jupyterEnvironment, python, skipped } from "./jupyter.js";

/** A process that has ended stays as a zombie until somebody reaps it. */
const runs = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

test.skipIf(python === undefined)(
  `a kernel in an endless loop ends when its Jupyter is killed${skipped}`,
  async () => {
    const environment = jupyterEnvironment();
    const folder = await notebookFolder();
    await installKernel({ kind: "user" }, environment);
    const client = new JupyterClient(environment);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
    const pid = await client.call<number>("pid");
    const message = await client.call("send", { code: `console.log("begun"); for (;;);` });
    await client.call("wait_for_text", { message, text: "begun" });
    expect(runs(pid)).toBe(true);
    client.kill();
    const end = performance.now() + 20_000;
    while (runs(pid) && performance.now() < end) await new Promise((done) => setTimeout(done, 50));
    expect(runs(pid)).toBe(false);
    await folder.remove();
  },
);
