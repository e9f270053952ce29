import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadFile } from "../../src/load/load-files.js";
import { fillSample } from "../../src/sample/fill.js";
import { sampleInfo } from "../../src/sample/tables.js";
import { measurements } from "./measurement.js";
import { empty, openDatabase, tableNames, type TestDatabase } from "./open-database.js";
import { contentOf, rowsOf } from "./table-content.js";
import { jsonl, put } from "./write-file.js";

const rows = measurements(30);

let db: TestDatabase;
let path: string;
beforeAll(async () => {
  db = await openDatabase();
  path = await put(db.folder, "real.jsonl", jsonl(rows));
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  await empty(db.writer);
  await fillSample(db.writer, { rows: 2_000, end: new Date("2026-05-01T00:00:00Z") });
});

describe("loading into a database that holds the sample service", () => {
  it("is refused with both remedies, for each table", async () => {
    const before = await contentOf(db.writer);
    for (const table of ["fastpath", "logs", "test_helper_instances"] as const) {
      await expect(loadFile(db.writer, table, path)).rejects.toThrow(
        "Can't load into embedded:database: it holds the sample service, and made rows must not mix with real ones. Load into another directory with --into embedded:DIR, or let the file replace the sample with --replace-sample.",
      );
    }
    expect(await contentOf(db.writer)).toBe(before);
    expect(await sampleInfo(db.writer)).toMatchObject({ rows: 2_000 });
  });

  it("replaces the sample, all of its tables, once a file is whole", async () => {
    const before = await contentOf(db.writer);
    const bad = await put(db.folder, "bad.jsonl", jsonl(rows).slice(0, -9));
    await expect(loadFile(db.writer, "fastpath", bad, { replaceSample: true })).rejects.toThrow(
      /may be cut/,
    );
    expect(await contentOf(db.writer)).toBe(before);
    expect(await sampleInfo(db.writer)).toMatchObject({ rows: 2_000 });

    await loadFile(db.writer, "fastpath", path, { replaceSample: true });
    expect(await rowsOf(db.writer)).toEqual(rows);
    expect(await tableNames(db.writer)).toEqual(["fastpath"]);
    expect(await sampleInfo(db.writer)).toBeNull();

    const more = await put(db.folder, "more.jsonl", jsonl(measurements(31).slice(30)));
    await loadFile(db.writer, "fastpath", more, { replaceSample: true });
    expect(await rowsOf(db.writer)).toEqual(measurements(31));
  });
});
