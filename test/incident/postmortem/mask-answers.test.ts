import { readdirSync, readFileSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { between, chart, connect, postmortem, table } from "../../../src/index.js";
import { openWriter } from "../../../src/database/writer.js";
import { readResultFile } from "../../../src/incident/postmortem/folder/result-file.js";
import { fillSample } from "../../../src/sample/fill.js";
import { runSqlFile } from "../../support/clickhouse-client.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";
import { popplerMissing } from "../../chart/support/poppler.js";
import { poppler } from "./pdf-reader.js";

const SECRET = /.{0,40}(?:203\W?0\W?113\W?\d|2001\W?db8|jo@example)/i;
const range = between("2026-04-01", "2026-05-01");

let directory: TemporaryDirectory;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 20_000, end: new Date("2026-05-01T00:00:00Z") });
  await writer[Symbol.asyncDispose]();
}, 240_000);

afterAll(() => directory[Symbol.asyncDispose]());

describe("report.save(folder) masks what the database answers", () => {
  test("of the logs, in every file; the rest can be asked again and runs as it stands", async () => {
    const logs = (columns: string, rest: string) =>
      `SELECT ${columns} FROM logs WHERE {range:__REALTIME_TIMESTAMP} ${rest}`;
    let folder = "";
    {
      await using lab = await connect({ measurements: `embedded:${directory.path}` });
      const days = await lab.query(
        logs(
          "toDate(toDateTime64(__REALTIME_TIMESTAMP / 1e6, 3, 'UTC')) AS day, countIf(message LIKE '%queue%') AS `203.0.113.7`, count() AS `host-203-0-113-9`",
          "GROUP BY day ORDER BY day",
        ),
        { range },
      );
      const nested = await lab.query(
        logs(
          "toIPv6('2001:db8::1') AS six, toIPv4('203.0.113.7') AS four, map('203.0.113.8', [toIPv6('2001:db8::2')]) AS m, CAST((1, 'jo@example.org'), 'Tuple(n UInt8, `203.0.113.10` String)') AS named, [1, 2]::Array(UInt8) AS bytes",
          "LIMIT 1",
        ),
        { range },
      );
      const counted = await lab.query(
        "SELECT probe_cc, concat('203.0.113.', '7') AS address, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc ORDER BY probe_cc",
        { range },
      );
      const summary = await lab.runs.summary({ range, by: "software_name" });
      const found = await lab.query(
        logs("concat('203.0.113.', toString(rowNumberInAllBlocks())) AS m", "LIMIT 3"),
        { range },
      );
      folder = await postmortem({ title: "T", severity: 4, detectedAt: "2026-04-20" })
        .add(table(days), { name: "table" })
        .add(chart.line(days), { name: "first" })
        .add(chart.line(days, { x: "day", y: "host-203-0-113-9" }), { name: "second" })
        .add(table(nested), { name: "nested" })
        .add(table(counted), { name: "counted" })
        .add(table(summary.with(found.table)), { name: "changed" })
        .save(join(directory.path, "report"));
    }
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = readFileSync(join(file.parentPath, file.name));
      const text = file.name.endsWith(".pdf")
        ? popplerMissing
          ? ""
          : poppler("pdftotext", bytes, [])
        : bytes.toString("latin1");
      expect([file.name, SECRET.exec(text)?.[0]]).toEqual([file.name, undefined]);
    }
    const nested = await readResultFile(readFileSync(join(folder, "data", "nested.parquet")));
    expect(JSON.stringify(nested.rows())).toMatch(/\[IPv6 1\].*\[IPv4 1\].*\[IPv4 2\]/);
    expect(nested.rows()[0]?.["bytes"]).toEqual([1, 2]);
    const data = join(directory.path, "copy-of-data");
    await cp(join(directory.path, "data"), join(data, "data"), { recursive: true });
    await rm(join(data, "data", "status"), { force: true });
    const query = readFileSync(join(folder, "queries", "counted.sql"), "utf8");
    expect(runSqlFile(query, directory.path, data).length).toBeGreaterThan(1);
  }, 240_000);
});
