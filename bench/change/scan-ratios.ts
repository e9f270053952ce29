/**
 * What `explain` costs the server: its questions' time against one scan of the same ranges that counts
 * by the same columns as they are stored (ROWS measurements; 10M by default).
 */
import { explain } from "../../src/change/explain.js";
import { Database } from "../../src/database/database.js";
import { openWriter } from "../../src/database/open-writer.js";
import { measurementsOf } from "../../src/measurements/measurements.js";
import { between } from "../../src/time/time-range.js";
import { sampleDatabase } from "../support/sample-database.js";

const DIMENSIONS = [
  ...["software_name", "software_version", "probe_cc", "probe_asn", "test_name", "platform"],
];
const TIMES = Number(process.env["TIMES"] ?? 3);

/** Metric `explain_scan_ratio`, the median of three; prints the seconds. */
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
  const rows: Record<string, number>[] = [];
  for (let at = 0; at < TIMES; at += 1) {
    const begun = performance.now();
    await writer.command(scan);
    const plain = (performance.now() - begun) / 1000;
    const asked = performance.now();
    const { result } = await explain(measurements, { before, after, dimensions: DIMENSIONS });
    const whole = (performance.now() - asked) / 1000;
    const { seconds } = result.origin;
    rows.push({
      "plain scan": plain,
      "explain's questions": seconds,
      "explain in all": whole,
      ratio: seconds / plain,
    });
  }
  console.table(rows);
  const ratios = rows.map(({ ratio }) => ratio!).sort((a, b) => a - b);
  return { explain_scan_ratio: ratios[TIMES >> 1]! };
}
