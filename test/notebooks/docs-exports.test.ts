import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readOrigins } from "../../src/chart/origin/read-origins.js";
import { runOrigin } from "../../src/cli/origin.js";
import { runDoc } from "./run-doc.js";
import { sampleLab } from "./sample-lab.js";

it("docs/exports.md: its cells save every format, and each but CSV tells its origin", async () => {
  await using sample = await sampleLab(50_000);
  expect(await sample.truth("accepted-reports-not-stored")).toBeDefined();
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
