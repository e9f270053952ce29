import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { notebookFolder } from "../kernel/notebook-fixture.js";
import { JupyterClient, jupyterEnvironment, python, resultText, skipped } from "./jupyter.js";

/** Cells that follow each other, and what each shows. */
const CELLS: readonly (readonly [code: string, shown: string])[] = [
  // Names that the compiler inserts, or did.
  ["let $ = 1; $", "1"],
  ["$ = 5; $", "5"],
  ["$ + 1", "6"],
  ["const __names = 1, __given = 2, __require = 3; (await import('./odd')).odd + __given", "9"],
  ["const __module0 = 4; import { odd } from './odd'; odd + __module0 + __names", "12"],
  ["const __module0d = 5; import whole from './odd'; whole + __module0d", "13"],
  ["const __probelab__ = 1; for (const one of [1]) await one; __probelab__", "1"],
  ["const __probelab__names = 3; let __probelab___ = 2; __probelab__names + __probelab__", "4"],
  ["__probelab___ = 7; __probelab___ + __probelab__names", "10"],
  ["import * as inner from './inner'; inner.__probelab__ + inner.sum", "9"],
  // Names of Node and of modules.
  ["const exports = 1, module = 2; exports + module", "3"],
  ["const require = 3; require + exports", "4"],
  ["import { odd as again } from './odd'; again", "7"],
  ["const process = 4, console = { log: () => 5 }; console.log() + process", "9"],
  ["console.log()", "5"],
  ["let __proto__ = 7, constructor = 2, toString = 3; __proto__ + constructor + toString", "12"],
  ["__proto__ + constructor + toString", "12"],
  // Texts.
  ["#!/usr/bin/env node\n5", "5"],
  ["import { started } from './started'; started", "8"],
  ["\ufeffconst one = 1;\r\nconst two = 2;\r\none + two", "3"],
  ["'a\0b'.length + '\\ud800'.length", "4"],
  [`const long = '${"x".repeat(100_000)}'; long.length`, "100000"],
  ["const größe = 1, \u{20bb7} = 2; größe + \u{20bb7}", "3"],
  ["größe + \u{20bb7}", "3"],
  ["'</script><!--'.length //# sourceMappingURL=none.js.map", "13"],
  ["// @ts-ignore\nconst wrong: number = 'x'; wrong", "'x'"],
  ["export = 5", "error"],
  // A cell that fails sets none of what it didn't come to.
  ["let seen = 1; seen", "1"],
  ["using nothing = null; const seen = Number(await Promise.reject(new Error('no')))", "error"],
  ["seen + 1", "2"],
  ["delete (globalThis as any).__probelab__", "error"],
  ["Object.freeze(Object.prototype); 1", "1"],
  ["let after = 2; after", "2"],
  ["after + $", "7"],
];

describe.skipIf(python === undefined)(`odd cells${skipped}`, () => {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;

  beforeAll(async () => {
    folder = await notebookFolder();
    const write = (name: string, text: string) => writeFileSync(join(folder.path, name), text);
    write("odd.ts", "export const odd = 7; export default 8;");
    write("started.ts", "#!/usr/bin/env node\nexport const started = 8;");
    write(
      "inner.ts",
      "import eight from './odd'; export const __probelab__ = 1; export let sum = 0; for (const one of [1]) sum += one * eight;",
    );
    await installKernel(environment);
    client = new JupyterClient(environment);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
  });
  afterAll(async () => {
    await client.call("shutdown");
    client.close();
    await folder.remove();
  });

  test("each shows its value", async () => {
    for (const [code, shown] of CELLS) {
      const cell = await client.execute(code);
      const found = resultText(cell) ?? cell.reply["status"];
      expect(found, `${code.slice(0, 100)}: ${cell.reply["evalue"] as string}`).toBe(shown);
    }
  });
});
