import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { postmortem } from "../../src/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const dist = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;
const CLI = fileURLToPath(dist("cli/main.js"));

/** A kernel of its own that adds two findings, each with a table. */
const KERNEL = `
const [folder, author] = process.argv.slice(1);
const { table } = await import("${dist("chart/table.js")}");
const { postmortem } = await import("${dist("incident/postmortem.js")}");
const report = await postmortem.open(folder, { author });
for (const one of [1, 2]) {
  report.finding(author + " " + one, table([{ name: "a", n: one }], { caption: author + " " + one }));
}
`;

test("kernels and shells that add to one folder at the same time lose nothing", async () => {
  await using home = await temporaryDirectory();
  const opened = spawnSync(
    process.execPath,
    [CLI, "incident", "open", "Runs end early", "--severity", "2"],
    { cwd: home.path, encoding: "utf8" },
  );
  expect(opened.stderr).toBe("");
  const folder = join(home.path, opened.stdout.split("\n")[0]!);
  const writers = [
    ...["Ada", "Bo"].map((author) => ["--input-type=module", "-e", KERNEL, "--", folder, author]),
    ...["one", "two"].map((text) => [CLI, "incident", "note", folder, text, "--author", "Di"]),
  ].map((args) => spawn(process.execPath, args, { stdio: "inherit" }));
  const codes = await Promise.all(writers.map((one) => once(one, "close")));
  expect(codes.map(([code]) => code as number)).toEqual([0, 0, 0, 0]);
  const { draft, figures } = await postmortem.open(folder);
  const findings = draft.findings.map(({ text, evidence }) => [text, evidence[0]]);
  expect(findings.sort()).toEqual(
    ["Ada 1", "Ada 2", "Bo 1", "Bo 2"].map((text) => [
      text,
      { figure: text.toLowerCase().replace(" ", "-") },
    ]),
  );
  expect(figures).toHaveLength(4);
  expect(draft.timeline.map(({ event }) => event).sort()).toEqual([
    "Opened: Runs end early",
    "one (Di)",
    "two (Di)",
  ]);
}, 240_000);
