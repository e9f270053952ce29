/**
 * What `explain` and `compare` cost the server: their questions' time against one scan of the same
 * ranges that counts by the same columns as they are stored (ROWS measurements; 10M by default).
 */
import { compare } from "../../src/change/cells/compare.js";
import { explain } from "../../src/change/cells/explain.js";
import { Database } from "../../src/database/database.js";
import { openWriter } from "../../src/database/writer.js";
import { measurementsOf } from "../../src/sources/measurements/measurements.js";
import { between } from "../../src/time/time-range.js";
import { sampleDatabase } from "../support/sample-database.js";

const DIMENSIONS = [
  ...["software_name", "software_version", "probe_cc", "probe_asn", "test_name", "platform"],
];
const TIMES = Number(process.env["TIMES"] ?? 3);

/** Metrics `explain_scan_ratio` and `compare_scan_ratio`, the medians of TIMES; prints the seconds. */
export async function scanRatios(): Promise<Record<string, number>> {
  const source = await sampleDatabase(Number(process.env["ROWS"] ?? 10_000_000));
  const before = between("2026-01-01", "2026-04-01");
  const after = between("2026-04-01", "2026-06-30");
  await using database = await Database.open(source);
  const measurements = measurementsOf(database);
  await using writer = await openWriter(source);
  const scan = `SELECT ${DIMENSIONS.join(", ")}, count() FROM fastpath
    WHERE measurement_start_time >= '2026-01-01' AND measurement_start_time < '2026-06-30'
    GROUP BY ${DIMENSIONS.join(", ")} FORMAT Null`;
  const read = `SELECT ${DIMENSIONS.map((name) => `ignore(${name})`).join(" + ")} FROM fastpath
    WHERE measurement_start_time >= '2026-01-01' AND measurement_start_time < '2026-06-30' FORMAT Null`;
  const command = (text: string) => () => writer.command(text);
  const rows: Record<string, number>[] = [];
  for (let at = 0; at < TIMES; at += 1) {
    const plain = await secondsOf(command(scan));
    const reading = await secondsOf(command(read));
    const row: Record<string, number> = { "plain scan": plain, "only read": reading };
    const options = { before, dimensions: DIMENSIONS };
    const asks = {
      explain: () => explain(measurements, { ...options, after }),
      compare: () => compare(measurements, { ...options, now: after }),
    };
    for (const [name, ask] of Object.entries(asks)) {
      let asked = 0;
      row[`${name} in all`] = await secondsOf(async () => {
        asked = (await ask()).result.origin.seconds;
      });
      row[`${name}'s questions`] = asked;
      row[name] = asked / plain;
    }
    rows.push(row);
  }
  console.table(rows);
  const middle = (name: string) => rows.map((row) => row[name]!).sort((a, b) => a - b)[TIMES >> 1]!;
  return { explain_scan_ratio: middle("explain"), compare_scan_ratio: middle("compare") };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
