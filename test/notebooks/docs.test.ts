import { readFileSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readOrigins } from "../../src/chart/origin/read-origins.js";
import { runOrigin } from "../../src/cli/origin.js";
import { verificationText } from "../../src/incident/postmortem/verify/texts.js";
import { verifyPostmortem } from "../../src/incident/postmortem/verify/verify.js";
import { TIER_RULES } from "../../src/incident/tiers/rules.js";
import { runDoc } from "./run-doc.js";
import { sampleLab } from "./sample-lab.js";

/** The first cell of the guide, which other pages go on from. */
const GUIDE = /```ts\n(.*?)```/s.exec(
  readFileSync(new URL("../../docs/guide.md", import.meta.url), "utf8"),
)![1]!;

let sample: Awaited<ReturnType<typeof sampleLab>>;
beforeAll(async () => {
  sample = await sampleLab(200_000);
  expect(await sample.truth("accepted-reports-not-stored")).toBeDefined();
  expect(await sample.truth("unattended-runs-end-early")).toBeDefined();
});
afterAll(() => sample[Symbol.asyncDispose]());

it("docs/guide.md: every example runs as a cell", async () => {
  await using doc = await runDoc("guide.md");
  const output = (code: string) =>
    doc.shown[doc.examples.findIndex((example) => example.code.includes(code))];
  expect(output("lab.runs.ask")).toMatch(/60 to 600/);
  expect(output("hourOfDay()]")).toMatch(/Monday/);
  expect(output(".pivot(")).toMatch(/probe_cc/);
  expect(output("sample_truth")).toMatch(/3\.10\.0/);
}, 300_000);

it("docs/exports.md: its cells save every format, and each but CSV tells its origin", async () => {
  await using doc = await runDoc("exports.md");
  const formats = ["svg", "png", "pdf", "html", "json", "csv", "parquet"];
  const [table] = readOrigins(readFileSync(join(doc.folder, "out", "versions.html")));
  expect(table?.origin).toMatchObject({ question: { ask: "measurements.summary" } });
  const files = formats.map((format) => join(doc.folder, "out", `counts.${format}`));
  const said = { out: "", err: "" };
  const code = await runOrigin([...files, doc.notebook], { json: true }, {
    out: (part) => (said.out += part),
    err: (part) => (said.err += part),
  });
  expect({ code, err: said.err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^Can't read the origin of \S+counts\.csv: it looks like CSV.*\n$/) as string,
  });
  const origins = (JSON.parse(said.out) as { origin: unknown }[]).map(({ origin }) => origin);
  expect(origins).toHaveLength(7);
  expect(origins[0]).toMatchObject({ sql: expect.stringContaining("fastpath") as string });
  for (const origin of origins) expect(origin).toEqual(origins[0]);
}, 300_000);

it("docs/logs.md: every example runs as a cell, and most show what they say", async () => {
  await using doc = await runDoc("logs.md");
  expect(doc.examples.length).toBeGreaterThan(8);
  const output = (call: string) =>
    doc.shown[doc.examples.findIndex(({ code }) => code.includes(call))];
  expect(output("logs.rates")).toMatch(/Line chart/);
  expect(output("logs.bursts")).toMatch(/fastpath/);
  expect(output("formatReportId({")).toMatch(
    /20231231T221448Z_webconnectivity_IT_18182_n1_zBswL4awQc3qUCnU/,
  );
  expect(output("logs.submissions")).toMatch(/submitted reports: .*stored/);
  expect(output("measurements.duplicates")).toMatch(/Rows of one measurement.*_uid/);
}, 300_000);

it("docs/postmortem.md: its cells run, and the folder holds what the table says", async () => {
  await using doc = await runDoc("postmortem.md");
  const verification = await verifyPostmortem(join(doc.folder, "out", "short-runs"));
  expect(verificationText(verification)).toMatch(/The postmortem is as it was saved/);
  const paths = Object.keys(verification.manifest.files);
  for (const [, named = ""] of doc.text.matchAll(/^\| `([\w.]+\/?)` \|/gm)) {
    if (named === "manifest.json") continue;
    expect(paths.some((each) => each.startsWith(named)), named).toBe(true);
  }
  expect(paths).toHaveLength(13);
}, 300_000);

it("docs/changes.md: every example runs as a cell, and names what is planted", async () => {
  await using doc = await runDoc("changes.md", { first: GUIDE });
  const output = (code: string) =>
    doc.shown[doc.examples.findIndex((example) => example.code.includes(code))];
  expect(output("compare(lab")).toMatch(/result: Measurements (fell|rose) by/);
  expect(output("why = await")).toMatch(/probe-android-unattended/);
  expect(output('quantile(0.5, "duration")')).toMatch(/result: Run duration, median fell/);
}, 300_000);

it("docs/alarms.md and docs/change-points.md: every example runs as a cell, and answers", async () => {
  await using alarms = await runDoc("alarms.md", { first: GUIDE });
  expect(alarms.shown.join("\n")).toMatch(/band held .* expected|expected.*band held/s);
  expect(alarms.shown.join("\n")).toMatch(/as of .* UTC: .*check-in/s);
  await using points = await runDoc("change-points.md", { first: GUIDE });
  expect(points.shown.join("\n")).toMatch(/No change of|fell at|rose at|took another trend/);
}, 300_000);

const docs = new URL("../../docs/", import.meta.url);

it("docs/incidents.md: every example runs as a cell and shows what stands below it", async () => {
  await using doc = await runDoc("incidents.md", {
    prepare: (folder) =>
      cp(fileURLToPath(new URL("examples", docs)), join(folder, "docs", "examples"), {
        recursive: true,
      }),
  });
  expect(doc.examples.filter(({ output }) => output !== undefined).length).toBeGreaterThan(2);
  for (const [at, { output }] of doc.examples.entries()) {
    if (output !== undefined) expect(doc.shown[at]).toBe(`result: ${output.trimEnd()}`);
  }
}, 300_000);

it("docs/incidents.md: its table of rules is that of tiers.rules", async () => {
  const text = await readFile(new URL("incidents.md", docs), "utf8");
  for (const { number, name, checked, unchecked } of TIER_RULES) {
    expect(text).toContain(`| ${number}, ${name} | ${checked || "–"} | ${unchecked || "–"} |`);
  }
});
