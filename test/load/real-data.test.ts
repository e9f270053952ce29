import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadFile } from "../../src/load/load-files.js";
import { openDatabase } from "./open-database.js";

const path = fileURLToPath(new URL("../../../shared/data/fastpath-sample.jsonl", import.meta.url));

it.skipIf(!existsSync(path))(
  "loadFile takes every key of real measurements (skipped where ../shared/data/fastpath-sample.jsonl is missing)",
  async () => {
    await using db = await openDatabase();
    const loaded = await loadFile(db.writer, "fastpath", path);
    expect(loaded).toEqual({
      rows: 243,
      span: ["2024-01-01 00:00:01", "2024-01-01 00:01:02"],
      defaulted: [],
      ignored: [],
    });
    const pairs = await db.writer.rows(
      "SELECT uniqExact(software_name, software_version) AS pairs FROM fastpath",
    );
    expect(pairs).toEqual([{ pairs: 14 }]);
  },
);
