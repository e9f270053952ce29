import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { sampleInfo } from "../../src/sample/tables.js";
import { probelab } from "../support/command.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const start = (directory: string, out: string, ...options: string[]) =>
  probelab(["start", "--out", out, ...options], {
    env: { PROBELAB_MEASUREMENTS: `embedded:${directory}` },
  });

it("probelab start makes a sample anew that has grown old, and runs the notebook on it", async () => {
  await using directory = await temporaryDirectory();
  const out = join(directory.path, "out");
  await using writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 1000, end: new Date("2025-01-01T00:00:00Z") });
  const first = await start(directory.path, out, "--rows", "1000000");
  expect(first.err).toMatch(/Its sample has grown old, filling it with the sample service/);
  expect(first.code, first.err).toBe(0);
  expect(first.out).toMatch(/Open\n.*measurement-drop\.html/);
  expect((await sampleInfo(writer))?.end.getTime()).toBeGreaterThan(Date.now() - 2 * 86_400_000);

  const charts = readdirSync(out).filter((name) => name.endsWith(".svg"));
  expect(charts).toHaveLength(3);
  for (const chart of charts) {
    expect(readFileSync(join(out, chart), "utf8")).toMatch(/^<svg .*UTC/s);
  }
  const page = readFileSync(join(out, "measurement-drop.html"), "utf8");
  expect(page).not.toMatch(/(src|href)="https?:/);
  expect(page.match(/<img /g)?.length).toBeGreaterThanOrEqual(3);
}, 300_000);

it("probelab start keeps loaded rows", async () => {
  await using directory = await temporaryDirectory();
  const out = join(directory.path, "out");
  await using writer = await openWriter(directory.source);
  await writer.command(
    "CREATE TABLE fastpath (measurement_start_time DateTime, report_id String, software_name String, software_version String, test_name String, probe_cc String, probe_asn UInt32) ENGINE = MergeTree ORDER BY measurement_start_time",
  );
  await writer.command(
    "INSERT INTO fastpath VALUES ('2024-01-01 00:00:01', 'r', 'probe-cli', '3.20', 'dash', 'IT', 1)",
  );
  const loaded = await start(directory.path, out);
  expect(loaded.err).not.toMatch(/filling/);
  expect(loaded.code, loaded.err).toBe(0);
  expect(await writer.rows("SELECT software_name FROM fastpath")).toEqual([
    { software_name: "probe-cli" },
  ]);
}, 300_000);
