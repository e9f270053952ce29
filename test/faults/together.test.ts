import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import {
  between,
  connect,
  count,
  type Lab,
  quantile,
  type Result,
  share,
} from "../../src/index.js";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { fillSample } from "../../src/sample/fill.js";
import {
  JupyterClient,
  jupyterEnvironment,
  python,
  resultText,
  skipped,
} from "../jupyter/jupyter.js";
import { measurements } from "../sample/load/measurement.js";
import { jsonl, put } from "../sample/load/write-file.js";
import { notebookFolder, writeCells } from "../kernel/notebook-fixture.js";
import { probelab as command } from "../support/command.js";
import { ownDatabase } from "../support/own-database.js";
import { ownFolder } from "../support/temporary-directory.js";

const END = new Date("2026-04-01");
const range = between("2026-01-01", END);
const own = ownDatabase();
const files = ownFolder();
beforeAll(() => fillSample(own.writer, { rows: 30_000, end: END }));

type Ask = (lab: Lab) => Promise<Result>;
const by = ["software_version", "probe_cc", "test_name", "platform"] as const;
const QUESTIONS: readonly Ask[] = by.flatMap((by): Ask[] => [
  ({ measurements }) => measurements.counts({ range, every: "week", by }),
  ({ measurements }) => measurements.runDurations({ range, every: "week", by, top: 3 }),
  ({ measurements }) =>
    measurements.ask({ range, every: "day", by, top: 3, measures: { a: share({ anomaly: "t" }) } }),
  ({ runs }) => runs.ask({ range, by, measures: { n: count(), p90: quantile(0.9, "duration") } }),
]);

describe("64 questions at once", () => {
  it("give the answers that they give one after the other", async () => {
    await using lab = await own.open();
    const alone: unknown[] = [];
    for (const ask of QUESTIONS) alone.push((await ask(lab)).rows());
    const together = await Promise.all(
      Array.from({ length: 64 }, (_, at) => QUESTIONS[at % QUESTIONS.length]!(lab)),
    );
    for (const [at, answer] of together.entries()) {
      expect(answer.rows()).toEqual(alone[at % QUESTIONS.length]);
    }
  });
});

/** A command of probelab, run in a folder. */
const probelab = (cwd: string, ...args: readonly string[]) => command(args, { cwd });

describe.skipIf(python === undefined)(`one embedded database${skipped}`, () => {
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  const clients: JupyterClient[] = [];
  beforeAll(async () => {
    folder = await notebookFolder();
    const environment = jupyterEnvironment();
    await installKernel(environment);
    for (let at = 0; at < 2; at++) clients.push(new JupyterClient(environment));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await folder.remove();
  });

  test("serves two kernels, a scheduler, a run and a load at once", async () => {
    const first = await put(files, "first.jsonl", jsonl(measurements(1_000)));
    expect(await probelab(folder.path, "load", "fastpath", first)).toMatchObject({ code: 0 });
    const question = `import { between, connect } from "probelab";
const lab = await connect();
const counts = await lab.measurements.counts({ range: between("2026-03-01", "2026-03-02"), every: "day", by: "probe_cc" });
counts.rows().map(({ measurements }) => measurements).reduce((sum, n) => sum + Number(n), 0)`;
    await Promise.all(
      clients.map((client) => client.call("start", { kernel: "probelab", cwd: folder.path })),
    );
    const schedule = '// schedule: { "every": "1 day" }';
    const notebook = await writeCells(folder.path, [schedule, question], "asks.ipynb");
    const later = measurements(3_000).slice(2_000);
    const second = await put(files, "second.jsonl", jsonl(later));
    const [one, two, scheduled, run, load] = await Promise.all([
      clients[0]!.execute(question),
      clients[1]!.execute(question),
      probelab(folder.path, "schedule", ".", "--once"),
      probelab(folder.path, "run", notebook, "--out", files),
      probelab(folder.path, "load", "fastpath", second),
    ]);
    expect([one, two].map(resultText)).toEqual(["1000", "1000"]);
    expect([scheduled, run, load]).toMatchObject([{ code: 0 }, { code: 0 }, { code: 0 }]);
    await using lab = await connect({ measurements: `embedded:${join(folder.path, ".probelab")}` });
    const all = await lab.measurements.counts({
      range: between("2026-03-01", "2026-04-01"),
      every: "month",
    });
    expect(all.rows()).toMatchObject([{ measurements: 2_000 }]);
  });
});
