import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../kernel/notebook-fixture.js";
import { JupyterClient, jupyterEnvironment, python, resultText, skipped } from "./jupyter.js";

const setup = (data: string) => `import { connect, between } from "probelab";
const lab = await connect({ measurements: ${JSON.stringify(`embedded:${data}`)} });
const range = between("2024-01-01", "2024-01-02");
const ask = (rows: number) => lab.query(
  "SELECT count() AS n FROM numbers({rows:UInt64}) WHERE sipHash64(number) = 1 AND {start:DateTime64(3)} < {end:DateTime64(3)}",
  { range, params: { rows } },
);`;

/** Grows the question until it takes long enough, on machines of any speed. */
const longQuestion = `let rows = 1e8;
for (;;) {
  const begun = performance.now();
  await ask(rows);
  if (performance.now() - begun > 1500) break;
  rows *= 2;
}`;

describe.skipIf(python === undefined)(`progress of queries${skipped}`, () => {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  let data: string;

  beforeAll(async () => {
    folder = await notebookFolder();
    data = join(folder.path, "data");
    await installKernel(environment);
    client = new JupyterClient(environment);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
    const cell = await client.execute(setup(data), { timeout: 120 });
    expect(cell.reply["status"]).toBe("ok");
    await client.execute(longQuestion, { timeout: 120 });
  });
  afterAll(async () => {
    await client.call("shutdown");
    client.close();
    await folder.remove();
  });

  test("a long query shows one line that is updated in place and ends as a summary", async () => {
    const cell = await client.execute("(await ask(rows)).column('n')", { timeout: 120 });
    expect(resultText(cell)).toBeDefined();
    const displays = cell.iopub.filter(({ type }) => type.endsWith("display_data"));
    const ids = displays.map(
      (one) => (one.content["transient"] as { display_id: string }).display_id,
    );
    expect(new Set(ids).size).toBe(1);
    expect(displays.map(({ type }) => type)).toEqual([
      "display_data",
      ...displays.slice(1).map(() => "update_display_data"),
    ]);
    const texts = displays.map(
      (one) => (one.content["data"] as Record<string, string>)["text/plain"],
    );
    expect(texts[0]).toMatch(/^Reading: .* of .* rows \(\d+ %\), .* rows\/s, [\d.]+ s$/);
    expect(texts.at(-1)).toMatch(/^1 query, \S+ rows read in [\d.]+ s$/);
  }, 180_000);

  test("a quick query shows nothing", async () => {
    const cell = await client.execute("(await ask(10)).numRows()");
    expect(cell.iopub.some(({ type }) => type.endsWith("display_data"))).toBe(false);
  });

  test("a headless run keeps the summary alone", async () => {
    const rows = resultText(await client.execute("rows"));
    const path = await writeCells(folder.path, [setup(data), `void (await ask(${rows}));`]);
    const { notebook } = await runNotebook(path, { out: join(folder.path, "out") });
    const [, long] = await outputTexts(notebook);
    expect(long).toHaveLength(1);
    expect(long?.[0]).toMatch(/^display: 1 query, \S+ rows read in [\d.]+ s$/);
  }, 180_000);
});
