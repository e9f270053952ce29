import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readOrigins } from "../../src/render/origin.js";
import { installKernel } from "../../src/notebook/kernel/kernelspec.js";
import { handMade, notebookFolder } from "../notebook/notebook-fixture.js";
import { JupyterClient, jupyterEnvironment, python, resultText, skipped } from "./jupyter.js";

describe.skipIf(python === undefined)(`a kernel that is ended${skipped}`, () => {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;

  beforeEach(async () => {
    folder = await notebookFolder();
    await installKernel({ kind: "user" }, environment);
    client = new JupyterClient(environment);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
    expect((await client.execute(handMade)).reply["status"]).toBe("ok");
  });
  afterEach(async () => {
    client.close();
    await folder.remove();
  });

  const save = "for (const end of ['svg', 'html']) chart.line(result).save(`files/x.${end}`); 1;";

  async function expectSaved(): Promise<void> {
    const files = join(folder.path, "files");
    expect((await readdir(files)).sort()).toEqual(["x.html", "x.svg"]);
    for (const name of ["x.html", "x.svg"]) {
      expect(readOrigins(await readFile(join(files, name)))).toHaveLength(1);
    }
  }

  test("a shutdown leaves what a cell saves without an await", async () => {
    expect(resultText(await client.execute(save))).toBe("1");
    await client.call("shutdown");
    await expectSaved();
  });

  test("so does a restart, while a cell runs", async () => {
    await client.call("send", { code: `${save} await new Promise(() => {});` });
    await client.call("send", { code: "require('node:fs').writeFileSync('next', '')" });
    for (let look = 0; look < 200 && !existsSync(join(folder.path, "files")); look++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await client.call("restart");
    await expectSaved();
    expect(existsSync(join(folder.path, "next"))).toBe(false);
    expect(resultText(await client.execute("1 + 1"))).toBe("2");
    await client.call("shutdown");
  });
});
