import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { alert, between, chart, connect, openSnapshot } from "../../src/index.js";
import { openWriter } from "../../src/database/writer.js";
import type { Writer } from "../../src/database/writer.js";
import { loadFile } from "../../src/sample/load.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { fillSample } from "../../src/sample/fill.js";
import { weeklyCounts } from "../chart/support/sample-results.js";
import { filesOf } from "../incident/folder.js";
import { NOW, report } from "../incident/report.js";
import { measurements } from "../sample/load/measurement.js";
import { jsonl } from "../sample/load/write-file.js";
import { notebookFolder, outputTexts, writeCells } from "../kernel/notebook-fixture.js";
import { newDatabase, type OwnDatabase } from "../support/own-database.js";
import { smallDisk, type SmallDisk } from "../support/small-disk.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { runDue } from "../../src/watch/schedule/once.js";
import { receiver } from "../watch/alert/receiver.js";

// Only root of a system that lets it can make a disk.
const disk = await smallDisk(64e6);
const skipped = disk === undefined ? " (skipped: this user can't mount a disk)" : "";
const held = disk as SmallDisk;
afterEach(() => held?.clear());
afterAll(() => disk?.[Symbol.asyncDispose]());

describe.skipIf(disk === undefined)(`on a full disk${skipped}`, () => {
  it.each(["svg", "png", "parquet"])(
    "a chart's .%s stays what it was, and nothing is left beside it",
    async (format) => {
      const path = join(held.path, `chart.${format}`);
      await chart.area(weeklyCounts()).save(path);
      const before = await readFile(path);
      const names = await readdir(held.path);
      held.fill();
      const saving = chart.line(weeklyCounts(), { title: "another" }).save(path);
      await expect(saving).rejects.toThrow(/^Can't write .*ENOSPC/);
      expect(await readFile(path)).toEqual(before);
      expect((await readdir(held.path)).filter((name) => name !== "filler")).toEqual(names);
    },
  );

  it("a postmortem stays what it was", async () => {
    const folder = join(held.path, "postmortem");
    await report().save(folder, { now: NOW });
    const content = () => Promise.all(filesOf(folder).map((name) => readFile(join(folder, name))));
    const before = await content();
    held.fill(100_000);
    await expect(report().save(folder, { now: NOW })).rejects.toThrow(
      /ENOSPC.*nothing was changed/,
    );
    expect(await content()).toEqual(before);
  });

  it("a notebook's run says so, and its notebook is not half written", async () => {
    const folder = await notebookFolder();
    const out = join(held.path, "run");
    try {
      const path = await writeCells(folder.path, ["6 * 7"]);
      await runNotebook(path, { out });
      held.fill();
      await expect(runNotebook(path, { out })).rejects.toThrow(/ENOSPC/);
      expect(await outputTexts(join(out, "test.ipynb"))).toEqual([["result: 42"]]);
    } finally {
      await folder.remove();
    }
  });

  it("an alert that can't be kept is sent all the same", async () => {
    await using push = await receiver();
    vi.stubEnv("PROBELAB_WATCH", held.path);
    const page = "https://lab.example.org/a.html";
    const links = { page, notebook: page, runbook: page };
    const message = {
      title: "down",
      text: "since 03:00",
      severity: 1 as const,
      key: "down",
      links,
    };
    const config = { alerts: { channels: [{ kind: "push", url: `${push.url}/probelab` }] } };
    await using project = await temporaryDirectory();
    await writeFile(join(project.path, "probelab.config.json"), JSON.stringify(config));
    vi.stubEnv("PROBELAB_PROJECT", project.path);
    held.fill();
    const { outcomes } = await alert.send(message, { send: true });
    vi.unstubAllEnvs();
    expect(outcomes).toMatchObject([{ state: "sent" }]);
    expect(push.received).toHaveLength(1);
  });
});

describe.skipIf(disk === undefined)(`a schedule on a full disk${skipped}`, () => {
  it("says what it can't write, and calls somebody about each notebook", async () => {
    await using push = await receiver();
    await using project = await temporaryDirectory();
    const folder = await notebookFolder();
    const alerts = {
      channels: [{ kind: "push" as const, url: `${push.url}/probelab` }],
      pages: "https://lab.example.org/pages/",
      notebooks: "https://lab.example.org/notebooks/",
      runbook: "https://lab.example.org/runbook",
    };
    await writeFile(join(project.path, "probelab.config.json"), JSON.stringify({ alerts }));
    vi.stubEnv("PROBELAB_PROJECT", project.path);
    vi.stubEnv("PROBELAB_WATCH", join(held.path, "watch"));
    await writeCells(folder.path, ['// schedule: { "every": "1 day" }', "6 * 7"], "daily.ipynb");
    held.fill();
    const news: string[] = [];
    await runDue({
      ...{ folder: folder.path, out: join(held.path, "schedule"), parallel: 1, keep: 2, alerts },
      signal: new AbortController().signal,
      onNews: (sentence) => void news.push(sentence),
    });
    vi.unstubAllEnvs();
    await folder.remove();
    expect(news).toContainEqual(expect.stringMatching(/^The status page: Can't write .*ENOSPC/));
    expect(news).toContainEqual(expect.stringMatching(/^daily: Can't .*ENOSPC/));
    expect(push.received.map(({ body }) => body.toString("utf8"))).toEqual([
      expect.stringMatching(/ENOSPC/),
    ]);
  });
});

describe.skipIf(disk === undefined)(`an embedded database on a full disk${skipped}`, () => {
  let writer: Writer;
  let table: OwnDatabase;
  const directory = () => join(held.path, "database");
  const range = between("2026-04-01", "2026-04-08");
  beforeAll(async () => {
    writer = await openWriter({ kind: "embedded", directory: directory(), label: "embedded:full" });
    table = await newDatabase();
    await fillSample(table.writer, { rows: 20_000, end: new Date("2026-04-08") });
  });
  afterAll(async () => {
    await writer?.[Symbol.asyncDispose]();
    await table?.[Symbol.asyncDispose]();
  });

  it("takes a file whole or not at all, and goes on once there is room", async () => {
    const path = join(held.path, "rows.jsonl");
    await writeFile(path, jsonl(measurements(20_000)));
    held.fill(200_000);
    await expect(loadFile(writer, "fastpath", path)).rejects.toThrow(/disk|space/i);
    await held.clear();
    await loadFile(writer, "fastpath", path);
    const [row] = await writer.rows<{ n: number }>("SELECT toUInt32(count()) AS n FROM fastpath");
    expect(row).toEqual({ n: 20_000 });
  });

  it("keeps the passes of a snapshot that it took, which go on once there is room", async () => {
    await using lab = await table.open();
    const into = `embedded:${directory()}`;
    held.fill(100_000);
    await expect(lab.snapshot({ range, into })).rejects.toThrow(/disk|space/i);
    await held.clear();
    await lab.snapshot({ range, into });
    await using offline = await openSnapshot("measurements", { into });
    const asked = { range, every: "day", by: "probe_cc" } as const;
    expect((await offline.measurements.counts(asked)).rows()).toEqual(
      (await lab.measurements.counts(asked)).rows(),
    );
  });

  it("that can't start there says that the disk is full", async () => {
    held.fill();
    const measurements = `embedded:${join(held.path, "another")}`;
    await expect(connect({ measurements })).rejects.toThrow(
      /: the disk is full\. Free some space\.$/,
    );
  });

  it("is read while it is full", async () => {
    held.fill();
    await using lab = await connect({ measurements: `embedded:${directory()}` });
    const counts = await lab.measurements.counts({
      range: between("2026-03-01", "2026-04-01"),
      every: "week",
    });
    const all = counts.rows().map((row) => Number(row["measurements"]));
    expect(all.reduce((sum, n) => sum + n, 0)).toBe(20_000);
  });
});
