import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { readOrigins } from "../../src/chart/render/origin.js";
import { originText } from "../../src/cli/origin.js";
import { openIncident } from "../../src/incident/living.js";
import { checkHashes } from "../incident/folder.js";
import { fillSample } from "../../src/sample/fill.js";
import { gpgTeam, hasGpg } from "../support/gpg-team.js";
import { newDatabase, type OwnDatabase } from "../support/own-database.js";
import { examplesOf, objections, PAGES, runDoc, runDocs, type Doc } from "./run-doc.js";
import { sampleLab } from "./sample-lab.js";


let sample: Awaited<ReturnType<typeof sampleLab>>;
let team: Awaited<ReturnType<typeof gpgTeam>> | undefined;
/** A deployment whose tables have other names. */
let renamed: OwnDatabase | undefined;
beforeAll(async () => {
  sample = await sampleLab(200_000);
  expect(await sample.truth("accepted-reports-not-stored")).toBeDefined();
  expect(await sample.truth("unattended-runs-end-early")).toBeDefined();
});
afterAll(async () => {
  await sample[Symbol.asyncDispose]();
  await team?.[Symbol.asyncDispose]();
  await renamed?.writer.command("DROP DATABASE named");
  await renamed?.[Symbol.asyncDispose]();
});
afterEach(() => vi.unstubAllEnvs());

/** The incident that docs/incidents.md opens in a shell before its example. */
async function openedIncident(folder: string): Promise<void> {
  const detectedAt = "2026-05-04T18:40:00Z";
  const fields = { title: "Probes can't submit", severity: 2, detectedAt } as const;
  await openIncident(fields, join(folder, "incidents"));
}

/** The deployment of docs/deployment.md: tables of other names, and an encrypted file. */
async function anotherDeployment(): Promise<void> {
  renamed = await newDatabase();
  await fillSample(renamed.writer, { rows: 10_000 });
  await renamed.writer.command("CREATE DATABASE named");
  await renamed.writer.command(
    `CREATE VIEW named.fastpath AS
     SELECT * EXCEPT measurement_start_time, measurement_start_time AS started_at
     FROM ${renamed.writer.database}.fastpath`,
  );
  vi.stubEnv("PROBELAB_MEASUREMENTS", renamed.url);
  team = await gpgTeam();
  vi.stubEnv("GNUPGHOME", team.at("ann"));
  const secrets = { databases: {}, alerts: { push: { token: "tk_docs" } } };
  const file = team.encrypted("credentials.json.gpg", JSON.stringify(secrets), "ann");
  vi.stubEnv("PROBELAB_CREDENTIALS", file);
}

/** What the examples of a page show or leave, beside that they run. */
const SHOWS: Readonly<Record<string, (doc: Doc) => void | Promise<void>>> = {
  "README.md"({ output }) {
    expect(output('chart.line(durations, { y: "q50" })')).toMatch(/Line chart/);
    expect(output("why = await")).toMatch(/Measurements (fell|rose) by/);
  },
  "docs/guide.md"({ output }) {
    expect(output("lab.runs.ask")).toMatch(/60 to 600/);
    expect(output("hourOfDay()]")).toMatch(/Monday/);
    expect(output(".pivot(")).toMatch(/IT/);
    expect(output("op.max(")).toMatch(/most: \d/);
    expect(output("sample_truth")).toMatch(/3\.10\.0/);
  },
  "docs/exports.md"({ folder, text }) {
    const [table] = readOrigins(readFileSync(join(folder, "out", "versions.html")));
    expect(table?.["sql"]).toMatch(/^SELECT/);
    const origins = ["svg", "png", "html"].flatMap((format) =>
      readOrigins(readFileSync(join(folder, "out", `counts.${format}`))),
    );
    expect(origins).toHaveLength(3);
    for (const origin of origins) {
      expect(origin).toEqual(origins[0]);
      expect(origin["sql"]).toMatch(/fastpath/);
    }
    // What the page shows of it, but for the numbers, the sample's place and the SQL.
    const printed = `\n${originText(origins[0]!)}`;
    const words = (said: string) =>
      said
        .replace(/^ +SQL\n.*/ms, "")
        .replace(/^.*counts\.svg$/gm, "")
        .replace(/embedded:[^,]*/, "embedded")
        // On a Monday the last week is whole.
        .replace(/The weeks? of .* (are|is) covered/, "weeks covered")
        .replace(/\d[\d.,]*( [kMG]?B)?/g, "0")
        .trim();
    expect(words(printed)).toBe(words(/```console\n(.*?)```/s.exec(text)![1]!));
  },
  "docs/logs.md"({ output }) {
    expect(output("logs.rates")).toMatch(/Line chart/);
    expect(output("logs.bursts")).toMatch(/fastpath/);
    expect(output("logs.submissions")).toMatch(/submitted reports: .*stored/);
    expect(output("measurements.duplicates")).toMatch(/Rows of one measurement.*_uid/);
  },
  "docs/postmortem.md"({ folder, text }) {
    const saved = join(folder, "out", "short-runs");
    checkHashes(saved);
    const paths = readdirSync(saved, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(saved, join(entry.parentPath, entry.name)));
    for (const [, named = ""] of text.matchAll(/^\| `([\w.]+\/?)` \|/gm)) {
      expect(paths.some((each) => each.startsWith(named)), named).toBe(true);
    }
  },
  "docs/what-happened.md"({ output }) {
    expect(output("compare(lab")).toMatch(/Measurements (fell|rose) by/);
    expect(output("why = await")).toMatch(/probe-android-unattended/);
    expect(output('quantile(0.5, "duration")')).toMatch(/Median run duration fell/);
  },
  "docs/alarms.md"({ shown }) {
    expect(shown.join("\n")).toMatch(/Measurements per hour: (no alarm|can't tell|\d+ alarms?)/);
    expect(shown.join("\n")).toMatch(/check-in .*As of .* UTC/s);
  },
  "docs/alerts.md"({ shown }) {
    expect(shown.join("\n")).toMatch(/result: /);
  },
  "docs/change-points.md"({ shown }) {
    expect(shown.join("\n")).toMatch(/No change of|(fell|rose) by .* at/);
  },
  "docs/deployment.md"({ output }) {
    expect(output("credentials.get")).toMatch(/result: '\*\*\*'/);
  },
  "docs/downsampling.md"({ output }) {
    const [, all, kept] = /\[ (\d+), (\d+) \]/.exec(output("downsample(") ?? "") ?? [];
    expect(Number(all)).toBeGreaterThan(0);
    expect(Number(kept)).toBeLessThan(5_000);
  },
  "docs/test-lists.md"({ output }) {
    expect(output("testLists.churn")).toMatch(/1\.98/);
  },
};

// docs/deployment.md needs another deployment; docs/python.md has a test of its own.
const DEPLOYMENT = "docs/deployment.md";
const TOGETHER = PAGES.filter(
  (page) =>
    ![DEPLOYMENT, "docs/python.md"].includes(page) &&
    examplesOf(readFileSync(page, "utf8")).length > 0,
);

async function expectShown(page: string, doc: Doc): Promise<void> {
  for (const [at, { output }] of doc.examples.entries()) {
    if (output !== undefined) expect(doc.shown[at], page).toBe(`result: ${output.trimEnd()}`);
  }
  await SHOWS[page]?.(doc);
}

it("the examples of a page stand alone: none needs what another page declares", async () => {
  for (const page of [...TOGETHER, DEPLOYMENT]) expect(await objections(page), page).toEqual([]);
}, 300_000);

it("the examples run as cells, page by page", async () => {
  await using run = await runDocs(TOGETHER, { prepare: openedIncident });
  for (const [at, page] of TOGETHER.entries()) await expectShown(page, run.docs[at]!);
}, 300_000);

it.skipIf(!hasGpg)(
  "the examples of docs/deployment.md run on a deployment of other names",
  async () => {
    await using doc = await runDoc(DEPLOYMENT, { prepare: anotherDeployment });
    await expectShown(DEPLOYMENT, doc);
  },
  300_000,
);
