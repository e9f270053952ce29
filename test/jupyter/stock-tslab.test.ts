import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { notebookFolder } from "../kernel/notebook-fixture.js";
import { examplesOf } from "../notebooks/run-doc.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";
import {
  JupyterClient,
  jupyterEnvironment,
  printed,
  publishedTypes,
  python,
  skipped,
  type Published,
} from "./jupyter.js";

const tslab = fileURLToPath(new URL("../../node_modules/tslab/bin/tslab", import.meta.url));

const isPicture = ({ content }: Published): boolean =>
  Object.hasOwn((content["data"] as object | undefined) ?? {}, "image/png");

describe.skipIf(python === undefined)(`the library in tslab's own kernel${skipped}`, () => {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  let sample: TemporaryDirectory;

  beforeAll(async () => {
    sample = await temporaryDirectory();
    {
      await using writer = await openWriter(sample.source);
      await fillSample(writer, { rows: 200_000 });
    }
    folder = await notebookFolder();
    const spec = join(environment["JUPYTER_DATA_DIR"] ?? "", "kernels", "tslab");
    await mkdir(spec, { recursive: true });
    const argv = [process.execPath, tslab, "kernel", "--config-path={connection_file}"];
    await writeFile(
      join(spec, "kernel.json"),
      JSON.stringify({ argv, display_name: "tslab", language: "typescript" }),
    );
    client = new JupyterClient(environment);
    const env = { PROBELAB_MEASUREMENTS: `embedded:${sample.path}` };
    await client.call("start", { kernel: "tslab", cwd: folder.path, env });
  });
  afterAll(async () => {
    await client.call("shutdown");
    client.close();
    await folder.remove();
    await sample[Symbol.asyncDispose]();
  });

  // In a new kernel, whose first cell imports probelab.
  test("every example of the README runs, with { range } of an earlier cell, and the first shows its picture", async () => {
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const examples = examplesOf(readme);
    expect(examples.length).toBeGreaterThan(2);
    for (const [at, { code }] of examples.entries()) {
      const cell = await client.execute(code, { timeout: 120 });
      const errors = printed(cell, "stderr");
      const { status } = cell.reply;
      expect({ code, errors, status }).toEqual({ code, errors: "", status: "ok" });
      expect(printed(cell)).not.toMatch(/\bChart {/);
      if (at > 0) continue;
      // It is drawn after its cell has ended.
      let drawn = cell.iopub.filter(isPicture);
      for (let turn = 0; turn < 100 && drawn.length === 0; turn += 1) {
        await client.execute("await new Promise((resolve) => setTimeout(resolve, 200)); 0");
        drawn = (await client.call<Published[]>("kept_displays")).filter(isPicture);
      }
      expect(drawn).toHaveLength(1);
    }
  }, 240_000);

  test("import from probelab type-checks and runs", async () => {
    const good = await client.execute(
      `import { last } from "probelab"; console.log(last("3 months").timeZone);`,
    );
    expect(good.reply["status"]).toBe("ok");
    expect(printed(good)).toBe("UTC\n");
  });

  test("show() gives a MIME bundle in one message", async () => {
    const cell = await client.execute(
      `import { show } from "probelab";
       await show({ [Symbol.for("Jupyter.display")]: () => ({ "image/png": "AQID", "text/plain": "a chart" }) });`,
    );
    expect(printed(cell, "stderr")).toBe("");
    expect(publishedTypes(cell)).toEqual(["display_data"]);
    const shown = cell.iopub.find(({ type }) => type === "display_data");
    expect(shown?.content["data"]).toEqual({ "image/png": "AQID", "text/plain": "a chart" });
  });

  test("a chart as the last expression shows as a picture, other values as tslab shows them", async () => {
    const first = await client.execute(`import { last } from "probelab"; "plain"`);
    expect(printed(first)).toBe("plain\n");
    const chart = await client.execute(
      `const chart = { [Symbol.for("Jupyter.display")]: () => ({ "image/png": "AQID", "text/plain": "a chart" }) };
       chart`,
    );
    expect(printed(chart)).toBe("");
    // It is drawn after the cell has ended.
    const late = await client.execute(
      "await new Promise((resolve) => setTimeout(resolve, 200)); 5",
    );
    expect(printed(late)).toBe("5\n");
    const later = await client.call<Published[]>("kept_displays");
    expect([...chart.iopub, ...later].map(({ content }) => content["data"])).toContainEqual({
      "image/png": "AQID",
      "text/plain": "a chart",
    });
  });

  test("names of the cell that imports probelab work in shorthand, as of the latest cell", async () => {
    await client.execute(`import { last } from "probelab"; let days = 3; class Kept {}`);
    const first = await client.execute("const own = { days, last, Kept }; Object.keys(own).join()");
    expect(printed(first)).toBe("days,last,Kept\n");
    await client.execute("days = 4");
    expect(printed(await client.execute("const again = { days }; again.days"))).toBe("4\n");
  });

  test("a call of probelab with a wrong type is a type error", async () => {
    const bad = await client.execute(`import { last } from "probelab"; last(3);`);
    expect(bad.reply["status"]).toBe("error");
    expect(printed(bad, "stderr")).toContain("not assignable to parameter of type");
  });

  test("this test runs tslab as it is published", () => {
    const { stdout } = spawnSync(process.execPath, [tslab, "--version"], { encoding: "utf8" });
    expect(stdout).toContain("1.0.22");
  });
});
