/**
 * The kernel of probelab beside tslab's own: ready, first cell, later cells, memory, in turns; and a question
 * with its chart, a week's measurements of a million, which tslab's kernel can't show.
 */
import { join } from "node:path";
import { processEnvironment } from "../src/kernel/kernelspec.js";
import { KernelClient } from "./support/kernel-client.js";
import { report } from "./support/report.js";
import { sampleDatabase } from "./support/sample-database.js";

const rounds = Number(process.env["ROUNDS"] ?? 5);
const cells = 200;
const imports = 'import { connect, last, prefix, show } from "probelab";';
const kernels = {
  tslab: (file: string) => [
    join("node_modules", "tslab", "bin", "tslab"),
    "kernel",
    `--config-path=${file}`,
  ],
  probelab: (file: string) => [join("dist", "kernel", "kernel-launch.js"), file],
};

const environments = { tslab: {}, probelab: processEnvironment };

interface Times {
  ready: number;
  readyCpu: number;
  importCpu: number;
  emptyCell: number;
  importCell: number;
  memory: number;
}

const all: Record<keyof typeof kernels, Times[]> = { tslab: [], probelab: [] };
for (let round = 0; round < rounds; round++) {
  for (const name of ["tslab", "probelab"] as const) {
    await using empty = new KernelClient();
    const ready = await empty.start(kernels[name], environments[name]);
    const readyCpu = empty.cpu();
    const emptyCell = await empty.run("");
    await using importing = new KernelClient();
    const readyToo = await importing.start(kernels[name], environments[name]);
    const importCell = await importing.run(imports);
    all[name].push({
      ready: (ready + readyToo) / 2,
      readyCpu,
      importCpu: importing.cpu(),
      emptyCell,
      importCell,
      memory: importing.memory(),
    });
  }
}

const later: Record<string, number[]> = {};
const growth: Record<string, number> = {};
for (const name of ["tslab", "probelab"] as const) {
  await using client = new KernelClient();
  await client.start(kernels[name], environments[name]);
  await client.run(imports);
  const times: number[] = [];
  let before = 0;
  for (let cell = 0; cell < cells; cell++) {
    times.push(await client.run(cell % 10 === 0 ? `const value${cell} = ${cell};` : `${cell} + 1`));
    if (cell === 20) before = client.memory();
  }
  later[name] = times;
  growth[name] = client.memory() - before;
}

/** What JupyterLab says with each cell. */
const jupyterLab = { deletedCells: [], recordTiming: false, cellId: "cell" };

/** Cells that ask and show what came, after the first: milliseconds each. */
async function questions(metadata: object): Promise<number[]> {
  const source = await sampleDatabase(1_000_000);
  if (source.kind !== "embedded") throw new Error("the sample is embedded");
  await using client = new KernelClient();
  const database = { PROBELAB_MEASUREMENTS: `embedded:${source.directory}` };
  await client.start(kernels.probelab, { ...processEnvironment, ...database });
  await client.run(`import { chart, connect, last } from "probelab";
const lab = await connect();
const range = last("1 week", { now: lab.now });`);
  const times: number[] = [];
  for (let cell = -3; cell < 20; cell++) {
    const took = await client.run(
      `const counts${cell + 3} = await lab.measurements.counts({ range, every: "day", by: "software_version" });
chart.area(counts${cell + 3})`,
      metadata,
    );
    if (cell >= 0) times.push(took);
  }
  return times;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const of = (name: keyof typeof kernels, key: keyof Times) =>
  median(all[name].map((one) => one[key]));
const until = (name: keyof typeof kernels) => of(name, "ready") + of(name, "importCell") / 1000;
const asked = median(await questions(jupyterLab));
const drawn = median(await questions({}));
const rows = (["tslab", "probelab"] as const).map((name) => ({
  kernel: name,
  "ready, s": of(name, "ready").toFixed(2),
  "ready, s of CPU": of(name, "readyCpu").toFixed(2),
  "with the first cell, s of CPU": of(name, "importCpu").toFixed(2),
  "first cell, empty, ms": Math.round(of(name, "emptyCell")),
  "first cell, import of probelab, ms": Math.round(of(name, "importCell")),
  "ready and that cell, s": until(name).toFixed(2),
  "later cells, ms": median(later[name] ?? []).toFixed(1),
  "the last 20 of 200, ms": median((later[name] ?? []).slice(-20)).toFixed(1),
  "a question and its chart in JupyterLab, ms": name === "probelab" ? Math.round(asked) : "",
  "with a PNG, for others, ms": name === "probelab" ? Math.round(drawn) : "",
  "memory with import, MB": Math.round(of(name, "memory")),
  "growth over 180 cells, MB": Math.round(growth[name] ?? NaN),
}));
report("kernel-latency", rows, {
  ready_ratio: of("probelab", "ready") / of("tslab", "ready"),
  ready_cpu_ratio: of("probelab", "readyCpu") / of("tslab", "readyCpu"),
  with_first_cell_cpu_ratio: of("probelab", "importCpu") / of("tslab", "importCpu"),
  // tslab reads its declarations before it is ready, probelab as the first cell waits.
  with_first_cell_ratio: until("probelab") / until("tslab"),
  later_cell_ms: median(later["probelab"] ?? []),
  later_cell_ratio: median(later["probelab"] ?? []) / median(later["tslab"] ?? []),
  question_cell_ms: asked,
  question_cell_with_png_ms: drawn,
  rss_ratio: of("probelab", "memory") / of("tslab", "memory"),
});
