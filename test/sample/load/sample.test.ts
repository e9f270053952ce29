import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadFile } from "../../../src/sample/load.js";
import { fillSample } from "../../../src/sample/fill.js";
import { sampleInfo } from "../../../src/sample/tables.js";
import { measurements } from "./measurement.js";
import { openDatabase, type TestDatabase } from "./open-database.js";
import { contentOf } from "./table-content.js";
import { jsonl, put } from "./write-file.js";

let db: TestDatabase;
let path: string;
beforeAll(async () => {
  db = await openDatabase();
  path = await put(db.folder, "real.jsonl", jsonl(measurements(30)));
  await fillSample(db.writer, { rows: 2_000, end: new Date("2026-05-01T00:00:00Z") });
});
afterAll(() => db[Symbol.asyncDispose]());

describe("loading into a database that holds the sample service", () => {
  it("is refused with both remedies, for each table", async () => {
    const before = await contentOf(db.writer);
    for (const table of ["fastpath", "logs", "test_helper_instances"] as const) {
      await expect(loadFile(db.writer, table, path)).rejects.toThrow(
        `Can't load into embedded:database: it holds the sample service, and made rows must not mix with real ones. Load into another directory with --into embedded:DIR, or remove ${db.directory} first.`,
      );
    }
    expect(await contentOf(db.writer)).toBe(before);
    expect(await sampleInfo(db.writer)).toMatchObject({ rows: 2_000 });
  });
});
