import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownDatabase } from "../support/own-database.js";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const database = ownDatabase();
const folder = mkdtempSync(join(tmpdir(), "probelab-types-"));

afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  await database.writer.command(`CREATE TABLE seen (started_at DateTime64(6, 'UTC'),
    \`a "b"\` Nullable(Int64), kind Enum8('*/ declare' = 1), cc LowCardinality(Nullable(String)))
    ENGINE = MergeTree ORDER BY started_at`);
  const config = {
    measurements: database.url,
    tables: {
      measurements: { table: "seen", time: "started_at", probe_cc: "cc" },
      logs: { table: "nowhere" },
    },
  };
  writeFileSync(join(folder, "probelab.config.json"), JSON.stringify(config));
});

test("probelab types writes what questions may name, and tells which table it could not learn", () => {
  const cwd = folder;
  const write = (...args: string[]) =>
    spawnSync(process.execPath, [main, "types", ...args], { cwd, encoding: "utf8" });
  const first = write();
  expect(first.stderr).toMatch(/probelab types: logs is left out\. Can't .*nowhere/);
  expect(first.status).toBe(0);
  const text = readFileSync(join(cwd, "probelab-columns.d.ts"), "utf8");
  expect(text).toBe(`// Written by probelab types: write it again when the tables change.
export {};
declare global {
  interface ProbelabColumns {
    measurements: {
      /** DateTime64(6, 'UTC') */
      started_at: Date;
      /** Nullable(Int64) */
      "a \\"b\\"": number | bigint | null;
      /** Enum8('*\u200b/ declare' = 1) */
      kind: string;
      /** LowCardinality(Nullable(String)) */
      cc: string | null;
      /** LowCardinality(Nullable(String)) */
      probe_cc: string | null;
      /** DateTime64(6, 'UTC') */
      measurement_start_time: Date;
    };
  }
}
`);
  expect(write("--out", "again.d.ts").status).toBe(0);
  expect(readFileSync(join(cwd, "again.d.ts"), "utf8")).toBe(text);
});
