import fc from "fast-check";
import type { Writer } from "../../../src/database/writer.js";
import type { Row } from "./reference.js";

/** How a table writes measurement_start_time: its type, steps per second, and a value of it. */
export const TIME_TYPES = [
  { type: "DateTime", perSecond: 1 },
  { type: "DateTime('Asia/Tokyo')", perSecond: 1 },
  { type: "Nullable(DateTime('UTC'))", perSecond: 1 },
  { type: "DateTime64(3)", perSecond: 1e3 },
  { type: "DateTime64(6, 'UTC')", perSecond: 1e6 },
  { type: "UInt32", perSecond: 1 },
  { type: "Int64", perSecond: 1e6 },
  { type: "UInt64", perSecond: 1e3 },
  { type: "String", perSecond: 1 },
  { type: "String", perSecond: 1e6 },
] as const;

const NAME_TYPES = [
  "String",
  "LowCardinality(String)",
  "Enum8('a' = 1, 'b' = 2, 'c' = 3)",
] as const;
const VERSION_TYPES = ["Nullable(String)", "LowCardinality(Nullable(String))"] as const;
const ASN_TYPES = ["UInt32", "Int64", "String", "LowCardinality(String)"] as const;

export interface RandomTable {
  readonly rows: readonly (Row & { readonly micros: number })[];
  readonly time: (typeof TIME_TYPES)[number];
  readonly name: (typeof NAME_TYPES)[number];
  readonly version: (typeof VERSION_TYPES)[number];
  readonly asn: (typeof ASN_TYPES)[number];
}

/** Midnight UTC a few days before summer time ends in Europe (2025-10-26). */
export const EPOCH = Date.UTC(2025, 9, 23);
export const HOUR = 3_600_000;

const micros = (perSecond: number) =>
  fc
    .record({
      hour: fc.integer({ min: -30, max: 24 * 12 }),
      // Many instants exactly on an edge, some just off it.
      off: fc.oneof(
        fc.constantFrom(0, 1, -1),
        fc.integer({ min: -HOUR / 1000, max: HOUR / 1000 }),
        fc.integer({ min: -1e9, max: 1e9 }),
      ),
    })
    .map(({ hour, off }) => {
      const unit = 1e6 / perSecond;
      const step = Math.abs(off) > 4000 ? Math.trunc(off / unit) * unit : off * unit;
      return (EPOCH + hour * HOUR) * 1000 + step;
    });

/** A small table of measurements: runs that cross edges, single ones, ties, missing versions. */
export const randomTable: fc.Arbitrary<RandomTable> = fc
  .record({
    time: fc.constantFrom(...TIME_TYPES),
    name: fc.constantFrom(...NAME_TYPES),
    version: fc.constantFrom(...VERSION_TYPES),
    asn: fc.constantFrom(...ASN_TYPES),
  })
  .chain((types) =>
    fc
      .array(
        fc.record({
          starts: fc.array(micros(types.time.perSecond), { minLength: 1, maxLength: 5 }),
          name: fc.constantFrom("a", "b", "c"),
          version: fc.constantFrom("3.8", "3.8.1", "3.80", "3.9", "3.10", "4.0-rc1", null),
          cc: fc.constant("IT"),
          asn: fc.constantFrom("1", "2", "30722"),
        }),
        { maxLength: 14 },
      )
      .map((runs) => ({
        ...types,
        rows: runs.flatMap(({ starts, ...own }, index) =>
          starts.map((start) => ({ ...own, micros: start, report: `run-${index}` })),
        ),
      })),
  );

/** Makes the table `fastpath` of exactly these rows. */
export async function writeTable(writer: Writer, table: RandomTable): Promise<void> {
  const nullable = table.time.type.startsWith("Nullable") ? " SETTINGS allow_nullable_key = 1" : "";
  await writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time ${table.time.type}, report_id String,
      software_name ${table.name}, software_version ${table.version}, probe_asn ${table.asn},
      probe_cc String, test_name String)
      ENGINE = MergeTree ORDER BY measurement_start_time${nullable}`,
  );
  if (table.rows.length === 0) return;
  const values = table.rows.map((row) => {
    const time = timeLiteral(row.micros, table.time);
    const version = row.version === null ? "NULL" : `'${row.version}'`;
    const asn = /String/.test(table.asn) ? `'${row.asn}'` : row.asn;
    return `(${time}, '${row.report}', '${row.name}', ${version}, ${asn}, 'IT', 'web_connectivity')`;
  });
  await writer.command(`INSERT INTO fastpath VALUES ${values.join(", ")}`);
}

function timeLiteral(value: number, { type, perSecond }: RandomTable["time"]): string {
  const steps = String(value / (1e6 / perSecond));
  if (/Int/.test(type)) return steps;
  if (type === "String") return `'${steps}'`;
  return (value / 1e6).toFixed(perSecond === 1 ? 0 : 6);
}
