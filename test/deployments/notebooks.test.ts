import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { READERS, restrictedServer } from "../support/restricted-server.js";
import { deployments, describeDeployment, type Deployment } from "./deployment.js";
import { countedRows } from "./reference.js";
import { END, logLines, measuredRows } from "./rows.js";
import { environmentOf, makeTables } from "./tables.js";

/** A reader of few rights: changes no setting, and each limit is below the library's. */
const TIGHT = {
  readonly: 1,
  max_execution_time: 20,
  max_memory_usage: 800_000_000,
  max_result_rows: 40_000,
};

/** Of the matrix, and what notebooks could stumble over besides. */
const CHOSEN: readonly [is: (one: Deployment) => boolean, also: Partial<Deployment>][] = [
  [
    ({ time, names, dirty }) =>
      time.write(1e12) === "1000000000000" && names === "odd" && dirty === "dirty",
    {},
  ],
  [({ time }) => time.type.startsWith("DateTime64(3, "), { user: "ro1", optional: "none" }],
];

/** The notebooks that ask tables; their parameters for few rows of 2025. */
const NOTEBOOKS = {
  "incoming-measurements": [['"1 week"', '"3 weeks"']],
  logs: [['"1 week"', '"3 weeks"']],
  "measurement-drop": [['probe = ""', 'probe = "probe-cli"']],
  postmortem: [],
  "test-helpers": [],
  "autorun-incoming-measurements": [],
  "autorun-test-helper-failures": [['"1 day"', '"3 weeks"']],
  "autorun-log-errors": [['"1 day"', '"3 weeks"']],
  "autorun-release-watch": [["leastMeasurements = 100", "leastMeasurements = 1"]],
} as const;

type Name = keyof typeof NOTEBOOKS;
const NAMES = Object.keys(NOTEBOOKS) as Name[];

interface Cell {
  readonly id: string;
  readonly cell_type: string;
  readonly source: string | readonly string[];
  readonly outputs?: readonly {
    readonly text?: string | readonly string[];
    readonly evalue?: string;
    readonly ename?: string;
    readonly data?: Readonly<Record<string, string | readonly string[]>>;
  }[];
}

/** The code cells of a shipped notebook, as of the end of the rows. */
async function cellsOf(name: Name) {
  const path = new URL(`../../notebooks/${name}.ipynb`, import.meta.url);
  const { cells } = JSON.parse(await readFile(path, "utf8")) as { cells: Cell[] };
  const changes = [["lab.now", `new Date(${END / 1000})`], ...NOTEBOOKS[name]] as const;
  return cells
    .filter(({ cell_type }) => cell_type === "code")
    .map(({ source }, at) =>
      codeCell(
        `${name}-${at}`,
        changes.reduce((text, [from, to]) => text.replaceAll(from, to), [source].flat().join("")),
      ),
    );
}

const codeCell = (id: string, source: string) => ({
  id,
  source,
  cell_type: "code",
  execution_count: null,
  metadata: {},
  outputs: [],
});

it("every notebook tells each deployment's own numbers, or stops with the remedy", async () => {
  await using server = await restrictedServer(
    { ...READERS, ro1: { settings: TIGHT } },
    { compile_expressions: 0, compile_aggregate_expressions: 0 },
  );
  const matrix = deployments(78);
  const folder = await mkdtemp(fileURLToPath(new URL("../../out-", import.meta.url)));
  const told = async (one: Deployment) => {
    const rows = measuredRows(one);
    await makeTables(server.admin, one, rows, logLines(one, rows));
    const cells = [
      codeCell(
        "environment",
        `Object.assign(process.env, ${JSON.stringify(environmentOf(server, one))});`,
      ),
      ...(await Promise.all(NAMES.map(cellsOf))).flat(),
    ];
    // One process for all notebooks: its start takes longer than a notebook.
    const path = join(folder, `${one.id}.ipynb`);
    await writeFile(path, JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    const out = join(folder, `out-${one.id}`);
    const { notebook } = await runNotebook(path, { out, allowErrors: true });
    const executed = JSON.parse(await readFile(notebook, "utf8")) as { cells: Cell[] };
    for (const name of NAMES) {
      const outputs = executed.cells
        .filter(({ id }) => id.startsWith(`${name}-`))
        .flatMap((cell) => cell.outputs ?? []);
      const text = outputs
        .map((output) => [output.text ?? output.data?.["text/plain"] ?? ""].flat().join(""))
        .join("\n");
      const stop = outputs.find(({ evalue }) => evalue !== undefined)?.evalue;
      isRight(one, name, text, stop, `${name} on ${describeDeployment(one)}`);
    }
  };
  try {
    await Promise.all(CHOSEN.map(([is, also]) => told({ ...matrix.find(is)!, ...also })));
  } finally {
    await rm(folder, { recursive: true });
  }
}, 600_000);

/** Compares what a notebook printed with the rows; or why it stopped with what it may stop for. */
function isRight(
  one: Deployment,
  name: Name,
  text: string,
  stop: string | undefined,
  what: string,
) {
  const measured = measuredRows(one);
  const rows = countedRows(
    one,
    [...measured, ...twice(one, measured)].map((row) => ({ row, sign: 1 })),
  ).filter(({ micros }) => micros !== null && micros < END);
  const since = (start: number) => rows.filter(({ micros }) => micros !== null && micros >= start);
  if (name === "autorun-test-helper-failures" && one.optional !== "all") {
    expect.soft(stop, what).toMatch(/Can't ask for the failure rate.* has no column /s);
    return;
  }
  if (/^(autorun-log|logs)/.test(name) && one.priority.includes("'none'")) {
    expect.soft(stop, what).toMatch(/Can't filter by priority: .*Leave priority out/s);
    return;
  }
  expect.soft(stop, what).toBeUndefined();
  // The rows are of 2025: to whoever watches now nothing comes any more.
  if (name === "autorun-incoming-measurements") {
    expect.soft(text, what).toContain("No measurement comes any more.");
    expect.soft(text, what).toContain("Severity 2: No measurement comes any more");
  }
  if (name === "autorun-release-watch") {
    expect.soft(text, what).toMatch(/\d+ versions in 8 weeks; /);
  }
  if (name === "autorun-log-errors") {
    expect.soft(text, what).toMatch(/in the last 2 hours|Nobody is called/);
  }
  if (name === "incoming-measurements") {
    const total = since(END - 21 * 86_400_000_000).length;
    expect.soft(text, what).toContain(`${total.toLocaleString("en-US")} measurements; `);
  }
  if (name === "logs") {
    const all = logLines(one, measured).filter(({ micros }) => micros !== null && micros < END);
    const lines = all.filter(
      ({ micros, priority }) =>
        (micros ?? 0) >= END - 21 * 86_400_000_000 &&
        (one.priority === "missing" || (priority !== null && priority <= 4)),
    );
    expect.soft(text, what).toContain(`Looked at ${lines.length} lines of `);
  }
  if (name === "measurement-drop") {
    // The latest two weeks of the program, whatever form its times and rows have.
    const two = since(END - 14 * 86_400_000_000).filter((row) => row.name === "probe-cli").length;
    expect
      .soft(text, what)
      .toMatch(
        new RegExp(`(to|stayed at) ${two.toLocaleString("en-US")} in |I can't tell what changed`),
      );
  }
  if (name === "postmortem") {
    expect.soft(text, what).toContain("No measurement of probe-android-unattended 3.10.0 is in");
  }
  if (name === "test-helpers") {
    expect.soft(text, what).toContain("Nothing can be said of rotations.");
    const named = since(END - 21 * 86_400_000_000).filter(({ helper }) => helper !== "");
    const failed = named.filter((row) => row.failed).length;
    if (one.optional === "all")
      expect.soft(text, what).toContain(`; ${failed} of ${named.length} measurements).`);
    else expect.soft(text, what).toContain("Can't tell whether a test helper fails.");
  }
}

/** Rows that a table without merging holds, and counts, twice. */
function twice(one: Deployment, measured: ReturnType<typeof measuredRows>) {
  return /^(Replacing|Collapsing)/.test(one.engine)
    ? []
    : measured.filter(({ seq, micros }) => seq % 9 === 0 && micros !== null);
}
