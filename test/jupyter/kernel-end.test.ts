import { existsSync, readFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readOrigins } from "../../src/chart/render/origin.js";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { handMade, notebookFolder } from "../kernel/notebook-fixture.js";
import { JupyterClient, jupyterEnvironment, python, resultText, skipped } from "./jupyter.js";

/** A process that has ended stays as a zombie until somebody reaps it. */
const runs = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
};

describe.skipIf(python === undefined)(`a kernel that is ended${skipped}`, () => {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;

  beforeEach(async () => {
    folder = await notebookFolder();
    await installKernel(environment);
    client = new JupyterClient(environment);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
  });
  afterEach(async () => {
    client.close();
    await folder.remove();
  });

  /** Sends a cell, and waits until it has printed "begun". */
  async function begin(code: string): Promise<void> {
    const message = await client.call("send", { code });
    await client.call("wait_for_text", { message, text: "begun" });
  }

  test("in an endless loop it ends when its Jupyter is killed", async () => {
    const pid = await client.call<number>("pid");
    await begin(`console.log("begun"); for (;;);`);
    expect(runs(pid)).toBe(true);
    client.kill();
    await until(() => !runs(pid));
  });

  test("a loop of microtasks, which reads no shutdown request, ends by Jupyter's SIGTERM", async () => {
    await begin(
      `console.log("begun"); const turn = (): Promise<void> => Promise.resolve().then(turn); await turn();`,
    );
    await client.call("terminate");
    await until(async () => !(await client.call<boolean>("is_alive")));
  });

  test("a restart in the middle of a cell leaves what it saves without an await, and begins anew", async () => {
    const save = "for (const end of ['svg', 'html']) chart.line(result).save(`files/x.${end}`);";
    const files = join(folder.path, "files");
    expect((await client.execute(handMade)).reply["status"]).toBe("ok");
    await client.call("send", { code: `${save} await new Promise(() => {});` });
    await client.call("send", { code: "require('node:fs').writeFileSync('next', '')" });
    await until(() => existsSync(files));
    await client.call("restart");
    expect((await readdir(files)).sort()).toEqual(["x.html", "x.svg"]);
    for (const name of ["x.html", "x.svg"]) {
      expect(readOrigins(await readFile(join(files, name)))).toHaveLength(1);
    }
    expect(existsSync(join(folder.path, "next"))).toBe(false);
    expect((await client.execute("result")).reply["ename"]).toBe("TypeScriptError");
    expect(resultText(await client.execute("1 + 1"))).toBe("2");
    await client.call("shutdown");
  });
});
